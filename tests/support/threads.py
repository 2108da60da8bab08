"""Doing things at the same moment."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from unittest import mock

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make all calls from threads that are let go together; their results, in the order of the calls."""
    barrier = threading.Barrier(len(calls))

    def go(call: Callable[[], T]) -> T:
        barrier.wait(30)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(go, calls))


@contextlib.contextmanager
def refused(name: str) -> Iterator[threading.Event]:
    """Inside, no thread of this name can start, as on a machine that has no more; set when one is to."""
    start, tried = threading.Thread.start, threading.Event()

    def start_others(thread: threading.Thread) -> None:
        if thread.name == name:
            tried.set()
            raise RuntimeError("can't start new thread")
        start(thread)

    with mock.patch.object(threading.Thread, "start", start_others):
        yield tried


class Gate(threading.Event):
    """An event that tells when somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.reached.set()
        return super().wait(timeout)
