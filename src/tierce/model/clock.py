"""The one source of time: passed in, so that a test can set it."""

import datetime
import time
from typing import Protocol


class Clock(Protocol):
    """Wall-clock and monotonic time."""

    def now(self) -> datetime.datetime:
        """Current time: naive UTC, as every datetime column stores it."""

    def monotonic(self) -> float:
        """Seconds on a clock that never steps; only differences mean anything."""


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)

    def monotonic(self) -> float:
        return time.monotonic()
