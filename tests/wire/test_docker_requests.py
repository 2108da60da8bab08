"""Each request to the Docker Engine, word by word: only what is meant is sent."""

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.scripted_engine import Answer, Request, ScriptedEngine, scripted_engine
from tierce.model.archive import TextContent
from tierce.model.container import AddressRange, NetworkAttachment, RuntimeSpec
from tierce.runtimes.docker import DockerRuntime

OWNER = {"tierce.owner": "node-1"}
INSPECTION = {
    "Id": "c0ffee",
    "Name": "/zun-1",
    "State": {"Status": "running"},
    "Config": {"Labels": OWNER},
    "NetworkSettings": {"Networks": {"front": {}}},
}
NETWORK = {"Id": "n1", "Name": "back", "Created": "2026-01-01T00:00:00Z", "Labels": OWNER}
IMAGE = {"Id": "sha256:1", "RepoTags": None, "Size": 1}
SPEC = RuntimeSpec(
    name="zun-1",
    image="busybox:1",
    owner_labels=OWNER,
    networks=(NetworkAttachment("front"), NetworkAttachment("back", aliases=("web",))),
)
CREATE = {
    "Image": "busybox:1",
    "Labels": OWNER,
    "HostConfig": {"NetworkMode": "none", "SecurityOpt": ["no-new-privileges"], "PidsLimit": 4096},
    "NetworkingConfig": {"EndpointsConfig": {"front": {}}},
}
CONNECT = {"Container": "c0ffee", "EndpointConfig": {"Aliases": ["web"]}}

ANSWERS: dict[str, Any] = {
    "POST /commit?container=zun-1&repo=team/copy&tag=1": {"Id": "sha256:2"},
    "POST /containers/create?name=zun-1": {"Id": "c0ffee"},
    "POST /containers/zun-1/exec": {"Id": "e1"},
    "GET /exec/e1/json": {"Running": False, "ExitCode": 0, "ContainerID": "c0ffee"},
    "GET /networks": [],
    "POST /networks/create": {"Id": "n1"},
    "GET /containers/json": [],
}


def answer(request: Request) -> Answer:
    """Friendly and without surprises."""
    if request.line in ANSWERS:
        return Answer(body=ANSWERS[request.line])
    if request.target.startswith("/networks?"):
        return Answer(body=[NETWORK])
    if request.target.startswith("/containers/json?"):
        return Answer(body=[])
    if request.target.endswith("/top") or "/top?" in request.target:
        return Answer(body={"Titles": [], "Processes": []})
    if request.target.startswith("/containers/zun-1/logs") or request.target.startswith("/exec/e1/start"):
        return Answer(pieces=[])
    if request.target.startswith("/images/search"):
        return Answer(body=[])
    if request.target.startswith("/images/create"):
        return Answer(pieces=[b'{"status": "done"}\r\n'])
    if request.target.startswith("/images/"):
        return Answer(body=IMAGE)
    if request.target == "/containers/zun-1/json":
        return Answer(body=INSPECTION)
    return Answer(body={})


@pytest.fixture
def engine(tmp_path: pathlib.Path) -> Iterator[ScriptedEngine]:
    with scripted_engine(tmp_path / "docker.sock", answer) as engine:
        yield engine


@pytest.fixture
def docker(engine: ScriptedEngine) -> Iterator[DockerRuntime]:
    runtime = DockerRuntime(engine.url)
    yield runtime
    runtime.close()


def open_and_close_events(docker: DockerRuntime) -> None:
    docker.containers.events(OWNER, since_ns=1_700_000_000_000_000_005).close()


CHANGES = '"create", "start", "die", "oom", "pause", "unpause", "rename", "destroy"'

