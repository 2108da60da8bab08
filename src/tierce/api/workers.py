"""Worker processes that share a port, and the parent that keeps their number.

The parent takes the port and serves nothing. Its workers, forked while it has neither threads nor
connections, listen there beside each other, and the system shares out the connections.
"""

import contextlib
import dataclasses
import errno
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from tierce.api.server import AddressInUse, AddressUnusable
from tierce.model.errors import TierceError

LOG = logging.getLogger(__name__)

Work = Callable[[str, int, Callable[[], None]], int]
"""Serves at host and port until SIGTERM, calls the third argument when it does, and gives the exit code."""

_STOP_SIGNALS: Final = {signal.SIGTERM, signal.SIGINT}
_SIGNALS: Final = {*_STOP_SIGNALS, signal.SIGCHLD}

_STOP_SECONDS: Final = 20.0
"""After which a worker that was told to stop is killed: more than its server gives to requests."""

_PAUSE: Final = 1.0
"""Seconds before a worker is replaced that ended before it served."""


@dataclasses.dataclass
class _Worker:
    """A process, and the end of a pipe on which it says that it serves."""

    pid: int
    pipe: int
    served: bool = False

    def look(self) -> bool:
        """Bring `served` up to date, and say whether the process has ended; not to be asked after that."""
        if not self.served:
            with contextlib.suppress(BlockingIOError):
                self.served = os.read(self.pipe, 1) != b""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            LOG.info("Worker %d has ended with %d", pid, os.waitstatus_to_exitcode(status))
            os.close(self.pipe)
        return bool(pid)


class Workers:
    def __init__(self, host: str, port: int, count: int, work: Work) -> None:
        self._host = host
        self._port = port
        self._count = count
        self._work = work
        self._workers: list[_Worker] = []

    def run(self) -> int:
        """Keep the workers until SIGTERM or SIGINT; 1 when one ended and none had ever served.

        Raises AddressInUse, AddressUnusable.
        """
        with _reserved(self._host, self._port) as self._port:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
            # A worker that reads from it learns when this process, which never writes, has died.
            self._life, mine = os.pipe()
            try:
                return self._supervise(mine)
            finally:
                self._stop()
                os.close(self._life)
                os.close(mine)
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _supervise(self, mine: int) -> int:
        served = False
        while True:
            while len(self._workers) < self._count:
                self._fork(mine)
            if signal.sigwaitinfo(_SIGNALS).si_signo in _STOP_SIGNALS:
                return 0
            ended = self._bury()
            served = served or any(worker.served for worker in [*self._workers, *ended])
            if ended and not served:
                return 1
            if not all(worker.served for worker in ended) and signal.sigtimedwait(_STOP_SIGNALS, _PAUSE):
                return 0

    def _fork(self, mine: int) -> None:
        theirs, ours = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(mine)
            self._be_worker(ours)
        os.close(ours)
        os.set_blocking(theirs, False)
        self._workers.append(_Worker(pid, theirs))

    def _be_worker(self, pipe: int) -> NoReturn:
        code = 1
        try:
            threading.Thread(target=self._follow_parent, daemon=True).start()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            code = self._work(self._host, self._port, lambda: _say(pipe))
        except TierceError as exc:
            print(f"tierce: {exc}", file=sys.stderr)  # noqa: T201 (as the command's own refusals are)
        except BaseException:
            LOG.exception("The worker ends")
        finally:
            logging.shutdown()
            # What the parent does at its exit is not the worker's to do.
            os._exit(code)

    def _follow_parent(self) -> None:
        os.read(self._life, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _bury(self) -> list[_Worker]:
        """The workers that have ended since."""
        ended = [worker for worker in self._workers if worker.look()]
        self._workers = [worker for worker in self._workers if worker not in ended]
        return ended

    def _stop(self) -> None:
        for worker in self._workers:
            os.kill(worker.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while self._workers and (left := deadline - time.monotonic()) > 0:
            self._bury()
            if self._workers:
                signal.sigtimedwait({signal.SIGCHLD}, left)
        for worker in self._workers:
            LOG.warning("Worker %d does not stop, and is killed", worker.pid)
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)
            os.close(worker.pipe)


def _say(pipe: int) -> None:
    os.write(pipe, b"1")
    os.close(pipe)


@contextlib.contextmanager
def _reserved(host: str, port: int) -> Iterator[int]:
    """The port, bound so that only this process's children can listen on it.

    Raises AddressInUse, AddressUnusable.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as exc:
        raise AddressUnusable(host, port, exc) from exc
    with socket.socket(family, kind, protocol) as taken:
        # Connections that have ended are no hindrance; whoever listens is, also when he would share.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(address)
        except OSError as exc:
            if exc.errno == errno.EADDRINUSE:
                raise AddressInUse(host, port) from exc
            raise AddressUnusable(host, port, exc) from exc
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        yield taken.getsockname()[1]
