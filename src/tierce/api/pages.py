"""Long lists that many ask for at once, rendered once a second while nothing in them changes.

Dashboards and scripts poll, and most of what they get is what they had. Whether a list is still the
same costs the database a fraction of reading it, and Python next to nothing.
"""

import dataclasses
import threading
from collections.abc import Callable, Hashable
from typing import Final

from tierce.model.clock import Clock

_LIFETIME: Final = 1.0
"""Seconds. The ages in a list run on, and a change by a writer that does not count is seen by then."""


@dataclasses.dataclass(slots=True)
class _Page:
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    fingerprint: Hashable = None
    rendered: float = float("-inf")
    body: bytes = b""


class Pages:
    """Thread-safe; one serves a whole process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pages: dict[Hashable, _Page] = {}

    def body(self, key: Hashable, fingerprint: Hashable, render: Callable[[], bytes]) -> bytes:
        """The body of the list that `key` describes completely, as it is since `fingerprint` was taken.

        Those who ask for one list at a time wait for one rendering of it.
        """
        page = self._page(key)
        with page.lock:
            now = self._clock.monotonic()
            if page.fingerprint != fingerprint or now - page.rendered >= _LIFETIME:
                page.body = render()
                page.fingerprint, page.rendered = fingerprint, now
            return page.body

    def _page(self, key: Hashable) -> _Page:
        with self._lock:
            page = self._pages.get(key)
            if page is None:
                oldest = self._clock.monotonic() - _LIFETIME
                self._pages = {
                    other: kept
                    for other, kept in self._pages.items()
                    if kept.rendered > oldest or kept.lock.locked()
                }
                page = self._pages[key] = _Page()
            return page