CALLS: list[tuple[Callable[[DockerRuntime], Any], list[tuple[str, Any]]]] = [
    (
        lambda docker: docker.containers.create(SPEC),
        [("POST /containers/create?name=zun-1", CREATE), ("POST /networks/back/connect", CONNECT)],
    ),
    (lambda docker: docker.containers.start("zun-1"), [("POST /containers/zun-1/start", None)]),
    (lambda docker: docker.containers.stop("zun-1"), [("POST /containers/zun-1/stop", None)]),
    (lambda docker: docker.containers.stop("zun-1", 0), [("POST /containers/zun-1/stop?t=0", None)]),
    (lambda docker: docker.containers.restart("zun-1", 5), [("POST /containers/zun-1/restart?t=5", None)]),
    (lambda docker: docker.containers.pause("zun-1"), [("POST /containers/zun-1/pause", None)]),
    (lambda docker: docker.containers.unpause("zun-1"), [("POST /containers/zun-1/unpause", None)]),
    (lambda docker: docker.containers.kill("zun-1"), [("POST /containers/zun-1/kill", None)]),
    (
        lambda docker: docker.containers.kill("zun-1", "USR1"),
        [("POST /containers/zun-1/kill?signal=USR1", None)],
    ),
    (
        lambda docker: docker.containers.resize("zun-1", 512, 1.5),
        [
            (
                "POST /containers/zun-1/update",
                # Memory and swap in one call: the Engine refuses a memory beyond the old swap limit.
                {"Memory": 536870912, "MemorySwap": 1073741824, "CpuShares": 1536},
            )
        ],
    ),
    (
        lambda docker: docker.containers.resize("zun-1", None, 0.1),
        [("POST /containers/zun-1/update", {"CpuShares": 102})],
    ),
    (
        lambda docker: docker.containers.resize("zun-1", None, 2, (0, 3)),
        [("POST /containers/zun-1/update", {"CpuShares": 2048, "CpusetCpus": "0,3"})],
    ),
    (
        lambda docker: docker.containers.commit("zun-1", "team/copy", "1"),
        [
            ("POST /commit?container=zun-1&repo=team/copy&tag=1", {}),
            ("GET /images/sha256:2/json", None),
        ],
    ),
    (
        lambda docker: docker.containers.remove("zun-1"),
        [("DELETE /containers/zun-1?force=true&v=true", None)],
    ),
    (lambda docker: docker.containers.inspect("zun-1"), [("GET /containers/zun-1/json", None)]),
    (
        lambda docker: docker.containers.list(OWNER),
        [('GET /containers/json?all=true&filters={"label": ["tierce.owner=node-1"]}', None)],
    ),
    (
        open_and_close_events,
        [
            (
                'GET /events?filters={"type": ["container"], "event": [' + CHANGES + "], "
                '"label": ["tierce.owner=node-1"]}&since=1700000000.000000005',
                None,
            )
        ],
    ),
    (
        lambda docker: docker.containers.logs("zun-1"),
        [
            ("GET /containers/zun-1/json", None),
            ("GET /containers/zun-1/logs?stdout=1&stderr=1&timestamps=0&tail=4096", None),
        ],
    ),
    (
        lambda docker: docker.containers.logs("zun-1", stderr=False, timestamps=True, tail=0, since=1.5),
        [
            ("GET /containers/zun-1/json", None),
            ("GET /containers/zun-1/logs?stdout=1&stderr=0&timestamps=1&tail=0&since=1.500000000", None),
        ],
    ),
    (
        lambda docker: docker.containers.execute("zun-1", ["ls", "-l"], 5),
        [
            (
                "POST /containers/zun-1/exec",
                {"AttachStdout": True, "AttachStderr": True, "Cmd": ["ls", "-l"]},
            ),
            ("POST /exec/e1/start", {"Detach": False, "Tty": False}),
            ("GET /exec/e1/json", None),
        ],
    ),
    (
        lambda docker: docker.containers.execute("zun-1", ["ls"], 5, tty=True),
        [
            (
                "POST /containers/zun-1/exec",
                {"AttachStdout": True, "AttachStderr": True, "Cmd": ["ls"], "Tty": True},
            ),
            ("POST /exec/e1/start", {"Detach": False, "Tty": True}),
            ("GET /exec/e1/json", None),
        ],
    ),
    (
        lambda docker: docker.terminals.prepare("zun-1", ["sh"], interactive=True),
        [
            (
                "POST /containers/zun-1/exec",
                {"AttachStdout": True, "AttachStderr": True, "Cmd": ["sh"], "AttachStdin": True, "Tty": True},
            )
        ],
    ),
    (
        lambda docker: docker.terminals.prepare("zun-1", ["ls"], interactive=False),
        [("POST /containers/zun-1/exec", {"AttachStdout": True, "AttachStderr": True, "Cmd": ["ls"]})],
    ),
    (lambda docker: docker.terminals.attach_target("zun-1"), [("GET /containers/zun-1/json", None)]),
    (
        lambda docker: docker.terminals.resize("zun-1", 24, 80),
        [("POST /containers/zun-1/resize?h=24&w=80", None)],
    ),
    (lambda docker: docker.terminals.state("e1"), [("GET /exec/e1/json", None)]),
    (
        lambda docker: docker.terminals.resize_exec("e1", 24, 80),
        [("POST /exec/e1/resize?h=24&w=80", None)],
    ),
    (
        lambda docker: docker.archives.put("zun-1", "/a b", TextContent('"a tar file"')),
        [("PUT /containers/zun-1/archive?path=/a b", "a tar file")],
    ),
    (lambda docker: docker.containers.top("zun-1"), [("GET /containers/zun-1/top", None)]),
    (
        lambda docker: docker.containers.top("zun-1", "-o pid"),
        [("GET /containers/zun-1/top?ps_args=-o pid", None)],
    ),
    (
        lambda docker: docker.containers.stats("zun-1"),
        [("GET /containers/zun-1/json", None), ("GET /containers/zun-1/stats?stream=false", None)],
    ),
    (lambda docker: docker.containers.fingerprint(), [("GET /info", None)]),
    (
        lambda docker: docker.images.find("reg.example:5000/team/app@sha256:00"),
        [("GET /images/reg.example:5000/team/app@sha256:00/json", None)],
    ),
    (
        lambda docker: docker.images.pull("busybox:1", auth=None, idle_timeout=5),
        [("POST /images/create?fromImage=busybox:1", None), ("GET /images/busybox:1/json", None)],
    ),
    (lambda docker: docker.images.remove("busybox:1"), [("DELETE /images/busybox:1", None)]),
    (
        lambda docker: docker.images.search("team/app"),
        [("GET /images/search?term=team/app&limit=100", None)],
    ),
    (
        lambda docker: docker.networks.ensure("new", OWNER),
        [
            ('GET /networks?filters={"name": ["new"]}', None),
            (
                "POST /networks/create",
                {"Name": "new", "CheckDuplicate": True, "Driver": "bridge", "Labels": OWNER},
            ),
            ('GET /networks?filters={"name": ["new"]}', None),
        ],
    ),
    (
        lambda docker: docker.networks.ensure(
            "new", OWNER, AddressRange("10.9.8.0/24", "10.9.8.1", "10.9.8.128/25")
        ),
        [
            ('GET /networks?filters={"name": ["new"]}', None),
            (
                "POST /networks/create",
                {
                    "Name": "new",
                    "CheckDuplicate": True,
                    "Driver": "bridge",
                    "Labels": OWNER,
                    "IPAM": {
                        "Config": [
                            {"Subnet": "10.9.8.0/24", "IPRange": "10.9.8.128/25", "Gateway": "10.9.8.1"}
                        ]
                    },
                },
            ),
            ('GET /networks?filters={"name": ["new"]}', None),
        ],
    ),
    (
        lambda docker: docker.containers.join("zun-1", NetworkAttachment("back", ipv4="10.9.8.5")),
        [
            ("GET /containers/zun-1/json", None),
            (
                "POST /networks/back/connect",
                {"Container": "zun-1", "EndpointConfig": {"IPAMConfig": {"IPv4Address": "10.9.8.5"}}},
            ),
        ],
    ),
    (
        lambda docker: docker.containers.leave("zun-1", "front"),
        [
            ("GET /containers/zun-1/json", None),
            ("POST /networks/front/disconnect", {"Container": "zun-1", "Force": True}),
            ("POST /networks/none/connect", {"Container": "zun-1", "EndpointConfig": {}}),
        ],
    ),
    (
        lambda docker: docker.networks.remove("back"),
        [('GET /networks?filters={"name": ["back"]}', None), ("DELETE /networks/n1", None)],
    ),
    (
        lambda docker: docker.networks.list(OWNER),
        [('GET /networks?filters={"label": ["tierce.owner=node-1"]}', None)],
    ),
]


