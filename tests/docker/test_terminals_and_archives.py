"""Terminals and files of containers on a real Engine: what it promises, and what the clients make of it."""

import base64
import contextlib
import pathlib
import random
import re
import socket
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

import docker
import pytest
from keystoneauth1 import loading, session
from zunclient import api_versions, exceptions
from zunclient.v1.client import Client

from tests.support.engines import BUSYBOX
from tests.support.memory import resident_peak
from tests.support.service import Http
from tests.support.session_contract import SessionContract
from tests.support.tars import contents, member, packed, tar
from tests.support.team import Team
from tests.support.waiting import until
from tierce.runtimes.docker import DockerRuntime


@pytest.fixture(scope="module")
def runtime(docker_engine: str) -> Iterator[DockerRuntime]:
    runtime = DockerRuntime(docker_engine)
    yield runtime
    runtime.close()


class TestDockerSessions(SessionContract):
    pass


@pytest.fixture
def run(ann: Http) -> Callable[..., str]:
    """Runs a container; its uuid."""

    def made(**fields: Any) -> str:
        uuid = ann.create(image=BUSYBOX, command=["sleep", "3600"], **fields)
        return str(ann.wait(uuid, "Running")["uuid"])

    return made


def put(http: Http, uuid: str, path: str, data: bytes) -> int:
    body = {"data": base64.b64encode(data).decode()}
    return http.raw("POST", f"/containers/{uuid}/put_archive", params={"path": path}, json=body).status_code


