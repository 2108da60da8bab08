"""So many work at a time, and none of them is one that only waits."""

import contextlib
import threading

import pytest

from tests.support.threads import refused
from tests.support.waiting import until
from tierce.agent.workers import Workers


class Tasks:
    """Tasks that last until `end` is set."""

    def __init__(self, workers: Workers) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.end = threading.Event()
        self._workers = workers

    def submit(self, number: int, *, waits: bool = False) -> None:
        def task() -> None:
            self.begun.append(number)
            with self._workers.waiting() if waits else contextlib.nullcontext():
                self.end.wait(30)
            self.ended.append(number)

        self._workers.submit(task)


@pytest.fixture
def workers() -> Workers:
    return Workers(2)


@pytest.fixture
def tasks(workers: Workers) -> Tasks:
    return Tasks(workers)


def test_no_more_work_at_a_time_than_there_are_workers(tasks: Tasks) -> None:
    for number in range(20):
        tasks.submit(number)
    until(lambda: sorted(tasks.begun) == [0, 1])
    tasks.end.set()
    until(lambda: len(tasks.ended) == 20)


def test_they_come_to_tasks_in_the_order_of_submission() -> None:
    tasks = Tasks(Workers(1))
    for number in range(20):
        tasks.submit(number)
    tasks.end.set()
    until(lambda: len(tasks.ended) == 20)
    assert tasks.begun == list(range(20))


def test_any_number_may_wait_beside_those_that_work(tasks: Tasks, workers: Workers) -> None:
    for number in range(20):
        tasks.submit(number, waits=True)
    until(lambda: len(tasks.begun) == 20)
    others = Tasks(workers)
    for number in range(3):
        others.submit(number)
    until(lambda: sorted(others.begun) == [0, 1])

    tasks.end.set()
    until(lambda: len(tasks.ended) == 20)
    assert sorted(others.begun) == [0, 1], "those that have waited leave no room that was not there"
    others.end.set()
    until(lambda: len(others.ended) == 3)


def test_a_thread_that_is_no_worker_makes_no_room(tasks: Tasks, workers: Workers) -> None:
    with workers.waiting():
        for number in range(3):
            tasks.submit(number)
    until(lambda: sorted(tasks.begun) == [0, 1])
    tasks.end.set()
    until(lambda: len(tasks.ended) == 3)


def test_what_is_not_begun_can_be_forgotten(tasks: Tasks, workers: Workers) -> None:
    for number in range(3):
        tasks.submit(number)
    workers.cancel()
    tasks.submit(3)
    tasks.end.set()
    until(lambda: sorted(tasks.ended) == [0, 1, 3])


def test_what_finds_no_thread_is_done_by_the_next_that_is_free(tasks: Tasks, workers: Workers) -> None:
    """Each stop that waits has a thread, and a machine has so many."""
    tasks.submit(0)
    until(lambda: tasks.begun == [0])
    with refused("tierce-action"):
        for number in range(1, 4):
            tasks.submit(number)
    assert tasks.begun == [0]
    tasks.end.set()
    until(lambda: tasks.ended == [0, 1, 2, 3])

    others = Tasks(workers)
    for number in range(3):
        others.submit(number)
    until(lambda: sorted(others.begun) == [0, 1])
    others.end.set()
    until(lambda: len(others.ended) == 3)


def test_a_task_that_fails_is_told_of_and_takes_no_worker_along(
    tasks: Tasks, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    for _ in range(5):
        workers.submit(fail)
    for number in range(2):
        tasks.submit(number)
    until(lambda: sorted(tasks.begun) == [0, 1])
    tasks.end.set()
    assert sum(record.exc_info is not None for record in caplog.records) == 5
