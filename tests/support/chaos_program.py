"""`tierce` as chaos runs it: its node's engine is a machine that outlives it, and its wall clock can be set.

Beside its configuration file are the sockets of the machines (`HOST.machine`), and a file `ahead` with the
seconds that every program's wall clock is ahead of this machine's. While there is a file `die`, the first
process that is about to tell a node something removes it and ends by SIGKILL.
"""

import datetime
import os
import pathlib
import signal
import sys
from typing import Any

from oslo_config import cfg

from tests.support.machines import RemoteRuntime
from tierce.cli.main import main
from tierce.control.messages import Messages
from tierce.model.clock import SystemClock
from tierce.runtimes.fake import FakeRuntime

_NOW = SystemClock.now
_SEND = Messages._send


class SetClock(SystemClock):
    """The machine's clocks, with a wall clock that a file sets."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._file = directory / "ahead"

    def step(self, seconds: float) -> None:
        """Have every program's wall clock this much ahead, at once."""
        new = self._file.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self._file)

    def now(self) -> datetime.datetime:
        return _NOW(self) + datetime.timedelta(seconds=float(self._file.read_text()))


def run(directory: pathlib.Path) -> int:
    clock = SetClock(directory)

    def connect(conf: cfg.ConfigOpts) -> RemoteRuntime:
        return RemoteRuntime(directory / f"{conf.host}.machine")

    def send(messages: Messages, *arguments: Any) -> None:
        try:
            (directory / "die").unlink()
        except FileNotFoundError:
            _SEND(messages, *arguments)
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    SystemClock.now = lambda _: clock.now()  # type: ignore[assignment,method-assign]  # for what builds its own
    FakeRuntime.from_conf = connect  # type: ignore[assignment,method-assign]  # what `fake` is here
    Messages._send = send  # type: ignore[assignment,method-assign]  # the point between commit and cast
    return main()


if __name__ == "__main__":
    sys.exit(run(pathlib.Path(sys.argv[sys.argv.index("--config-file") + 1]).parent))
