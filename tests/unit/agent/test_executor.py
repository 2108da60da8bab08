"""One ordered queue per container: who runs when, what is never lost, and what a stop waits for."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tierce.agent.executor import Executor
from tierce.agent.runner import Ran, RetryLater
from tierce.agent.workers import Workers
from tierce.model.errors import RuntimeFailure

NOW = 1_000


class Work:
    """What the executor asks for, noted; `during` has what happens while an action of a container runs, and
    `looking` while it is looked at.
    """

    def __init__(self) -> None:
        self.queued: dict[str, int] = {}
        self.during: dict[str, Callable[[], None]] = {}
        self.looking: dict[str, Callable[[], None]] = {}
        self.gone: set[str] = set()
        self.calls: list[str] = []
        self.postponed: list[str] = []
        self.running: set[str] = set()
        self._lock = threading.Lock()

    def run_next(self, uuid: str) -> Ran | None:
        with self._lock:
            if not self.queued.get(uuid):
                return None
            self.queued[uuid] -= 1
            more = self.queued[uuid] > 0
        with self._alone(uuid, "run"):
            self.during.pop(uuid, lambda: None)()
        return Ran(observed_ns=NOW, more=more, gone=uuid in self.gone)

    def refresh(self, uuid: str) -> None:
        with self._alone(uuid, "refresh"):
            self.looking.pop(uuid, lambda: None)()

    def _alone(self, uuid: str, what: str) -> "_Alone":
        return _Alone(self, uuid, what)


class _Alone:
    def __init__(self, work: Work, uuid: str, what: str) -> None:
        self._work, self._uuid, self._what = work, uuid, what

    def __enter__(self) -> None:
        assert self._uuid not in self._work.running, "two threads work on one container"
        self._work.running.add(self._uuid)
        self._work.calls.append(f"{self._what} {self._uuid}")

    def __exit__(self, *_: object) -> None:
        self._work.running.remove(self._uuid)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def executor(work: Work) -> Iterator[Executor]:
    executor = Executor(work, work.refresh, work.postponed.append, Workers(4))  # type: ignore[arg-type]  # as a Runner
    yield executor
    executor.stop(10)


def test_every_queued_action_is_run_in_one_turn(executor: Executor, work: Work) -> None:
    work.queued["a"] = 3
    executor.wake("a")
    assert executor.wait_idle(10)
    assert work.calls == ["run a"] * 3


def test_a_wake_while_an_action_runs_is_not_lost(executor: Executor, work: Work) -> None:
    def accept_another() -> None:
        work.queued["a"] = 1
        executor.wake("a")

    work.queued["a"], work.during["a"] = 1, accept_another
    executor.wake("a")
    assert executor.wait_idle(10)
    assert work.calls == ["run a"] * 2


def test_containers_do_not_wait_for_each_other(executor: Executor, work: Work) -> None:
    release, other_ran = threading.Event(), threading.Event()

    def hang() -> None:
        release.wait(10)

    work.queued.update(a=1, b=1)
    work.during.update(a=hang, b=other_ran.set)
    executor.wake("a")
    executor.wake("b")
    assert other_ran.wait(10)
    assert not executor.wait_idle(0)
    release.set()
    assert executor.wait_idle(10)


def test_one_container_is_worked_on_by_one_thread(executor: Executor, work: Work) -> None:
    work.queued["a"] = 200

    def look(_: int) -> None:
        executor.wake("a")
        executor.refresh("a", NOW + 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(look, range(400)))
    assert executor.wait_idle(10)
    assert work.calls.count("run a") == 200


def test_an_event_is_looked_into(executor: Executor, work: Work) -> None:
    executor.refresh("a", NOW)
    assert executor.wait_idle(10)
    assert work.calls == ["refresh a"]


@pytest.mark.parametrize(("event_ns", "looked"), [(NOW, False), (NOW + 1, True)])
def test_an_event_is_looked_into_only_if_no_action_has_looked_since(
    executor: Executor, work: Work, event_ns: int, looked: bool
) -> None:
    work.queued["a"], work.during["a"] = 1, lambda: executor.refresh("a", event_ns)
    executor.wake("a")
    assert executor.wait_idle(10)
    assert work.calls == ["run a", *(["refresh a"] if looked else [])]


def test_one_that_removed_itself_is_looked_into_after_its_last_action(executor: Executor, work: Work) -> None:
    work.queued["a"] = 2
    work.gone.add("a")
    executor.wake("a")
    assert executor.wait_idle(10)
    assert work.calls == ["run a", "run a", "refresh a"]


def test_an_action_that_must_wait_is_postponed(executor: Executor, work: Work) -> None:
    def later() -> None:
        raise RetryLater

    work.queued["a"], work.during["a"] = 1, later
    executor.wake("a")
    assert executor.wait_idle(10)
    assert work.postponed == ["a"]


def test_a_look_that_fails_keeps_no_action_from_being_run(executor: Executor, work: Work) -> None:
    def fail() -> None:
        work.queued["a"] = 1
        executor.wake("a")
        raise RuntimeFailure("server error")

    work.looking["a"] = fail
    executor.refresh("a", NOW)
    assert executor.wait_idle(10)
    assert work.calls == ["refresh a", "run a"]


def test_a_stop_waits_for_what_runs_and_begins_nothing_more(executor: Executor, work: Work) -> None:
    begun, release = threading.Event(), threading.Event()

    def action() -> None:
        begun.set()
        release.wait(10)

    work.queued["a"], work.during["a"] = 2, action
    executor.wake("a")
    assert begun.wait(10)
    assert not executor.stop(0)
    executor.wake("b")
    release.set()
    assert executor.stop(10)
    assert work.calls == ["run a"]
    assert work.queued["a"] == 1
