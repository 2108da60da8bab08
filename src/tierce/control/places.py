"""Room for requests that wait for a node: a node that hangs must not take every thread that serves."""

import contextlib
import threading
from collections.abc import Iterator

from tierce.model.errors import ServiceBusy

_WAIT_FOR_A_PLACE = 1.0
"""Seconds; enough for a burst of short calls, too short for one that hangs to be noticed by others."""


class Places:
    """As many may wait for nodes at once; one object serves a whole process."""

    def __init__(self, count: int) -> None:
        self._places = threading.BoundedSemaphore(max(1, count))

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Hold a place. Raises ServiceBusy when none gets free in a second."""
        if not self._places.acquire(timeout=_WAIT_FOR_A_PLACE):
            raise ServiceBusy("Too many requests wait for nodes already. Try again later.")
        try:
            yield
        finally:
            self._places.release()
