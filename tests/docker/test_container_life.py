"""What a container is promised, from the API down to what Docker then really does."""

import contextlib
import datetime
import re
import shlex
import signal
import time
from collections.abc import Iterator

import docker
import pytest

from tests.support.containers import PATIENT, POLITE, at_once, behind, execute, finish, let_go, run, states
from tests.support.engines import BUSYBOX, NOSHELL
from tests.support.service import Http
from tests.support.team import Team
from tests.support.waiting import until

SOON = 1.0
"""Seconds in which the API must show what happened in Docker."""


@pytest.fixture(scope="class")
def box(team: Team) -> Iterator[tuple[Http, str]]:
    """A container to execute in, and its owner."""
    user = team.client("ann")
    yield user, run(user)
    team.delete_all()


class TestWhatHappensInDockerIsSeen:
    def test_an_end_shows_within_a_second_with_its_exit_code(
        self, ann: Http, engine: docker.DockerClient
    ) -> None:
        ident = run(ann, command=PATIENT)
        let_go(behind(engine, ident))
        found = ann.wait(ident, "Stopped")
        seen = datetime.datetime.now(datetime.UTC)
        assert found["status_detail"].startswith("Exited(3)")
        finished = behind(engine, ident).attrs["State"]["FinishedAt"]
        ended = datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", finished))
        assert (seen - ended).total_seconds() < SOON

    @pytest.mark.parametrize(
        "acts",
        [
            [("kill", "Stopped", "Exited(137)"), ("start", "Running", "Up")],
            [("pause", "Paused", "Up"), ("unpause", "Running", "Up")],
            [("remove", "Error", "")],
        ],
        ids=["kill and start", "pause and unpause", "remove"],
    )
    def test_what_others_do_to_it_shows_within_a_second(
        self, ann: Http, engine: docker.DockerClient, acts: list[tuple[str, str, str]]
    ) -> None:
        ident = run(ann)
        container = behind(engine, ident)
        for act, status, detail in acts:
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

    def test_one_that_used_too_much_memory_says_so(self, ann: Http, engine: docker.DockerClient) -> None:
        script = "trap 'exit 1' USR1; tail /dev/zero; while true; do sleep 0.02; done"
        ident = run(ann, command=["sh", "-c", script], memory="16")
        # Docker 20.10 may never learn it of a container that ends in the same moment.
        of_it = {"container": f"zun-{ident}", "event": "oom"}
        with contextlib.closing(engine.events(since=0, filters=of_it, decode=True)) as events:
            next(events)
        behind(engine, ident).kill("USR1")
        assert "more memory than its limit" in ann.wait(ident, "Stopped")["status_reason"]


class TestExitCodes:
    """The code is the process's own: never read while it still runs, and 126 and 127 are results."""

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
        assert "limit: 5 s" in answer.text
        until(lambda: "sleep 1234" not in user.raw("GET", f"/containers/{ident}/top").text)


class TestCommandsThatCannotStart:
    """The Engine's own reason is what the user reads."""

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
        began = int(time.time())
        for ident in at_once(lambda: ann.create(image=image_in_registry)):
            ann.wait(ident, "Running")
        pulls = engine.events(
            since=began, until=int(time.time()) + 1, filters={"type": "image", "event": "pull"}, decode=True
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
        container = behind(engine, ident)
        assert container.attrs["HostConfig"]["AutoRemove"] is True
        let_go(container)
        ann.wait(ident, None)
        assert states(engine, ident) == []

    def test_auto_remove_after_a_stop(self, ann: Http) -> None:
        ident = run(ann, command=POLITE, auto_remove=True)
        ann.call("POST", f"/containers/{ident}/stop")
        ann.wait(ident, None)

    def test_a_kill_ends_an_hour_of_grace(self, ann: Http) -> None:
        ident = run(ann)
        ann.call("POST", f"/containers/{ident}/stop?timeout=3600")
        ann.call("POST", f"/containers/{ident}/kill")
        assert ann.wait(ident, "Stopped")["status_reason"] is None

    def test_a_signal(self, ann: Http) -> None:
        ident = run(ann, command=["sh", "-c", "trap 'echo got it' USR1; while true; do sleep 0.02; done"])

        def caught() -> int:
            """The signals that it deals with, one bit each."""
            status = execute(ann, ident, "cat", "/proc/1/status")[1]
            return int(status.partition("SigCgt:")[2].split()[0], 16)

        until(lambda: caught() & 1 << signal.SIGUSR1 - 1)
        ann.call("POST", f"/containers/{ident}/kill?signal=USR1")
        until(lambda: ann.call("GET", f"/containers/{ident}/logs") == "got it\n")
        ann.wait(ident, "Running")
