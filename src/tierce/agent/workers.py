"""Threads that do what is submitted, so many at a time; one that only waits makes room for another."""

import collections
import contextlib
import logging
import threading
from collections.abc import Callable, Iterator

LOG = logging.getLogger(__name__)

Task = Callable[[], None]


class Workers:
    """Every method may be called from any thread."""

    def __init__(self, count: int) -> None:
        """`count` work at a time, beside those that wait."""
        self._count = count
        self._lock = threading.Lock()
        self._submitted: collections.deque[Task] = collections.deque()
        self._working = 0
        self._thread = threading.local()

    def submit(self, task: Task) -> None:
        """Have the task done soon, in the order of submission."""
        with self._lock:
            self._submitted.append(task)
            self._engage()

    def look_again(self) -> None:
        """Begin what has found no thread, if there is one by now."""
        with self._lock:
            self._engage()

    def cancel(self) -> None:
        """Forget what is not begun."""
        with self._lock:
            self._submitted.clear()

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """What is done inside takes long and costs this machine nothing: a worker makes room for another.

        Afterwards it goes on at once, beside as many as there are then: what is left of a task is short. A
        thread that is no worker does nothing here.
        """
        if not getattr(self._thread, "is_worker", False):
            yield
            return
        with self._lock:
            self._working -= 1
            self._engage()
        try:
            yield
        finally:
            with self._lock:
                self._working += 1

    def _engage(self) -> None:
        while self._submitted and self._working < self._count:
            task = self._submitted[0]
            # A daemon: what an agent does not finish is found at its next start.
            thread = threading.Thread(target=self._work, args=[task], name="tierce-action", daemon=True)
            try:
                thread.start()
            except RuntimeError as exc:
                # The machine has no more threads for us. Whichever ends next takes the task over, and so does
                # `look_again` where none is left to end.
                LOG.warning("Work waits for one of %d threads to end: %s", threading.active_count(), exc)
                return
            self._submitted.popleft()
            self._working += 1

    def _work(self, task: Task) -> None:
        self._thread.is_worker = True
        following: Task | None = task
        while following is not None:
            try:
                following()
            except BaseException:
                LOG.exception("A task ended by an error that it should have dealt with")
            following = self._next()

    def _next(self) -> Task | None:
        """What this thread does now; None when it is to end."""
        with self._lock:
            if self._submitted and self._working <= self._count:
                return self._submitted.popleft()
            self._working -= 1
            return None
