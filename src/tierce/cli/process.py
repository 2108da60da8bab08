"""A program as a process: what each does first, the state that it holds alone, and what ends it."""

import contextlib
import fcntl
import logging
import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, TextIO

from oslo_config import cfg

from tierce.cli.malloc import give_large_blocks_back
from tierce.db.address import parse_url
from tierce.model.errors import TierceError
from tierce.observability import logs

LOG = logging.getLogger(__name__)


class AlreadyRunning(TierceError):
    """Another process serves the same node with the same state."""


class Stop:
    """What a program waits for: SIGTERM, SIGINT, or that it may not go on. `code` is its exit code then."""

    def __init__(self) -> None:
        self.code = 0
        self._ended, self._end = os.pipe()
        os.set_blocking(self._end, False)
        # The interpreter writes to the pipe as the signal arrives. A handler in Python that set an event
        # could meet the wait for it half way, its lock held: a second signal then hung the program.
        signal.set_wakeup_fd(self._end, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)

    def fail(self) -> None:
        """Have the program end as one that failed."""
        self.code = 1
        with contextlib.suppress(BlockingIOError):  # it is full, so the wait is over
            os.write(self._end, b"\0")

    def wait(self) -> None:
        os.read(self._ended, 1)


def prepare(conf: cfg.ConfigOpts) -> None:
    """What every program does first."""
    give_large_blocks_back()
    logs.setup(conf)
    # Database and volumes hold what users injected: nobody else on the machine reads them.
    os.umask(0o077)


@contextlib.contextmanager
def only_one(conf: cfg.ConfigOpts) -> Iterator[str]:
    """Hold the node's lock, and give the id of this installation, which its lock file keeps.

    Raises AlreadyRunning when another process has it, TierceError when the state has no place to be.
    """
    state = _state_directory(conf)
    with _lock_file(state, conf.host) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise AlreadyRunning(
                f"Another process runs the node {conf.host} with its state in {state}. Stop it first."
            ) from exc
        file.seek(0)
        installation = file.read().strip()
        if not installation:
            installation = str(uuid.uuid4())
            file.write(f"{installation}\n")
            file.flush()
        yield installation


def _lock_file(state: Path, host: str) -> TextIO:
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(state / f"{host}.lock", "a+")
    except OSError as exc:
        raise TierceError(
            f"The node {host} cannot keep its state in {state} ({exc.strerror}): have a directory there that "
            "this account may write to, or name another ([DEFAULT] state_path; the database's for SQLite)."
        ) from exc


def _state_directory(conf: cfg.ConfigOpts) -> Path:
    """Where the state is: two processes on one SQLite database are two on one state, whatever their paths."""
    url = parse_url(conf)
    in_file = url.get_backend_name() == "sqlite" and url.database
    return Path(url.database or "").resolve().parent if in_file else Path(conf.state_path)


def end_agent(drained: bool, code: int) -> NoReturn:
    """End a program whose agent was stopped, with this exit code."""
    if not drained:
        LOG.warning("Some actions did not finish in time; the next start takes them up again")
    logging.shutdown()
    # Threads that still work, or wait for a silent bus, would hold an ordinary exit.
    os._exit(code)
