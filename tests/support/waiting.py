"""Wait for what a test expects to come true."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

DEADLINE = 90.0
"""Seconds. On a machine that is busy with other things too, one start of a program takes a third of them."""


def until(look: Callable[[], T], accept: Callable[[T], object] = bool, timeout: float = DEADLINE) -> T:
    """Look again and again until `accept` agrees with what is seen, and return that.

    Raises AssertionError with the last thing seen after `timeout` s.
    """
    deadline = time.monotonic() + timeout
    pause = 0.002
    while not accept(seen := look()):
        assert time.monotonic() < deadline, f"still {seen!r} after {timeout:g} s"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.03)
    return seen
