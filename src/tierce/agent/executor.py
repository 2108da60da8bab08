"""One ordered queue per container, worked on by the workers.

The queue itself is in the database; here is only which containers are to be looked at, and the rule
that at most one thread works on a container at a time.
"""

import dataclasses
import logging
import threading
from collections.abc import Callable

from tierce.agent.runner import RetryLater, Runner
from tierce.agent.workers import Workers
from tierce.model.errors import RuntimeFailure, TierceError
from tierce.observability import logs

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(slots=True)
class _Turn:
    """What is wanted of one container. It exists while something is wanted or being done."""

    look: bool = False
    refresh_ns: int = 0
    """The newest event (unix ns) that nobody has looked into yet; 0: none."""


class Executor:
    """`wake` and `refresh` return at once and may be called from any thread, also repeatedly."""

    def __init__(
        self,
        runner: Runner,
        refresh: Callable[[str], None],
        postpone: Callable[[str], None],
        workers: Workers,
    ) -> None:
        """`refresh` brings a container's row up to date; `postpone` arranges a later look at everything."""
        self._runner = runner
        self._refresh_row = refresh
        self._postpone = postpone
        self._workers = workers
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._turns: dict[str, _Turn] = {}
        self._running: set[str] = set()
        self._unrecorded: set[str] = set()
        """Containers whose last run could not write what it did."""
        self._stopping = False

    def wake(self, uuid: str) -> None:
        """Look for queued actions of a container."""
        self._want(uuid, look=True)

    def refresh(self, uuid: str, event_ns: int) -> None:
        """Look at what the runtime says of a container, unless an action has looked since `event_ns`."""
        self._want(uuid, event_ns=event_ns)

    def is_busy(self, uuid: str) -> bool:
        """Whether a thread works on the container or soon will."""
        with self._lock:
            return uuid in self._turns

    def working_on(self) -> set[str]:
        """Containers that a thread works on or soon will."""
        with self._lock:
            return set(self._turns)

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing is wanted or being done; False when `timeout` s were not enough."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._turns, timeout)

    def wait_for(self, uuid: str, timeout: float) -> bool:
        """Wait until nothing is wanted of or being done to one container; False after `timeout` s."""
        with self._idle:
            return self._idle.wait_for(lambda: uuid not in self._turns, timeout)

    def stop(self, timeout: float) -> bool:
        """Begin nothing more, and wait for what runs; False when some of it still does.

        What does not finish is found in the database at the next start.
        """
        with self._lock:
            self._stopping = True
        self._workers.cancel()
        with self._idle:
            return self._idle.wait_for(lambda: not self._running, timeout)

    def _want(self, uuid: str, *, look: bool = False, event_ns: int = 0) -> None:
        with self._lock:
            if self._stopping:
                return
            turn = self._turns.get(uuid)
            if turn is None:
                self._turns[uuid] = _Turn(look, event_ns)
                self._workers.submit(lambda: self._take_turn(uuid))
            else:
                turn.look |= look
                turn.refresh_ns = max(turn.refresh_ns, event_ns)
                self._workers.look_again()  # for the turn may have found no thread

    def _take_turn(self, uuid: str) -> None:
        with logs.about(container=uuid):
            self._work(uuid)

    def _work(self, uuid: str) -> None:
        """Do what is wanted of a container until nothing is."""
        with self._lock:
            self._running.add(uuid)
        try:
            if uuid in self._unrecorded:
                self._runner.take_up(uuid)
                self._unrecorded.discard(uuid)
            accounted_ns = 0
            while (wanted := self._take(uuid, accounted_ns)) is not None:
                if wanted.look:
                    accounted_ns = max(accounted_ns, self._run_actions(uuid))
                if wanted.refresh_ns > accounted_ns:
                    self._look_into(uuid)
        except Exception as exc:
            # An error of ours says in its own words what is wrong, and needs no traceback.
            expected = isinstance(exc, TierceError)
            LOG.warning("Work on container %s is tried again: %s", uuid, exc, exc_info=not expected)
            self._unrecorded.add(uuid)
            self._end(uuid)
            self._postpone(uuid)
        except BaseException:
            self._end(uuid)
            raise

    def _run_actions(self, uuid: str) -> int:
        """Run every queued action; the time up to which events are accounted for."""
        accounted_ns = 0
        try:
            more = True
            while more and not self._stopping and (ran := self._runner.run_next(uuid)) is not None:
                accounted_ns = max(accounted_ns, ran.observed_ns)
                more = ran.more
                if ran.gone and not more:
                    # The event of its end may have come, and been passed over, while more was queued.
                    self._look_into(uuid)
        except RetryLater:
            self._postpone(uuid)
        return accounted_ns

    def _look_into(self, uuid: str) -> None:
        """Bring the row up to date if the runtime can tell; an action that waits is run all the same."""
        try:
            self._refresh_row(uuid)
        except RuntimeFailure as exc:
            # Everything is compared when the runtime answers again.
            LOG.warning("Container %s is left for the next comparison: %s", uuid, exc)

    def _take(self, uuid: str, accounted_ns: int) -> _Turn | None:
        """What is wanted now; None, and the turn ends, when nothing is."""
        with self._lock:
            turn = self._turns[uuid]
            if not self._stopping and (turn.look or turn.refresh_ns > accounted_ns):
                self._turns[uuid] = _Turn()
                return turn
            self._forget(uuid)
            return None

    def _end(self, uuid: str) -> None:
        with self._lock:
            self._forget(uuid)

    def _forget(self, uuid: str) -> None:
        self._turns.pop(uuid, None)
        self._running.discard(uuid)
        self._idle.notify_all()
