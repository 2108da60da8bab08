"""Restart the dockerd of a private Engine, in the namespaces it had."""

import pathlib
import subprocess

_START = 'setsid "$@" </dev/null >>"$0" 2>&1 & echo $!'
_DEADLINE = 30.0
"""Seconds in which dockerd must have ended."""


def restart(engine: pathlib.Path) -> None:
    """Stop the dockerd of this directory (see `engines.py`) and start it anew; its containers end with it.

    It may take a moment until it answers.
    """
    run = engine / "run"
    old = (run / "dockerd.pid").read_text().strip()
    command = pathlib.Path(f"/proc/{old}/cmdline").read_text().split("\0")[:-1]
    neighbour = (run / "containerd.pid").read_text().strip()
    subprocess.run(["kill", old], check=True)
    ended = ["tail", "--sleep-interval=.1", f"--pid={old}", "-f", "/dev/null"]
    subprocess.run(ended, timeout=_DEADLINE, check=True)
    enter = ["nsenter", "--net", "--mount", "--root", "--target", neighbour]
    started = subprocess.run(
        ["sh", "-c", _START, str(engine / "dockerd.log"), *enter, *command],
        capture_output=True,
        text=True,
        check=True,
    )
    (run / "dockerd.pid").write_text(started.stdout)
