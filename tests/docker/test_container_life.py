"""What a container is promised, from the API down to what Docker then really does."""

import base64
import concurrent.futures
import contextlib
import datetime
import pathlib
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import docker
import pytest
from docker.models.containers import Container

from tests.support.engines import BUSYBOX, NOSHELL
from tests.support.service import Http
from tests.support.team import Team
from tests.support.waiting import until

FOREVER = ["sleep", "3600"]
PATIENT = ["sh", "-c", "until [ -e /go ]; do sleep 0.02; done; exit 3"]
"""Ends by itself, with 3, when somebody makes the file /go."""
POLITE = ["sh", "-c", "trap exit TERM; sleep 3600 & wait"]
SOON = 1.0
"""Seconds in which the API must show what happened in Docker."""


@pytest.fixture
def _cleared(team: Team) -> Iterator[None]:
    yield
    team.delete_all()


@pytest.fixture
def ann(team: Team, _cleared: None) -> Http:
    return team.client("ann")


@pytest.fixture
def bob(team: Team, _cleared: None) -> Http:
    return team.client("bob")


@pytest.fixture(scope="class")
def box(team: Team) -> Iterator[tuple[Http, str]]:
    """A container to execute in, and its owner."""
    user = team.client("ann")
    yield user, run(user)
    team.delete_all()


def run(user: Http, **fields: Any) -> str:
    """A container that runs."""
    fields.setdefault("image", BUSYBOX)
    fields.setdefault("command", FOREVER)
    ident = user.create(**fields)
    user.wait(ident, "Running")
    return ident


def finish(user: Http, command: Sequence[str], **fields: Any) -> dict[str, Any]:
    """A container whose command has ended."""
    return user.wait(user.create(image=BUSYBOX, command=command, **fields), "Stopped")


def execute(user: Http, ident: str, *command: str) -> tuple[int, str]:
    """Exit code and output of a command inside."""
    answer = user.call("POST", f"/containers/{ident}/execute", json={"command": shlex.join(command)})
    return answer["exit_code"], answer["output"]


