"""Stop and start the dockerd of a private Engine (see `engines.py`), in the namespaces it had."""

import pathlib
import subprocess
from collections.abc import Sequence

from tests.support.waiting import DEADLINE

_START = 'setsid "$@" </dev/null >>"$0" 2>&1 & echo $!'


def restart(engine: pathlib.Path) -> None:
    """Stop the dockerd of this directory and start it anew; it may take a moment until it answers."""
    start(engine, stop(engine))


def stop(engine: pathlib.Path) -> Sequence[str]:
    """Stop the dockerd of this directory, and its containers with it; the command that starts it."""
    pid = _pid_file(engine).read_text().strip()
    command = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    subprocess.run(["kill", pid], check=True)
    ended = ["tail", "--sleep-interval=.1", f"--pid={pid}", "-f", "/dev/null"]
    subprocess.run(ended, timeout=DEADLINE, check=True)
    return command


def start(engine: pathlib.Path, command: Sequence[str]) -> None:
    """Start the dockerd that was stopped; it may take a moment until it answers."""
    neighbour = (engine / "run" / "containerd.pid").read_text().strip()
    enter = ["nsenter", "--net", "--mount", "--root", "--target", neighbour]
    started = subprocess.run(
        ["sh", "-c", _START, str(engine / "dockerd.log"), *enter, *command],
        capture_output=True,
        text=True,
        check=True,
    )
    _pid_file(engine).write_text(started.stdout)


def _pid_file(engine: pathlib.Path) -> pathlib.Path:
    return engine / "run" / "dockerd.pid"