@pytest.mark.parametrize(("call", "expected"), CALLS, ids=[expected[-1][0] for _, expected in CALLS])
def test_a_call_sends_this_and_nothing_else(
    docker: DockerRuntime,
    engine: ScriptedEngine,
    call: Callable[[DockerRuntime], Any],
    expected: list[tuple[str, Any]],
) -> None:
    call(docker)
    version, *sent = engine.requests
    assert version.line == "GET /version"
    assert [(request.line, request.body) for request in sent] == expected
    assert {request.version for request in sent} == {"v1.41"}


def test_an_empty_set_of_labels_filters_nothing(docker: DockerRuntime, engine: ScriptedEngine) -> None:
    docker.containers.list({})
    assert engine.lines == ["GET /containers/json?all=true&filters={}"]


def test_no_answer_is_to_be_compressed(docker: DockerRuntime, engine: ScriptedEngine) -> None:
    """Engines compress archives for who takes that, and what arrives is handed on as it is."""
    docker.archives.put("zun-1", "/", TextContent(""))
    assert {request.headers["Accept-Encoding"] for request in engine.requests} == {"identity"}


def test_credentials_travel_in_their_header_alone(docker: DockerRuntime, engine: ScriptedEngine) -> None:
    docker.images.pull("busybox:1", auth={"username": "ann", "password": "s3cret"}, idle_timeout=5)
    asked = engine.requests[1]
    assert asked.headers["X-Registry-Auth"] == "eyJ1c2VybmFtZSI6ICJhbm4iLCAicGFzc3dvcmQiOiAiczNjcmV0In0="
    assert asked.line == "POST /images/create?fromImage=busybox:1"


def test_whether_credentials_may_pull_is_asked_of_the_registry(
    docker: DockerRuntime, engine: ScriptedEngine
) -> None:
    docker.images.require_access(
        "reg.example.com:5000/team/app:1", auth={"username": "ann", "password": "s3cret"}
    )
    asked = engine.requests[1]
    assert asked.headers["X-Registry-Auth"] == "eyJ1c2VybmFtZSI6ICJhbm4iLCAicGFzc3dvcmQiOiAiczNjcmV0In0="
    assert asked.line == "GET /distribution/reg.example.com:5000/team/app:1/json"


def test_without_credentials_there_is_no_such_header(docker: DockerRuntime, engine: ScriptedEngine) -> None:
    docker.images.pull("busybox:1", auth=None, idle_timeout=5)
    assert "X-Registry-Auth" not in engine.requests[1].headers
