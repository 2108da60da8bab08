"""Room for requests that wait for a node: a node that hangs must not take every thread that serves, nor one
project every place.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator

from tierce.model.context import RequestContext
from tierce.model.errors import ServiceBusy

_WAIT_FOR_A_PLACE = 1.0
"""Seconds; enough for a burst of short calls, too short for one that hangs to be noticed by others."""


class Places:
    """`count` requests may wait for nodes at once, of which three quarters may be one project's. One object
    serves a whole process.
    """

    def __init__(self, count: int) -> None:
        self._count = max(1, count)
        self._share = self._count - self._count // 4
        self._changed = threading.Condition()
        self._held: Counter[str | None] = Counter()

    @contextlib.contextmanager
    def one(self, context: RequestContext) -> Iterator[None]:
        """Hold a place for the caller's project. Raises ServiceBusy when none gets free in a second."""
        project = context.project_id
        with self._changed:
            if not self._changed.wait_for(lambda: self._has_room(project), _WAIT_FOR_A_PLACE):
                raise ServiceBusy("Too many requests wait for nodes already. Try again later.")
            self._held[project] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held[project] -= 1
                self._held += Counter()  # drops what is zero
                self._changed.notify_all()

    def _has_room(self, project: str | None) -> bool:
        return self._held.total() < self._count and self._held[project] < self._share
