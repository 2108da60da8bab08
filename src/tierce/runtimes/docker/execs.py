"""A command inside a container: prepared, or run and waited for (`POST /containers/{id}/exec` and so on)."""

import contextlib
import logging
import pathlib
import shlex
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import psutil

from tierce.model.container import ExecResult
from tierce.model.errors import ExecTimeout, RuntimeUnreachable
from tierce.runtimes.docker.connection import Connection, Stream
from tierce.runtimes.docker.frames import demultiplex, newest
from tierce.runtimes.docker.report import readable

LOG = logging.getLogger(__name__)

_OUTPUT_LIMIT = 16 * 1024 * 1024  # bytes; a command may write as fast as this program can read
_LOOK_AGAIN = 0.02  # seconds


def run(connection: Connection, ref: str, command: Sequence[str], timeout: float, *, tty: bool) -> ExecResult:
    """Run `command` and wait for its end; of its output, the newest 16 MiB.

    A command that could not be executed is a result too: exit code 126 or 127, the reason in the
    output. Raises ExecTimeout after `timeout` s, RuntimeConflict when the container does not run.
    """
    exec_id = prepare(connection, ref, command, {"Tty": True} if tty else {})
    start = {"Detach": False, "Tty": tty}
    # The deadline bounds the reading, so the wait for a single piece must be the longer one.
    patience = connection.timeout + timeout
    with (
        connection.stream("POST", "/exec/{}/start", exec_id, body=start, timeout=patience) as stream,
        _deadline(timeout, stream) as expired,
    ):
        output = newest(_until_cut(stream if tty else demultiplex(stream), expired), _OUTPUT_LIMIT)
        while not _finished(found := connection.call("GET", "/exec/{}/json", exec_id)):
            if expired.wait(_LOOK_AGAIN):
                _end(found.get("Pid") or 0, found["ContainerID"])
                raise ExecTimeout(
                    f"Timeout on executing command: {shlex.join(command)} (limit: {timeout:g} s)"
                )
    return ExecResult(output=output, exit_code=found["ExitCode"])


def prepare(connection: Connection, ref: str, command: Sequence[str], more: Mapping[str, bool]) -> str:
    """Have `command` ready in the container, with `more` of what an exec may have; its id."""
    wanted = {"AttachStdout": True, "AttachStderr": True, "Cmd": list(command), **more}
    with readable():
        return str(connection.call("POST", "/containers/{}/exec", ref, body=wanted)["Id"])


@contextlib.contextmanager
def _deadline(timeout: float, stream: Stream) -> Iterator[threading.Event]:
    """After `timeout` s, set the event and end the reading of the stream."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        stream.cut()

    timer = threading.Timer(timeout, expire)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def _until_cut(pieces: Iterable[bytes], expired: threading.Event) -> Iterator[bytes]:
    try:
        yield from pieces
    except RuntimeUnreachable:
        if not expired.is_set():
            raise


@readable()
def _finished(found: Mapping[str, Any]) -> bool:
    """The Engine may say for a moment that nothing runs and not yet know the exit code."""
    return not found["Running"] and found["ExitCode"] is not None


def _end(pid: int, container_id: str) -> None:
    """Kill process `pid` and what it started, if this program can.

    The number is the Engine's. Where the Engine counts in another PID namespace or on another machine
    it may be anyone's here, so a process that is not in the container's control group is left alone:
    it ends when its container does.
    """
    try:
        if pid and container_id in pathlib.Path(f"/proc/{pid}/cgroup").read_text():
            process = psutil.Process(pid)
            for each in (process, *process.children(recursive=True)):
                each.kill()
    except (OSError, psutil.Error) as error:
        LOG.warning("A timed-out command could not be ended in container %s: %s", container_id, error)
