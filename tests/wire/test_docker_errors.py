"""What the Docker plug makes of an Engine's odd answers, of its silence, and of its absence."""

import concurrent.futures
import contextlib
import itertools
import json
import pathlib
import threading
import time
import urllib.parse
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.scripted_engine import (
    VERSION,
    Answer,
    Request,
    Script,
    ScriptedEngine,
    scripted_engine,
)
from tierce.model.container import FoundImage, RuntimeEvent, RuntimeSpec, RuntimeState
from tierce.model.errors import (
    ExecTimeout,
    ImageNotFound,
    ImagePullFailed,
    ImageSearchFailed,
    RuntimeBadRequest,
    RuntimeConflict,
    RuntimeFailure,
    RuntimeNotFound,
    RuntimeTimeout,
    RuntimeUnreachable,
)
from tierce.runtimes.docker import DockerRuntime

Answers = dict[str, Any]


class Bench:
    """A runtime and its Engine, which answers by a table: a request line to an Answer, or several in turn."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.socket = directory / "docker.sock"
        self._stack = contextlib.ExitStack()

    def engine(self, answers: Answers, version: dict[str, str] = VERSION) -> ScriptedEngine:
        turns = {line: _turns(answer) for line, answer in answers.items()}

        def script(request: Request) -> Answer | None:
            return next(turns[request.line]) if request.line in turns else None

        return self.scripted(script, version)

    def scripted(self, script: Script, version: dict[str, str] = VERSION) -> ScriptedEngine:
        return self._stack.enter_context(scripted_engine(self.socket, script, version))

    def docker(self, **options: Any) -> DockerRuntime:
        runtime = DockerRuntime(f"unix://{self.socket}", **options)
        self._stack.callback(runtime.close)
        return runtime

    def close(self) -> None:
        self._stack.close()


def _turns(answer: Any) -> Iterator[Answer]:
    answers = answer if isinstance(answer, list) else [answer]
    return itertools.chain(answers, itertools.repeat(answers[-1]))


def error(status: int, message: str) -> Answer:
    return Answer(status, {"message": message})


def frame(payload: bytes, stream: int = 1) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4) + payload


def inspection(status: str, *, labels: dict[str, str] | None = None, tty: bool = False) -> Answer:
    config = {"Labels": labels or {}, "Tty": tty}
    return Answer(body={"Id": "c0ffee", "Name": "/zun-1", "State": {"Status": status}, "Config": config})


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


# --- errors by status -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, RuntimeBadRequest),
        (403, RuntimeConflict),
        (404, RuntimeNotFound),
        (409, RuntimeConflict),
        (500, RuntimeFailure),
        (503, RuntimeFailure),
    ],
)
@pytest.mark.parametrize("text", ["no such container", "ab404c is not running", "team/paused-app is paused"])
def test_the_status_decides_the_error_whatever_the_text_says(
    bench: Bench, status: int, kind: type[RuntimeFailure], text: str
) -> None:
    bench.engine({"POST /containers/ab404c/stop": error(status, text)})
    with pytest.raises(RuntimeFailure) as failed:
        bench.docker().containers.stop("ab404c")
    assert type(failed.value) is kind
    assert failed.value.message == text


@pytest.mark.parametrize("body", [None, "text", {"error": "x"}, []])
def test_an_error_without_a_message_is_told_by_its_status(bench: Bench, body: Any) -> None:
    bench.engine({"POST /containers/zun-1/stop": Answer(500, body)})
    with pytest.raises(RuntimeFailure, match=r"^Docker answered with status 500\.$"):
        bench.docker().containers.stop("zun-1")


@pytest.mark.parametrize("call", ["start", "stop"])
def test_what_holds_already_is_a_success(bench: Bench, call: str) -> None:
    engine = bench.engine({f"POST /containers/zun-1/{call}": Answer(304)})
    getattr(bench.docker().containers, call)("zun-1")
    assert len(engine.lines) == 1


def test_an_answer_that_is_not_json_is_a_failure(bench: Bench) -> None:
    bench.engine({"GET /containers/zun-1/json": Answer(pieces=[b"<html>"])})
    with pytest.raises(RuntimeFailure, match="cannot be read"):
        bench.docker().containers.inspect("zun-1")


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b"{}", b"7", b'{"State": 7}', b'{"State": {"Status": "exited"}}']
)
def test_an_answer_of_another_shape_is_a_failure_of_docker(bench: Bench, body: bytes) -> None:
    lines = ("GET /containers/zun-1/json", "GET /images/x/json", "POST /containers/zun-1/exec")
    bench.engine({line: Answer(pieces=[body]) for line in lines})
    docker = bench.docker()
    for ask in (
        lambda: docker.containers.inspect("zun-1"),
        lambda: docker.images.find("x"),
        lambda: docker.containers.execute("zun-1", ["true"], 1),
    ):
        with pytest.raises(RuntimeFailure, match="Docker") as failed:
            ask()
        assert type(failed.value) is RuntimeFailure


@pytest.mark.parametrize("body", [b"null", b"[null]", b"[{}]", b"7"])
def test_a_list_of_another_shape_is_a_failure_of_docker(bench: Bench, body: bytes) -> None:
    target = 'GET /containers/json?all=true&filters={"label": ["a=b"]}'
    bench.engine({target: Answer(pieces=[body])})
    with pytest.raises(RuntimeFailure, match="makes no sense"):
        bench.docker().containers.list({"a": "b"})


def test_processes_of_which_there_are_none_are_an_empty_list(bench: Bench) -> None:
    bench.engine({"GET /containers/zun-1/top?ps_args=1": Answer(body={"Titles": ["PID"], "Processes": None})})
    assert bench.docker().containers.top("zun-1", "1") == {"Titles": ["PID"], "Processes": []}


def test_a_state_that_makes_no_sense_is_a_failure_that_quotes_it(bench: Bench) -> None:
    bench.engine({"GET /containers/zun-1/json": inspection("melting")})
    with pytest.raises(RuntimeFailure, match="melting"):
        bench.docker().containers.inspect("zun-1")


# --- absence, silence, upgrades -------------------------------------------------------------------


def test_an_absent_engine_is_unreachable_in_words_for_users_and_may_come_up_later(bench: Bench) -> None:
    docker = bench.docker()
    with pytest.raises(RuntimeUnreachable) as failed:
        docker.containers.inspect("zun-1")
    assert failed.value.message == "Docker cannot be reached (no such file or directory). Is dockerd running?"
    bench.engine({"GET /containers/zun-1/json": inspection("running")})
    assert docker.containers.inspect("zun-1") is not None


def test_a_dead_socket_is_unreachable_without_its_path(bench: Bench) -> None:
    bench.socket.touch()
    with pytest.raises(RuntimeUnreachable) as failed:
        bench.docker().images.find("busybox:1")
    assert failed.value.message == "Docker cannot be reached (connection refused). Is dockerd running?"


def test_a_silent_engine_is_a_timeout(bench: Bench) -> None:
    with silence() as silent:
        bench.engine({"GET /containers/zun-1/json": Answer(pieces=silent)})
        with pytest.raises(RuntimeTimeout, match="in time"):
            bench.docker(timeout=0.2).containers.inspect("zun-1")


def test_a_broken_answer_is_unreachable(bench: Bench) -> None:
    bench.engine({"GET /containers/zun-1/json": Answer(pieces=[b'{"Id": "c0f'], length=100)})
    with pytest.raises(RuntimeUnreachable):
        bench.docker().containers.inspect("zun-1")


@pytest.mark.parametrize(
    ("offered", "minimum", "spoken"),
    [("1.41", "1.12", "v1.41"), ("1.52", "1.44", "v1.44"), ("1.60", "1.50", "v1.50"), ("1.9", "1.1", "v1.9")],
)
def test_the_newest_version_that_both_sides_speak_is_taken(
    bench: Bench, offered: str, minimum: str, spoken: str
) -> None:
    version = {"ApiVersion": offered, "MinAPIVersion": minimum}
    engine = bench.engine({"POST /containers/zun-1/start": Answer(204)}, version)
    bench.docker().containers.start("zun-1")
    assert [request.version for request in engine.requests if request.method == "POST"] == [spoken]


def test_a_configured_version_is_taken_without_asking(bench: Bench) -> None:
    engine = bench.engine({"POST /containers/zun-1/start": Answer(204)})
    bench.docker(api_version="1.40").containers.start("zun-1")
    assert [request.version for request in engine.requests] == ["v1.40"]


def test_an_upgraded_engine_is_asked_in_its_own_version(tmp_path: pathlib.Path) -> None:
    """It refuses the old version with 400, and nothing tells that the connection is a new one."""

    def refuse_old(request: Request) -> Answer:
        return Answer(204) if request.version == "v1.44" else error(400, "client version is too old")

    docker = DockerRuntime(f"unix://{tmp_path / 'docker.sock'}")
    with scripted_engine(tmp_path / "docker.sock", lambda _: Answer(204)) as old:
        docker.containers.start("zun-1")
        assert old.requests[-1].version == "v1.41"
    with scripted_engine(
        tmp_path / "docker.sock", refuse_old, {"ApiVersion": "1.52", "MinAPIVersion": "1.44"}
    ):
        docker.containers.start("zun-1")
    docker.close()


def test_a_long_grace_does_not_count_as_silence(bench: Bench) -> None:
    bench.engine({"POST /containers/zun-1/stop?t=3": Answer(pieces=late(0.4))})
    bench.docker(timeout=0.2).containers.stop("zun-1", timeout=3)


# --- ensures --------------------------------------------------------------------------------------

SPEC = RuntimeSpec(name="zun-1", image="busybox:1", owner_labels={"owner": "me"})
CREATE = "POST /containers/create?name=zun-1"
INSPECT = "GET /containers/zun-1/json"


def test_a_half_removed_container_of_the_name_is_removed_and_made_again(bench: Bench) -> None:
    engine = bench.engine(
        {
            CREATE: [error(409, "name in use"), Answer(201, {"Id": "new"})],
            INSPECT: inspection("dead", labels={"owner": "me"}),
            "DELETE /containers/c0ffee?force=true&v=true": Answer(204),
        }
    )
    assert bench.docker().containers.create(SPEC) == "new"
    assert engine.lines[2].startswith("DELETE")


def test_a_removal_that_another_began_is_waited_for(bench: Bench) -> None:
    engine = bench.engine(
        {
            "DELETE /containers/zun-1?force=true&v=true": error(409, "removal is already in progress"),
            "POST /containers/zun-1/wait?condition=removed": Answer(200, {"StatusCode": 0}),
        }
    )
    bench.docker().containers.remove("zun-1")
    assert engine.lines[-1] == INSPECT


def test_a_removal_that_another_began_and_did_not_end_is_an_error(bench: Bench) -> None:
    bench.engine(
        {
            "DELETE /containers/zun-1?force=true&v=true": error(409, "removal is already in progress"),
            "POST /containers/zun-1/wait?condition=removed": Answer(200, {"StatusCode": 0}),
            INSPECT: inspection("dead"),
        }
    )
    with pytest.raises(RuntimeConflict):
        bench.docker().containers.remove("zun-1")


def test_a_removal_that_never_ends_is_waited_for_within_limits(bench: Bench) -> None:
    with silence() as silent:
        bench.engine(
            {
                "DELETE /containers/zun-1?force=true&v=true": error(409, "removal is already in progress"),
                "POST /containers/zun-1/wait?condition=removed": Answer(pieces=silent),
            }
        )
        with pytest.raises(RuntimeTimeout):
            bench.docker(timeout=0.2).containers.remove("zun-1")


def test_a_restart_that_fails_as_a_whole_is_told_by_its_start(bench: Bench) -> None:
    bench.engine(
        {
            "POST /containers/zun-1/restart": error(500, "Cannot restart container zun-1: network not found"),
            "GET /containers/zun-1/json": inspection("exited"),
            "POST /containers/zun-1/start": error(404, "network not found"),
        }
    )
    with pytest.raises(RuntimeNotFound):
        bench.docker().containers.restart("zun-1")


def test_a_restart_that_fails_while_it_runs_says_so(bench: Bench) -> None:
    engine = bench.engine(
        {
            "POST /containers/zun-1/restart": error(500, "it would not stop"),
            "GET /containers/zun-1/json": inspection("running"),
        }
    )
    with pytest.raises(RuntimeFailure, match="would not stop"):
        bench.docker().containers.restart("zun-1")
    assert "POST /containers/zun-1/start" not in engine.lines


@pytest.mark.parametrize("status", [409, 500])
def test_unpausing_looks_at_the_state_when_the_engine_refuses(bench: Bench, status: int) -> None:
    bench.engine(
        {
            "POST /containers/zun-1/unpause": error(status, "is not paused"),
            INSPECT: [inspection("running"), inspection("paused")],
        }
    )
    docker = bench.docker()
    docker.containers.unpause("zun-1")
    with pytest.raises(RuntimeFailure):
        docker.containers.unpause("zun-1")


def _network(network_id: str, created: str) -> dict[str, Any]:
    return {"Id": network_id, "Name": "net", "Created": f"2026-01-01T00:00:{created}Z"}


NAMED = 'GET /networks?filters={"name": ["net"]}'


def test_of_two_networks_made_at_once_the_younger_goes(bench: Bench) -> None:
    mine, older = _network("mine", "05.2"), _network("older", "05.15")
    engine = bench.engine(
        {
            NAMED: [Answer(body=[]), Answer(body=[mine, older])],
            "POST /networks/create": Answer(201, {"Id": "mine"}),
            "DELETE /networks/mine": Answer(204),
        }
    )
    assert bench.docker().networks.ensure("net", {}) == "older"
    assert engine.lines[-1] == "DELETE /networks/mine"


def test_a_network_that_another_program_made_first_is_taken(bench: Bench) -> None:
    bench.engine(
        {
            NAMED: [Answer(body=[]), Answer(body=[_network("other", "01")])],
            "POST /networks/create": error(409, "network with name net already exists"),
        }
    )
    assert bench.docker().networks.ensure("net", {}) == "other"


def test_the_network_can_be_made_after_a_first_failure(bench: Bench) -> None:
    bench.engine(
        {
            NAMED: [Answer(body=[]), Answer(body=[]), Answer(body=[_network("mine", "01")])],
            "POST /networks/create": [error(500, "no address pool"), Answer(201, {"Id": "mine"})],
        }
    )
    docker = bench.docker()
    with pytest.raises(RuntimeFailure, match="no address pool"):
        docker.networks.ensure("net", {})
    assert docker.networks.ensure("net", {}) == "mine"


def test_a_network_with_active_endpoints_is_a_conflict(bench: Bench) -> None:
    bench.engine(
        {
            NAMED: Answer(body=[_network("mine", "01")]),
            "DELETE /networks/mine": error(403, "network net has active endpoints"),
        }
    )
    with pytest.raises(RuntimeConflict):
        bench.docker().networks.remove("net")


# --- streams --------------------------------------------------------------------------------------

LOGS = "GET /containers/zun-1/logs?stdout=1&stderr=1&timestamps=0&tail=4096"


def test_logs_without_a_terminal_lose_nothing_but_their_frames(bench: Bench) -> None:
    wire = frame("h\u00e9".encode()[:2]) + frame(b"") + frame(b"E", 2) + frame("h\u00e9".encode()[2:])
    bench.engine({INSPECT: inspection("running"), LOGS: Answer(pieces=[bytes([byte]) for byte in wire])})
    assert bench.docker().containers.logs("zun-1") == b"h\xc3E\xa9"


def test_logs_of_a_terminal_may_look_like_frames(bench: Bench) -> None:
    bench.engine({INSPECT: inspection("running", tty=True), LOGS: Answer(pieces=[frame(b"not a frame")])})
    assert bench.docker().containers.logs("zun-1") == frame(b"not a frame")


@pytest.mark.parametrize("tty", [False, True])
def test_logs_that_dry_up_or_end_early_give_what_was_read_and_say_so(bench: Bench, tty: bool) -> None:
    with silence() as silent:
        pieces = itertools.chain([b"text" if tty else frame(b"text")], silent)
        bench.engine({INSPECT: inspection("running", tty=tty), LOGS: Answer(pieces=pieces)})
        assert bench.docker(timeout=0.2).containers.logs("zun-1") == b"text\n[the stream ended early]\n"


def test_logs_that_end_in_a_frame_give_what_was_read_and_say_so(bench: Bench) -> None:
    bench.engine({INSPECT: inspection("running"), LOGS: Answer(pieces=[frame(b"one two")[:-4]])})
    assert bench.docker().containers.logs("zun-1") == b"one\n[the stream ended early]\n"


class Log:
    """A log, given as the Engine does: of the last lines of both streams, those of the streams asked for.

    `given` counts the lines that were read for it.
    """

    def __init__(self, frames: list[tuple[bytes, int]]) -> None:
        self.frames = frames
        self.given = 0

    def answer(self, request: Request) -> Answer | None:
        if request.target == "/containers/zun-1/json":
            return inspection("running")
        asked = dict(urllib.parse.parse_qsl(request.target.partition("?")[2]))
        streams = [number for number, name in ((1, "stdout"), (2, "stderr")) if asked[name] == "1"]
        first = 0 if asked["tail"] == "all" else max(0, len(self.frames) - int(asked["tail"]))
        last = self.frames[first:]
        self.given += len(last)
        return Answer(pieces=[b"".join(frame(text, number) for text, number in last if number in streams)])


@pytest.mark.parametrize("line", [b"\n", b"short\n", b"x" * 99 + b"\n"], ids=["empty", "short", "long"])
def test_the_newest_bytes_of_a_long_log_are_found_without_reading_it_all(bench: Bench, line: bytes) -> None:
    log, limit = Log([(b"old" + line, 1)] * 100_000 + [(line, 1)] * 6400), 6400
    bench.scripted(log.answer)
    assert bench.docker().containers.logs("zun-1", limit=limit) == (line * limit)[-limit:]
    assert log.given < 3 * limit


def test_of_a_log_without_line_ends_little_more_is_read_than_is_given(bench: Bench) -> None:
    longest, limit = b"x" * 16 * 1024, 64 * 1024
    log = Log([(longest, 1)] * 2000)
    bench.scripted(log.answer)
    assert bench.docker().containers.logs("zun-1", limit=limit) == b"x" * limit
    assert log.given * len(longest) <= 4 * limit


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 799, 800, 801, 6399, 6400])
@pytest.mark.parametrize("streams", [{}, {"stderr": False}, {"stdout": False}])
def test_a_log_within_the_limit_is_given_whole(bench: Bench, size: int, streams: dict[str, bool]) -> None:
    wanted, other = (2, 1) if "stdout" in streams else (1, 2)
    log = Log([(b"\n", wanted)] * size + [(b"noise\n", other)] * (7000 if streams else 0))
    bench.scripted(log.answer)
    assert bench.docker().containers.logs("zun-1", limit=6400, **streams) == b"\n" * size


def test_a_log_is_read_once_when_few_lines_are_asked_for(bench: Bench) -> None:
    log = Log([(b"line\n", 1)] * 9000)
    bench.scripted(log.answer)
    assert bench.docker().containers.logs("zun-1", limit=64 * 1024, tail=3) == b"line\n" * 3
    assert log.given == 3


def _exec(*inspections: dict[str, Any], output: Any = ()) -> Answers:
    bodies = [Answer(body={"ContainerID": "c0ffee", "Pid": 0, **each}) for each in inspections]
    return {
        "POST /containers/zun-1/exec": Answer(201, {"Id": "e1"}),
        "POST /exec/e1/start": Answer(pieces=output),
        "GET /exec/e1/json": bodies,
    }


@pytest.mark.parametrize("code", [0, 3, 126, 127, 137])
def test_an_exit_code_is_waited_for_until_it_is_known(bench: Bench, code: int) -> None:
    unknown = {"Running": True, "ExitCode": None}
    bench.engine(
        _exec(unknown, unknown, {"Running": False, "ExitCode": None}, {"Running": False, "ExitCode": code})
    )
    result = bench.docker().containers.execute("zun-1", ["true"], timeout=10)
    assert (result.output, result.exit_code) == (b"", code)


def test_a_command_may_be_silent_for_longer_than_a_call_may_take(bench: Bench) -> None:
    output = itertools.chain(late(0.4, b""), [frame(b"done")])
    bench.engine(_exec({"Running": False, "ExitCode": 0}, output=output))
    assert bench.docker(timeout=0.2).containers.execute("zun-1", ["slow"], timeout=10).output == b"done"


def test_a_command_that_never_stops_writing_ends_at_its_limit(bench: Bench) -> None:
    bench.engine(_exec({"Running": True, "ExitCode": None}, output=itertools.repeat(frame(b"y\n" * 500))))
    docker = bench.docker()
    began = time.monotonic()
    with pytest.raises(ExecTimeout, match="yes"):
        docker.containers.execute("zun-1", ["yes"], timeout=0.3)
    assert time.monotonic() - began < 3


def test_a_command_that_closes_its_output_and_goes_on_ends_at_its_limit(bench: Bench) -> None:
    bench.engine(_exec({"Running": True, "ExitCode": None}))
    with pytest.raises(ExecTimeout):
        bench.docker().containers.execute("zun-1", ["daemon"], timeout=0.3)


def test_a_stream_of_events_that_ends_by_itself_is_an_error(bench: Bench) -> None:
    event = {"Action": "die", "timeNano": 5, "Actor": {"ID": "c0ffee", "Attributes": {"name": "zun-1"}}}
    docker = bench.docker()
    with scripted_engine(bench.socket, lambda _: Answer(pieces=[json.dumps(event).encode() + b"\n"])):
        stream = docker.containers.events({})
        events = iter(stream)
        assert next(events) == RuntimeEvent("zun-1", "c0ffee", "die", 5)
        with pytest.raises(RuntimeUnreachable):
            next(events)
        stream.close()


def test_closing_events_ends_a_reader_that_waits(bench: Bench) -> None:
    docker = bench.docker()
    with (
        silence() as silent,
        scripted_engine(bench.socket, lambda _: Answer(pieces=silent)),
        concurrent.futures.ThreadPoolExecutor(1) as pool,
    ):
        stream = docker.containers.events({})
        reading = pool.submit(list, stream)
        stream.close()
        assert reading.result(timeout=5) == []


def test_many_calls_at_once_each_get_their_own_answer(bench: Bench) -> None:
    def script(request: Request) -> Answer:
        name = request.target.split("/")[2]
        return Answer(body={"Id": name, "Name": f"/{name}", "State": {"Status": "running"}})

    docker = bench.docker(pool_size=4)
    with scripted_engine(bench.socket, script), concurrent.futures.ThreadPoolExecutor(16) as pool:
        names = [f"zun-{number}" for number in range(200)]
        reports = list(pool.map(docker.containers.inspect, names))
    assert [report and report.id for report in reports] == names
    assert {report and report.state for report in reports} == {RuntimeState.RUNNING}


# --- pulls ----------------------------------------------------------------------------------------

PULL = "POST /images/create?fromImage=busybox:1"


def _pull(bench: Bench, answers: Answers, idle_timeout: float = 10) -> None:
    bench.engine(answers)
    bench.docker().images.pull("busybox:1", auth=None, idle_timeout=idle_timeout)


@pytest.mark.parametrize(
    "line",
    [
        b'{"errorDetail": {"message": "disk full"}, "error": "disk full"}\r\n',
        b'{"error": "disk full"}\n',
        b'{"errorDetail": {"code": 1, "message": "disk full"}}',
    ],
)
def test_an_error_inside_the_report_fails_the_pull(bench: Bench, line: bytes) -> None:
    with pytest.raises(ImagePullFailed, match="disk full"):
        _pull(bench, {PULL: Answer(pieces=[b'{"status": "Pulling"}\r\n', line])})


def test_a_pull_without_signs_of_life_fails(bench: Bench) -> None:
    with silence() as silent, pytest.raises(ImagePullFailed, match=r"busybox:1 made no progress for 0\.2 s"):
        _pull(bench, {PULL: Answer(pieces=itertools.chain([b'{"status": "Pulling"}\n'], silent))}, 0.2)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, ImageNotFound), (500, ImagePullFailed), (401, ImagePullFailed), (403, ImagePullFailed)],
)
def test_a_pull_that_is_refused_says_why(bench: Bench, status: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="because"):
        _pull(bench, {PULL: error(status, "because")})


def test_a_pull_that_leaves_no_image_fails(bench: Bench) -> None:
    with pytest.raises(ImagePullFailed, match="busybox:1"):
        _pull(bench, {PULL: Answer(pieces=[b'{"status": "done"}\n'])})


def test_each_sign_of_life_is_passed_on_as_it_comes(bench: Bench) -> None:
    """The last piece is sent when the lines before it were seen; it begins in the middle of a line."""
    signs = threading.Semaphore(0)

    def report() -> Iterator[bytes]:
        yield b'{"status": "a"}\r\n{"status": "b"}\r\n{"sta'
        seen.append(signs.acquire(timeout=10) and signs.acquire(timeout=10))
        yield b'tus": "c"}\r\n'

    seen: list[bool] = []
    image = {"Id": "sha256:1", "RepoTags": ["busybox:1"], "Size": 7}
    bench.engine({PULL: Answer(pieces=report()), "GET /images/busybox:1/json": Answer(body=image)})
    facts = bench.docker().images.pull("busybox:1", auth=None, idle_timeout=10, progress=signs.release)
    assert seen == [True]
    assert signs.acquire(blocking=False)
    assert (facts.id, facts.tags, facts.size) == ("sha256:1", ("busybox:1",), 7)


# --- searches -------------------------------------------------------------------------------------

SEARCH = "GET /images/search?term=redis&limit=100"


def test_what_a_search_found_is_read_as_the_engine_words_it(bench: Bench) -> None:
    found = [
        {
            "star_count": 12,
            "is_official": True,
            "name": "redis",
            "is_automated": False,
            "description": "A database",
        },
        {"name": "team/redis", "description": None},
    ]
    bench.engine({SEARCH: Answer(body=found)})
    assert bench.docker().images.search("redis") == [
        FoundImage("redis", "A database", is_official=True, star_count=12),
        FoundImage("team/redis"),
    ]


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_a_registry_that_the_engine_cannot_search_is_told_in_its_words(bench: Bench, status: int) -> None:
    bench.engine({SEARCH: error(status, "lookup index.docker.io: no such host")})
    with pytest.raises(ImageSearchFailed, match="no such host"):
        bench.docker().images.search("redis")


@pytest.mark.parametrize("body", [{"a": 1}, [{"description": "nameless"}], ["redis"]])
def test_a_search_that_makes_no_sense_is_a_failed_one(bench: Bench, body: Any) -> None:
    bench.engine({SEARCH: Answer(body=body)})
    with pytest.raises(ImageSearchFailed):
        bench.docker().images.search("redis")


def test_an_engine_that_is_silent_during_a_search_is_a_timeout(bench: Bench) -> None:
    with silence() as silent:
        bench.engine({SEARCH: Answer(pieces=silent)})
        with pytest.raises(RuntimeTimeout):
            bench.docker(timeout=0.2).images.search("redis")


# --- helpers --------------------------------------------------------------------------------------


@contextlib.contextmanager
def silence() -> Iterator[Iterator[bytes]]:
    """Pieces of an answer that do not come before the end of the block."""
    over = threading.Event()

    def wait() -> Iterator[bytes]:
        over.wait()
        yield from ()

    try:
        yield wait()
    finally:
        over.set()


def late(seconds: float, piece: bytes = b"{}") -> Iterator[bytes]:
    """An answer that takes its time."""
    threading.Event().wait(seconds)
    yield piece
