"""Start a Python program by a fork of a process that has imported Tierce, instead of a new interpreter.

Imports are most of what a start costs (a second of processor), and the crash tests start a hundred services.
"""

import multiprocessing
import os
import pathlib
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tierce.cli.standalone"])


class Forked:
    """A process as `subprocess.Popen` has it; `command` is this interpreter, a script and its arguments."""

    def __init__(self, command: Sequence[str], log: pathlib.Path, environment: Mapping[str, str]) -> None:
        interpreter, *program = command
        assert interpreter == sys.executable
        self._process = _FORKS.Process(target=_run, args=(program, log, dict(environment)), daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("a forked program", timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(program: Sequence[str], log: pathlib.Path, environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    with log.open("ab") as output:
        for standard in (1, 2):
            os.dup2(output.fileno(), standard)
    sys.argv[:] = program
    runpy.run_path(program[0], run_name="__main__")
