"""Things to do later: repeated tasks and single calls, on one thread that sleeps in between."""

import dataclasses
import heapq
import itertools
import logging
import random
import threading
from collections.abc import Callable

from tierce.model.clock import Clock
from tierce.model.errors import TierceError

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(order=True, slots=True)
class _Entry:
    due: float
    number: int
    call: Callable[[], None] = dataclasses.field(compare=False)
    interval: float | None = dataclasses.field(compare=False, default=None)


class Periodic:
    """Intervals are in seconds of the clock; repeated tasks get up to 5 % of jitter."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng
        self._heap: list[_Entry] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="tierce-periodic", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Begin nothing more, and wait for the task that runs."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def every(self, interval: float, call: Callable[[], None]) -> None:
        """Call again and again, the first time after one interval."""
        self._push(interval, call, interval)

    def after(self, delay: float, call: Callable[[], None]) -> None:
        """Call once."""
        self._push(delay, call, None)

    def _push(self, delay: float, call: Callable[[], None], interval: float | None) -> None:
        if interval is not None:
            delay *= 1 + 0.05 * self._rng.random()
        with self._changed:
            due = self._clock.monotonic() + delay
            heapq.heappush(self._heap, _Entry(due, next(self._numbers), call, interval))
            self._changed.notify()

    def _loop(self) -> None:
        while (entry := self._next()) is not None:
            try:
                entry.call()
            except TierceError as exc:
                LOG.warning("A periodic task failed; it runs again at its next time: %s", exc)
            except Exception:
                LOG.exception("A periodic task failed; it runs again at its next time")
            if entry.interval is not None:
                self._push(entry.interval, entry.call, entry.interval)

    def _next(self) -> _Entry | None:
        with self._changed:
            while not self._stopping:
                wait = self._heap[0].due - self._clock.monotonic() if self._heap else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._heap)
                self._changed.wait(wait)
        return None
