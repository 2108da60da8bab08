"""Repeated and postponed calls, by a clock that the test sets."""

import datetime
import random
import threading
from collections.abc import Iterator

import pytest

from tierce.agent.periodic import Periodic


class ManualClock:
    """Stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime.datetime:
        raise AssertionError("intervals are not measured by the time of day, which may step")

    def monotonic(self) -> float:
        return self.seconds


class Bench:
    """A running Periodic, and what it has called so far."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.periodic = Periodic(self.clock, random.Random(0))
        self.calls: list[str] = []
        self.periodic.start()

    def note(self, name: str) -> None:
        self.calls.append(name)

    def pass_time(self, seconds: float) -> list[str]:
        """Let so much time pass; what was called until all that was due is done."""
        self.calls.clear()
        self.clock.seconds += seconds
        done = threading.Event()
        self.periodic.after(0, done.set)
        assert done.wait(10)
        return list(self.calls)


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.periodic.stop(timeout=10)


def test_a_repeated_task_begins_after_one_interval_and_goes_on(bench: Bench) -> None:
    bench.periodic.every(100, lambda: bench.note("beat"))
    assert bench.pass_time(99) == []
    assert bench.pass_time(6) == ["beat"]
    assert bench.pass_time(99) == []
    assert bench.pass_time(6) == ["beat"]


def test_after_a_long_sleep_it_runs_once_and_not_for_every_interval_missed(bench: Bench) -> None:
    bench.periodic.every(100, lambda: bench.note("beat"))
    assert bench.pass_time(100_000) == ["beat"]


def test_a_postponed_call_is_made_once_and_not_early(bench: Bench) -> None:
    bench.periodic.after(5, lambda: bench.note("retry"))
    assert bench.pass_time(4.9) == []
    assert bench.pass_time(0.2) == ["retry"]
    assert bench.pass_time(1000) == []


def test_what_is_due_first_is_called_first(bench: Bench) -> None:
    for name, delay in (("c", 3), ("a", 1), ("b1", 2), ("b2", 2)):
        bench.periodic.after(delay, lambda name=name: bench.note(name))
    assert bench.pass_time(10) == ["a", "b1", "b2", "c"]


def test_a_task_that_fails_runs_again_and_holds_up_no_other(bench: Bench) -> None:
    def fail() -> None:
        bench.note("fail")
        raise ZeroDivisionError

    bench.periodic.every(10, fail)
    bench.periodic.every(12, lambda: bench.note("beat"))
    assert bench.pass_time(14) == ["fail", "beat"]
    assert bench.pass_time(14) == ["fail", "beat"]


def test_intervals_differ_by_up_to_a_twentieth() -> None:
    """Nodes that were started together do not report together for ever."""
    clock = ManualClock()
    called: set[int] = set()
    periodic = Periodic(clock, random.Random(0))
    for number in range(50):
        periodic.every(100, lambda number=number: called.add(number))
    periodic.start()
    seen = []
    for seconds in (100, 2.5, 2.5):
        clock.seconds += seconds
        done = threading.Event()
        periodic.after(0, done.set)
        assert done.wait(10)
        seen.append(len(called))
    periodic.stop(timeout=10)
    assert seen[0] < seen[1] < seen[2] == 50


def test_a_stop_waits_for_the_task_that_runs_and_begins_no_other(bench: Bench) -> None:
    begun, finish = threading.Event(), threading.Event()

    def task() -> None:
        begun.set()
        finish.wait(10)
        bench.note("finished")

    bench.periodic.after(0, task)
    bench.periodic.after(0, lambda: bench.note("another"))
    assert begun.wait(10)
    stopper = threading.Thread(target=bench.periodic.stop, args=[10])
    stopper.start()
    assert bench.calls == []
    finish.set()
    stopper.join(10)
    assert bench.calls == ["finished"]


def test_one_that_was_never_started_can_be_stopped() -> None:
    Periodic(ManualClock(), random.Random(0)).stop(timeout=1)
