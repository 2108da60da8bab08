"""The fake engine's events, and those who listen."""

import collections
import queue
import threading
from collections.abc import Iterator, Mapping

from tierce.model.container import RuntimeEvent
from tierce.model.errors import RuntimeUnreachable

_REMEMBERED = 256  # events, as the Docker Engine does


class FakeEvents:
    """One open stream; ends when closed, breaks when the engine goes down."""

    def __init__(self, owner_labels: Mapping[str, str]) -> None:
        self._owner_labels = owner_labels
        self._queue: queue.SimpleQueue[RuntimeEvent | None] = queue.SimpleQueue()
        self._closed = False
        self._offered = self._heard = 0

    def __iter__(self) -> Iterator[RuntimeEvent]:
        while not self._closed:
            event = self._queue.get()
            if self._closed:
                return
            if event is None:
                raise RuntimeUnreachable("The fake engine went down.")
            yield event
            self._heard += 1

    def close(self) -> None:
        self._closed = True
        self._queue.put(None)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def behind(self) -> bool:
        """Whether the listener has yet to deal with an event: it has when it asks for the next one."""
        return not self._closed and self._heard < self._offered

    def offer(self, event: RuntimeEvent, labels: Mapping[str, str]) -> None:
        if self._owner_labels.items() <= labels.items():
            self._offered += 1
            self._queue.put(event)

    def break_off(self) -> None:
        self._queue.put(None)


class EventLog:
    """What happened lately, and the streams that want to hear of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._past: collections.deque[tuple[RuntimeEvent, Mapping[str, str]]] = collections.deque(
            maxlen=_REMEMBERED
        )
        self._streams: list[FakeEvents] = []
        self.count = 0
        """Of the events so far."""

    def add(self, event: RuntimeEvent, labels: Mapping[str, str]) -> None:
        with self._lock:
            self.count += 1
            self._past.append((event, labels))
            self._streams = [stream for stream in self._streams if not stream.closed]
            for stream in self._streams:
                stream.offer(event, labels)

    def listen(self, owner_labels: Mapping[str, str], since_ns: int | None) -> FakeEvents:
        stream = FakeEvents(owner_labels)
        with self._lock:
            self._streams.append(stream)
            for event, labels in self._past:
                if since_ns is not None and event.time_ns >= since_ns:
                    stream.offer(event, labels)
        return stream

    def is_heard(self) -> bool:
        """Whether all who listen have dealt with every event so far."""
        with self._lock:
            return not any(stream.behind for stream in self._streams)

    def break_off(self) -> None:
        with self._lock:
            for stream in self._streams:
                stream.break_off()
            self._streams.clear()
