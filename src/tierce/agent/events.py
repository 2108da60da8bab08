"""Follow the runtime's events, so that a container's row changes when the container does."""

import contextlib
import logging
import threading
from collections.abc import Callable

from tierce.agent.operations.base import NAME_PREFIX, Plugs, unix_ns
from tierce.model.errors import RuntimeFailure
from tierce.runtimes.base import EventStream

LOG = logging.getLogger(__name__)

_RECONNECT_AFTER = 2.0
"""Seconds between looks for a runtime that does not answer."""


class EventFollower:
    """One thread that reads events and asks for a refresh of the containers they name."""

    def __init__(
        self, plugs: Plugs, refresh: Callable[[str, int], None], compare_all: Callable[[], None]
    ) -> None:
        """`compare_all` makes up for the events missed while there was no connection."""
        self._plugs = plugs
        self._refresh = refresh
        self._compare_all = compare_all
        self._stopping = threading.Event()
        self._stream: EventStream | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="tierce-events", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """End the thread, also when it waits for an event."""
        with self._lock:
            self._stopping.set()
            if self._stream is not None:
                self._stream.close()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _loop(self) -> None:
        reachable = True
        while not self._stopping.is_set():
            try:
                self._follow()
                reachable = True
            except RuntimeFailure as exc:
                if reachable and not self._stopping.is_set():
                    LOG.warning("No events: %s", exc)
                reachable = False
                self._stopping.wait(_RECONNECT_AFTER)
            except Exception:
                LOG.exception("Following events failed; it starts again")
                self._stopping.wait(_RECONNECT_AFTER)

    def _follow(self) -> None:
        now = unix_ns(self._plugs.clock)
        stream = self._plugs.runtime.containers.events(self._plugs.owner_labels, since_ns=now)
        with contextlib.closing(stream):
            with self._lock:
                if self._stopping.is_set():
                    return
                self._stream = stream
            # Connected first: what happens while everything is compared arrives as an event.
            self._compare_all()
            for event in stream:
                name = event.container_name
                if name.startswith(NAME_PREFIX):
                    self._refresh(name.removeprefix(NAME_PREFIX), event.time_ns)