def get(http: Http, uuid: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = http.call("GET", f"/containers/{uuid}/get_archive", params={"path": path})
    return found


def inside(http: Http, uuid: str, script: str) -> str:
    answer = http.call("POST", f"/containers/{uuid}/execute", json={"command": ["sh", "-c", script]})
    return str(answer["output"])


# --- archives that want out ---------------------------------------------------------------------------


@contextlib.contextmanager
def unchanged(place: pathlib.Path) -> Iterator[None]:
    """The directory and what lies in it are the same before and after, down to the links to each file."""

    def listing() -> dict[str, tuple[int, ...]]:
        return {
            str(path): (facts.st_ino, facts.st_mode, facts.st_nlink, facts.st_size, facts.st_mtime_ns)
            for path in (place, *place.iterdir())
            for facts in [path.lstat()]
        }

    before = listing()
    yield
    assert listing() == before


LINK, HARD_LINK, DEVICE = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE


@pytest.fixture
def outside(docker_engine_directory: pathlib.Path) -> pathlib.Path:
    """A directory that the Engine sees, and no container."""
    place = docker_engine_directory / "outside"
    place.mkdir(exist_ok=True)
    (place / "secret").write_text("of the node")
    return place


def escapes(outside: pathlib.Path) -> dict[str, bytes]:
    """Archives that want to leave the directory into which they are unpacked."""
    up = "../" * 12
    away = str(outside)
    return {
        "above": packed(member(f"{up}{away[1:]}/above", b"x")),
        "absolute": packed(member(f"{away}/absolute", b"x")),
        "through a link": packed(member("link", type=LINK, linkname=away), member("link/through", b"x")),
        "through a link upwards": packed(
            member("upwards", type=LINK, linkname=f"{up}{away[1:]}"), member("upwards/through", b"x")
        ),
        "a hard link": packed(member("hard", type=HARD_LINK, linkname=f"{up}{away[1:]}/secret")),
        "a hard link, absolute": packed(member("hard", type=HARD_LINK, linkname=f"{away}/secret")),
        "over a link": packed(
            member("over", type=LINK, linkname=f"{away}/secret"), member("over", b"changed")
        ),
    }


def test_no_archive_changes_or_reads_anything_outside_the_container(
    ann: Http, run: Callable[..., str], outside: pathlib.Path
) -> None:
    uuid = run()
    inside(ann, uuid, f"mkdir -p /box; ln -s {outside} /box/out; ln -s / /box/root")
    with unchanged(outside):
        for name, data in escapes(outside).items():
            for path in ("/tmp", "/box", "/box/root/tmp"):
                assert put(ann, uuid, path, data) in (200, 400), name
        assert put(ann, uuid, "/box/out", tar(into=b"x")) in (200, 400)
        assert put(ann, uuid, "/box/out/", tar(into=b"x")) in (200, 400)
        assert put(ann, uuid, "/" + "../" * 12 + str(outside)[1:], tar(into=b"x")) in (200, 400)
    assert (outside / "secret").read_text() == "of the node"
    for path in ("/box/out/secret", "/tmp/link/secret", "/tmp/over", str(outside / "secret")):
        answer = ann.raw("GET", f"/containers/{uuid}/get_archive", params={"path": path})
        if answer.ok:
            data = base64.b64decode(answer.json()["data"])
            assert b"of the node" not in data


def test_a_device_that_is_unpacked_opens_nothing(
    ann: Http, run: Callable[..., str], engine: docker.DockerClient
) -> None:
    uuid = run()
    disk = packed(member("memory", type=DEVICE, devmajor=1, devminor=1, mode=0o666))
    assert put(ann, uuid, "/tmp", disk) in (200, 400)
    assert "not permitted" in inside(ann, uuid, "head -c 1 /tmp/memory 2>&1 || true") or "No such" in inside(
        ann, uuid, "ls /tmp/memory 2>&1"
    )


def test_a_link_is_itself_and_with_a_slash_what_it_leads_to(ann: Http, run: Callable[..., str]) -> None:
    uuid = run()
    inside(ann, uuid, "mkdir /real; echo x > /real/file; ln -s /real /link")
    link = get(ann, uuid, "/link")
    assert (link["stat"]["name"], link["stat"]["linkTarget"]) == ("link", "/real")
    assert contents(base64.b64decode(link["data"])) == {"link": None}
    target = get(ann, uuid, "/link/")
    assert target["stat"]["linkTarget"] == ""
    assert b"x\n" in contents(base64.b64decode(target["data"])).values()


def test_bad_archives_and_paths_are_400(
    ann: Http, run: Callable[..., str], docker_engine_directory: pathlib.Path
) -> None:
    uuid = run()
    for data in (b"no tar" * 200, tar(one=b"x" * 5000)[:2000], packed(member("odd", type=b"Z"))):
        assert put(ann, uuid, "/tmp", data) == 400
    assert put(ann, uuid, "/nosuch", tar(one=b"x")) == 400
    for path in ("/bin/busybox", "/bin/busybox/x", f"/{'x' * 300}"):
        assert put(ann, uuid, path, tar(one=b"x")) == 400
    for path in ("/nosuch", "/bin/busybox/", "/bin/busybox/x", "/%s", f"/{'x' * 300}", "/proc/1/environ"):
        answer = ann.raw("GET", f"/containers/{uuid}/get_archive", params={"path": path})
        assert answer.status_code == 400
        assert str(docker_engine_directory) not in answer.text


def test_an_archive_at_the_limit_passes_and_costs_less_than_twice_its_size(
    ann: Http, run: Callable[..., str], team: Team
) -> None:
    uuid, limit = run(), 32 * 1024 * 1024
    data = random.Random(1).randbytes(limit - 20_480)
    whole = tar(big=data)
    assert team.service.process is not None
    pid = team.service.process.pid
    assert resident_peak(lambda: put(ann, uuid, "/tmp", whole), pid) < limit * 2
    assert inside(ann, uuid, "wc -c < /tmp/big").strip() == str(len(data))
    found: list[dict[str, Any]] = []
    assert resident_peak(lambda: found.append(get(ann, uuid, "/tmp/big")), pid) < limit * 2
    assert contents(base64.b64decode(found[0]["data"])) == {"big": data}

    inside(ann, uuid, "cp /tmp/big /tmp/copy")
    refused = ann.raw("GET", f"/containers/{uuid}/get_archive", params={"path": "/tmp"})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (413, "container.archive-too-large")


def test_what_declares_300_mib_is_refused_at_once(ann: Http, run: Callable[..., str], team: Team) -> None:
    uuid = run()
    with socket.create_connection(("127.0.0.1", team.service.port), timeout=10) as connection:
        head = (
            f"POST /v1/containers/{uuid}/put_archive?path=/tmp HTTP/1.1\r\nHost: x\r\n"
            f"Content-Length: {300 * 1024 * 1024}\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert b" 413 " in connection.recv(65536).split(b"\r\n")[0]


# --- the clients --------------------------------------------------------------------------------------


@pytest.fixture
def zun(team: Team, ann: Http) -> Client:
    loader = loading.get_plugin_loader("http_basic")
    plugin = loader.load_from_options(
        endpoint=team.service.url, username="ann", password=team.passwords["ann"]
    )
    return Client(session=session.Session(auth=plugin), api_version=api_versions.APIVersion("1.40"))


def test_zunclient_copies_both_ways(zun: Client, run: Callable[..., str]) -> None:
    uuid, data = run(), bytes(range(256)) * 100
    zun.containers.put_archive(uuid, "/tmp", tar(all_bin=data))
    got = zun.containers.get_archive(uuid, "/tmp/all.bin")
    assert contents(got["data"]) == {"all.bin": data}
    assert got["stat"]["size"] == len(data)
    with pytest.raises(exceptions.BadRequest, match="/nosuch"):
        zun.containers.get_archive(uuid, "/nosuch")


def test_zunclient_attaches_and_resizes(
    zun: Client, run: Callable[..., str], engine: docker.DockerClient
) -> None:
    uuid = run(interactive=True, tty=True)
    urls = [zun.containers.attach(uuid) for _ in range(3)]
    assert all(re.fullmatch(rf"ws://.+:6784/\?token=[0-9a-f-]{{36}}&uuid={uuid}", url) for url in urls)
    assert len(set(urls)) == 3
    zun.containers.resize(uuid, "77", "33")
    assert engine.containers.get(f"zun-{uuid}").exec_run("stty -F /proc/1/fd/0 size").output == b"33 77\n"
    with pytest.raises(exceptions.BadRequest, match="interactive"):
        zun.containers.attach(run())


@contextlib.contextmanager
def connected(engine: docker.DockerClient, exec_id: str) -> Iterator[Callable[[str], bytes]]:
    """Start an exec as a proxy does. What is yielded types a line and reads until the answer is there."""
    opened = engine.api.exec_start(exec_id, tty=True, socket=True)
    stream = opened._sock
    stream.settimeout(20)

    def type_line(line: str) -> bytes:
        stream.sendall(line.encode() + b"; echo --\n")
        seen = b""
        while b"\n--" not in seen:
            seen += stream.recv(4096)
        return seen

    try:
        yield type_line
        stream.sendall(b"exit\n")
    finally:
        opened._response.close()
        opened.close()
        stream.close()


def test_zunclient_prepares_a_command_that_runs_once_somebody_connects(
    zun: Client, ann: Http, run: Callable[..., str], engine: docker.DockerClient
) -> None:
    uuid = run()
    made = zun.containers.execute(uuid, command='"sh"', interactive=True, run=False)
    exec_id = made["exec_id"]
    assert made["proxy_url"].endswith(f"&uuid={uuid}&exec_id={exec_id}")
    assert (made["output"], made["exit_code"]) == (None, None)
    running = engine.containers.get(f"zun-{uuid}").top()["Processes"]
    assert [process[-1] for process in running] == ["sleep 3600"]

    zun.containers.execute_resize(uuid, exec_id, "50", "20")  # kept until it starts
    with connected(engine, exec_id) as type_line:
        until(lambda: engine.api.exec_inspect(exec_id)["Running"])
        zun.containers.execute_resize(uuid, exec_id, "77", "33")
        assert b"33 77" in type_line("stty size")
        with pytest.raises(exceptions.NotFound):
            zun.containers.execute_resize(run(), exec_id, "77", "33")
    until(lambda: not engine.api.exec_inspect(exec_id)["Running"])
    with pytest.raises(exceptions.Conflict, match="ended"):
        zun.containers.execute_resize(uuid, exec_id, "77", "33")
