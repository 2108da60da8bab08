"""The Engine's events, from `GET /events`: the news that a container should be looked at again."""

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from tierce.model.container import RuntimeEvent
from tierce.model.errors import RuntimeUnreachable
from tierce.runtimes.docker.connection import Connection, json_filter, label_filter

_CHANGES = ["create", "start", "die", "oom", "pause", "unpause", "rename", "destroy"]
"""Not each exec and health check: those change nothing that is reported."""


class EngineEvents:
    """An open stream of events; it breaks with the connection, and who listens opens another."""

    def __init__(self, connection: Connection, owner_labels: Mapping[str, str], since_ns: int | None) -> None:
        """Connect. Without `since_ns`, an event of the very moment of connecting may be missed."""
        params = {
            "filters": json_filter(type=["container"], event=_CHANGES, label=label_filter(owner_labels))
        }
        if since_ns is not None:
            seconds, nanoseconds = divmod(since_ns, 1_000_000_000)
            params["since"] = f"{seconds}.{nanoseconds:09d}"
        self._stream = connection.follow("/events", params=params)
        self._lines = self._stream.lines()
        self._reading = threading.Lock()
        self._closed = False

    def __iter__(self) -> Iterator[RuntimeEvent]:
        """Block for each event. Ends after `close`; raises RuntimeUnreachable when the Engine goes away."""
        while True:
            try:
                with self._reading:
                    line = None if self._closed else next(self._lines, None)
            except RuntimeUnreachable:
                if not self._closed:
                    raise
                line = None
            if self._closed:
                return
            if line is None:
                raise RuntimeUnreachable("Docker ended the stream of events.")
            yield _event(line)

    def close(self) -> None:
        """End the iteration, also one that is waiting in another thread."""
        self._closed = True
        self._stream.cut()
        with self._reading:
            self._stream.close()


def _event(line: Mapping[str, Any]) -> RuntimeEvent:
    actor = line["Actor"]
    return RuntimeEvent(
        container_name=actor["Attributes"]["name"],
        container_id=actor["ID"],
        action=line["Action"],
        time_ns=line["timeNano"],
    )