def at_once(create: Callable[[], str]) -> list[str]:
    """Six containers, asked for at the same time."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        return list(pool.map(lambda _: create(), range(6)))


def behind(engine: docker.DockerClient, ident: str) -> Container:
    """The container as Docker has it."""
    return engine.containers.get(f"zun-{ident}")


def volumes(team: Team) -> set[pathlib.Path]:
    """The directories of volumes that go with their containers."""
    places = team.service.home / "mnt"
    return {path for path in places.iterdir() if path.name != "named"} if places.exists() else set()


def address(user: Http, ident: str) -> str:
    [[entry]] = user.call("GET", f"/containers/{ident}")["addresses"].values()
    return str(entry["addr"])


class TestWhatHappensInDockerIsSeen:
    def test_an_end_shows_within_a_second_with_its_exit_code(
        self, ann: Http, engine: docker.DockerClient
    ) -> None:
        ident = run(ann, command=PATIENT)
        execute(ann, ident, "touch", "/go")
        found = ann.wait(ident, "Stopped")
        seen = datetime.datetime.now(datetime.UTC)
        assert found["status_detail"].startswith("Exited(3)")
        finished = behind(engine, ident).attrs["State"]["FinishedAt"]
        ended = datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", finished))
        assert (seen - ended).total_seconds() < SOON

    @pytest.mark.parametrize(
        ("acts", "status", "detail"),
        [
            (["kill"], "Stopped", "Exited(137)"),
            (["pause"], "Paused", "Up"),
            (["pause", "unpause"], "Running", "Up"),
            (["kill", "start"], "Running", "Up"),
            (["remove"], "Error", ""),
        ],
    )
    def test_what_others_do_to_it_shows_within_a_second(
        self, ann: Http, engine: docker.DockerClient, acts: list[str], status: str, detail: str
    ) -> None:
        ident = run(ann)
        container = behind(engine, ident)
        for act in acts:
            getattr(container, act)(**({"force": True} if act == "remove" else {}))
        began = time.monotonic()
        found = ann.wait(ident, status)
        assert time.monotonic() - began < SOON
        assert found["status_detail"].startswith(detail)

    def test_one_that_others_removed_says_so_and_can_be_deleted(
        self, ann: Http, engine: docker.DockerClient
    ) -> None:
        ident = run(ann)
        behind(engine, ident).remove(force=True)
        assert "No such container" in ann.wait(ident, "Error")["status_reason"]
        ann.call("DELETE", f"/containers/{ident}")
        ann.wait(ident, None)

    def test_one_that_docker_restarts_is_running_again(self, ann: Http, engine: docker.DockerClient) -> None:
        # What is in /dev/shm is gone after a restart.
        script = "until [ -e /dev/shm/go ]; do sleep 0.02; done; exit 1"
        ident = run(ann, command=["sh", "-c", script], restart_policy={"Name": "always"})
        execute(ann, ident, "touch", "/dev/shm/go")
        until(lambda: behind(engine, ident).attrs, lambda attrs: attrs["RestartCount"] == 1)
        assert ann.wait(ident, "Running")["status_detail"].startswith("Up")

    def test_one_that_used_too_much_memory_says_so(self, ann: Http) -> None:
        found = finish(ann, ["sh", "-c", "tail /dev/zero"], memory="16")
        assert "more memory than its limit" in found["status_reason"]


class TestExitCodes:
    """BR-33."""

    @pytest.mark.parametrize(
        ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("/etc/passwd", 126), ("nosuch", 127)]
    )
    def test_of_the_container(self, ann: Http, script: str, code: int) -> None:
        detail = finish(ann, ["sh", "-c", script])["status_detail"]
        assert re.fullmatch(rf"Exited\({code}\) \d+ seconds ago ", detail)

    def test_of_a_container_that_was_killed(self, ann: Http) -> None:
        ident = run(ann)
        ann.call("POST", f"/containers/{ident}/kill")
        assert ann.wait(ident, "Stopped")["status_detail"].startswith("Exited(137)")


class TestCommandsInside:
    @pytest.mark.parametrize(
        ("command", "code"),
        [
            ("true", 0),
            ("sh -c 'exit 3'", 3),
            ("/etc/passwd", 126),
            ("sh -c /etc/passwd", 126),
            ("sh -c nosuch", 127),
            ("sh -c 'kill -9 $$'", 137),
        ],
    )
    def test_exit_code(self, box: tuple[Http, str], command: str, code: int) -> None:
        user, ident = box
        assert execute(user, ident, *shlex.split(command))[0] == code

    def test_one_that_is_not_there_fails_with_the_reason(self, box: tuple[Http, str]) -> None:
        code, output = execute(*box, "nosuch")
        assert code in (126, 127)  # 126 of older Engines
        assert "nosuch" in output

    def test_one_that_takes_too_long_is_ended_and_the_limit_named(self, box: tuple[Http, str]) -> None:
        user, ident = box
        answer = user.raw("POST", f"/containers/{ident}/execute", json={"command": "sleep 1234"})
        assert answer.status_code == 409
        assert "limit: 3 s" in answer.text
        until(lambda: "sleep 1234" not in user.raw("GET", f"/containers/{ident}/top").text)


class TestCommandsThatCannotStart:
    """LV-11."""

    @pytest.mark.parametrize(
        ("command", "reason"), [("nosuch", "not found"), ("/etc/passwd", "permission denied")]
    )
    def test_docker_s_reason_is_told(self, ann: Http, command: str, reason: str) -> None:
        found = ann.wait(ann.create(image=BUSYBOX, command=[command]), "Error")
        assert command in found["status_reason"]
        assert reason in found["status_reason"]

    def test_it_can_be_looked_at_started_again_and_deleted(self, ann: Http) -> None:
        ident = ann.create(image=BUSYBOX, command=["nosuch"])
        ann.wait(ident, "Error")
        assert ann.call("GET", f"/containers/{ident}/logs") == ""
        ann.call("POST", f"/containers/{ident}/start")
        assert "nosuch" in ann.wait(ident, "Error")["status_reason"]
        ann.call("DELETE", f"/containers/{ident}")
        ann.wait(ident, None)


class TestImages:
    def test_one_without_a_shell_runs_and_stops(self, ann: Http) -> None:
        ident = ann.create(image=NOSHELL)
        assert ann.wait(ident, "Running")["entrypoint"] == ["/bin/sleep"]
        assert execute(ann, ident, "/bin/sleep", "0")[0] == 0
        ann.call("POST", f"/containers/{ident}/stop?timeout=0")
        ann.wait(ident, "Stopped")

    def test_one_that_the_registry_does_not_have_is_named(self, ann: Http, image_in_registry: str) -> None:
        missing = image_in_registry.replace(":1", ":2")
        found = ann.wait(ann.create(image=missing), "Error")
        assert missing in found["status_reason"]
        ann.call("DELETE", f"/containers/{found['uuid']}")
        ann.wait(found["uuid"], None)

    def test_one_is_pulled_once_for_many_containers(
        self, ann: Http, image_in_registry: str, engine: docker.DockerClient
    ) -> None:
        with contextlib.suppress(docker.errors.ImageNotFound):
            engine.images.remove(image_in_registry, force=True)
        began = time.time()
        for ident in at_once(lambda: ann.create(image=image_in_registry)):
            ann.wait(ident, "Running")
        pulls = engine.events(
            since=began, until=time.time(), filters={"type": "image", "event": "pull"}, decode=True
        )
        assert [event["id"] for event in pulls] == [image_in_registry]


class TestWhatReachesDocker:
    def test_fields_of_the_request(self, ann: Http, engine: docker.DockerClient) -> None:
        ident = run(
            ann,
            entrypoint=["sh", "-c"],
            command=["sleep 3600"],
            environment={"COLOUR": "red"},
            workdir="/tmp",
            hostname="inside",
            labels={"tier": "web"},
            tty=True,
            interactive=True,
            restart_policy={"Name": "on-failure", "MaximumRetryCount": 3},
            healthcheck={"cmd": "test -d /tmp", "interval": 7, "timeout": 2, "retries": 4},
            exposed_ports={"80": {}, "53/udp": {}},
            memory="96",
            cpu=0.5,
        )
        attrs = behind(engine, ident).attrs
        config, host = attrs["Config"], attrs["HostConfig"]
        assert (config["Entrypoint"], config["Cmd"]) == (["sh", "-c"], ["sleep 3600"])
        assert "COLOUR=red" in config["Env"]
        assert (config["WorkingDir"], config["Hostname"]) == ("/tmp", "inside")
        assert config["Labels"]["tier"] == "web"
        assert (config["Tty"], config["OpenStdin"], config["StdinOnce"]) == (True, True, False)
        assert host["RestartPolicy"] == {"Name": "on-failure", "MaximumRetryCount": 3}
        assert config["Healthcheck"] == {
            "Test": ["CMD-SHELL", "test -d /tmp"],
            "Interval": 7_000_000_000,
            "Timeout": 2_000_000_000,
            "Retries": 4,
        }
        assert set(config["ExposedPorts"]) == {"80/tcp", "53/udp"}
        assert (host["Memory"], host["CpuShares"]) == (96 * 1024 * 1024, 512)
        assert ann.call("GET", f"/containers/{ident}")["ports"] == [53, 80]

    def test_what_programs_inside_see(self, ann: Http) -> None:
        ident = run(ann, environment={"COLOUR": "dark red"}, workdir="/tmp", hostname="inside")
        code, output = execute(ann, ident, "sh", "-c", "echo $COLOUR; pwd; hostname")
        assert (code, output) == (0, "dark red\n/tmp\ninside\n")

    def test_safe_defaults(self, ann: Http, engine: docker.DockerClient) -> None:
        ident = run(ann)
        host = behind(engine, ident).attrs["HostConfig"]
        assert host["SecurityOpt"] == ["no-new-privileges"]
        assert host["PidsLimit"] == 4096
        assert host["Privileged"] is False
        status = dict(
            line.split(":", 1) for line in execute(ann, ident, "cat", "/proc/1/status")[1].splitlines()
        )
        assert status["NoNewPrivs"].strip() == "1"
        assert status["Seccomp"].strip() == "2"
        capabilities = int(status["CapBnd"], 16)
        assert not capabilities & (1 << 27 | 1 << 29), "MKNOD and AUDIT_WRITE are dropped"

    def test_auto_remove(self, ann: Http, engine: docker.DockerClient) -> None:
        ident = run(ann, command=PATIENT, auto_remove=True)
        assert behind(engine, ident).attrs["HostConfig"]["AutoRemove"] is True
        execute(ann, ident, "touch", "/go")
        ann.wait(ident, None)
        assert not engine.containers.list(all=True, filters={"name": f"zun-{ident}"})

    def test_auto_remove_after_a_stop(self, ann: Http) -> None:
        ident = run(ann, command=POLITE, auto_remove=True)
        ann.call("POST", f"/containers/{ident}/stop")
        ann.wait(ident, None)

    def test_a_signal(self, ann: Http) -> None:
        ident = run(ann, command=["sh", "-c", "trap 'echo got it' USR1; while true; do sleep 0.02; done"])
        until(lambda: "SigCgt:\t0000000000000000" not in execute(ann, ident, "cat", "/proc/1/status")[1])
        ann.call("POST", f"/containers/{ident}/kill?signal=USR1")
        until(lambda: ann.call("GET", f"/containers/{ident}/logs") == "got it\n")
        ann.wait(ident, "Running")


class TestMounts:
    def test_contents_are_a_file_inside(self, ann: Http) -> None:
        contents = base64.b64encode(b"secret\n").decode()
        mounts = [{"type": "bind", "source": contents, "destination": "/etc/app/key"}]
        ident = run(ann, mounts=mounts)
        assert execute(ann, ident, "cat", "/etc/app/key") == (0, "secret\n")

    def test_a_volume_by_size_goes_with_its_container(self, ann: Http, team: Team) -> None:
        before = volumes(team)
        ident = run(ann, mounts=[{"size": 1, "destination": "/data"}], command=POLITE)
        assert execute(ann, ident, "sh", "-c", "mkdir /data/deep && echo kept > /data/deep/file")[0] == 0
        [made] = volumes(team) - before
        assert (made / "deep" / "file").read_text() == "kept\n"
        ann.call("POST", f"/containers/{ident}/reboot")
        ann.wait(ident, "Running")
        assert execute(ann, ident, "cat", "/data/deep/file") == (0, "kept\n")
        ann.call("DELETE", f"/containers/{ident}?stop=true")
        ann.wait(ident, None)
        assert volumes(team) == before

    def test_a_named_volume_outlives_its_containers_and_stays_in_its_project(
        self, ann: Http, bob: Http
    ) -> None:
        mounts = [{"source": "notes", "destination": "/data"}]
        first = finish(ann, ["sh", "-c", "echo kept > /data/note"], mounts=mounts)
        ann.call("DELETE", f"/containers/{first['uuid']}")
        ann.wait(first["uuid"], None)
        assert execute(ann, run(ann, mounts=mounts), "cat", "/data/note") == (0, "kept\n")
        assert execute(bob, run(bob, mounts=mounts), "ls", "/data") == (0, "")


class TestNetworks:
    def test_a_project_reaches_its_own_by_name(self, ann: Http) -> None:
        serve = "mkdir /www && echo hello > /www/index.html && httpd -f -h /www"
        run(ann, name="web", command=["sh", "-c", serve])
        visitor = run(ann)
        until(lambda: execute(ann, visitor, "wget", "-q", "-O", "-", "http://web/") == (0, "hello\n"))

    def test_projects_do_not_reach_one_another(self, ann: Http, bob: Http) -> None:
        serve = ["nc", "-ll", "-p", "7000", "-e", "echo", "hello"]
        server = address(ann, run(ann, command=serve))
        friend, stranger = run(ann), run(bob)
        until(lambda: execute(ann, friend, "nc", "-w", "1", server, "7000") == (0, "hello\n"))
        assert execute(ann, friend, "ping", "-c", "1", "-W", "1", server)[0] == 0
        assert execute(bob, stranger, "nc", "-w", "1", server, "7000") != (0, "hello\n")
        assert execute(bob, stranger, "ping", "-c", "1", "-W", "1", server)[0] == 1
        assert set(ann.call("GET", f"/containers/{friend}")["addresses"]).isdisjoint(
            bob.call("GET", f"/containers/{stranger}")["addresses"]
        )

    def test_names_of_one_project_mean_nothing_in_another(self, ann: Http, bob: Http) -> None:
        run(ann, name="web")
        # A name that Docker does not know is asked of the machine's resolver, which takes its time.
        assert execute(bob, run(bob), "timeout", "2", "ping", "-c", "1", "web")[0] != 0

    def test_a_container_may_be_in_several_networks(self, ann: Http) -> None:
        both = run(ann, name="both", nets=[{"network": "front"}, {"network": "back"}])
        assert len(ann.call("GET", f"/containers/{both}")["addresses"]) == 2
        for network in ("front", "back"):
            one = run(ann, nets=[{"network": network}])
            assert execute(ann, one, "ping", "-c", "1", "-W", "1", "both")[0] == 0

    def test_first_containers_at_once_share_one_network(self, bob: Http, engine: docker.DockerClient) -> None:
        idents = at_once(lambda: bob.create(image=BUSYBOX, command=FOREVER))
        [network] = {name for ident in idents for name in bob.wait(ident, "Running")["addresses"]}
        assert len(engine.networks.list(names=[network])) == 1

    def test_a_network_goes_with_the_last_container(self, bob: Http, engine: docker.DockerClient) -> None:
        first, last = run(bob, command=POLITE), run(bob, command=POLITE)
        [network] = bob.call("GET", f"/containers/{first}")["addresses"]
        for ident, left in ((first, 1), (last, 0)):
            bob.call("DELETE", f"/containers/{ident}?stop=true")
            bob.wait(ident, None)
            assert len(engine.networks.list(names=[network])) == left


def test_nothing_is_left_of_what_was_deleted(ann: Http, team: Team, engine: docker.DockerClient) -> None:
    volumes_before = volumes(team)
    contents = base64.b64encode(b"x").decode()
    mounts = [
        {"type": "bind", "source": contents, "destination": "/etc/key"},
        {"size": 1, "destination": "/data"},
    ]
    nets = [{"network": "front"}, {"network": "back"}]
    running = run(ann, mounts=mounts, nets=nets, command=POLITE)
    ended = finish(ann, ["true"], mounts=mounts)["uuid"]
    made = ann.create(image=BUSYBOX, run=False, mounts=mounts)
    ann.wait(made, "Created")
    failed = ann.create(image=BUSYBOX, command=["nosuch"], mounts=mounts)
    ann.wait(failed, "Error")
    idents = {running, ended, made, failed}
    names = {name for ident in idents for name in ann.call("GET", f"/containers/{ident}")["addresses"]}
    assert len(names) == 3
    assert len(volumes(team) - volumes_before) == 8

    for ident in idents:
        ann.call("DELETE", f"/containers/{ident}?stop=true")
    for ident in idents:
        ann.wait(ident, None)

    left = {container.name for container in engine.containers.list(all=True)}
    assert not left & {f"zun-{ident}" for ident in idents}
    assert not {network.name for network in engine.networks.list()} & names
    assert volumes(team) == volumes_before
