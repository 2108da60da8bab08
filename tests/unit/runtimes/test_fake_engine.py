"""What the fake engine can be told to do, beyond the contract of all runtimes."""

import concurrent.futures
import dataclasses
import datetime
import threading
import time

import pytest

from tests.support.waiting import until
from tierce.model.container import NodeFacts, RestartPolicy, RuntimeSpec, RuntimeState
from tierce.model.errors import ImageNotFound, RuntimeFailure, RuntimeUnreachable
from tierce.runtimes.fake import FakeEngine, FakeRuntime

SPEC = RuntimeSpec(name="zun-1", image="app:1", owner_labels={"owner": "me"})


class StoppedClock:
    """Says what it was told last."""

    def __init__(self) -> None:
        self.time = datetime.datetime(2026, 1, 1)  # noqa: DTZ001 - naive is UTC here

    def now(self) -> datetime.datetime:
        return self.time

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(StoppedClock(), images=["app:1"])


@pytest.fixture
def fake(engine: FakeEngine) -> FakeRuntime:
    return FakeRuntime(engine)


def _run(fake: FakeRuntime, **changes: object) -> str:
    spec = dataclasses.replace(SPEC, **changes)
    fake.containers.create(spec)
    fake.containers.start(spec.name)
    return spec.name


def _state(fake: FakeRuntime) -> RuntimeState | None:
    report = fake.containers.inspect("zun-1")
    return report and report.state


# --- faults ---------------------------------------------------------------------------------------


def test_a_scripted_error_comes_as_often_as_told_and_the_work_is_not_done(
    engine: FakeEngine, fake: FakeRuntime
) -> None:
    engine.script("create", error=RuntimeFailure("disk full"), times=2)
    for _ in range(2):
        with pytest.raises(RuntimeFailure, match="disk full"):
            fake.containers.create(SPEC)
    assert fake.containers.inspect("zun-1") is None
    fake.containers.create(SPEC)
    assert _state(fake) == RuntimeState.CREATED


def test_a_lost_answer_hides_work_that_was_done(engine: FakeEngine, fake: FakeRuntime) -> None:
    engine.script("create", error=RuntimeUnreachable("connection reset"), lost=True)
    with pytest.raises(RuntimeUnreachable):
        fake.containers.create(SPEC)
    assert _state(fake) == RuntimeState.CREATED


def test_scripts_of_one_call_are_used_up_in_their_order(engine: FakeEngine, fake: FakeRuntime) -> None:
    engine.script("images.pull", error=RuntimeFailure("first"))
    engine.script("images.pull", error=RuntimeFailure("second"))
    for text in ("first", "second"):
        with pytest.raises(RuntimeFailure, match=text):
            fake.images.pull("app:2", auth=None, idle_timeout=1)
    assert fake.images.pull("app:2", auth=None, idle_timeout=1).tags == ("app:2",)


def test_a_delay_is_taken_without_holding_up_other_calls(engine: FakeEngine, fake: FakeRuntime) -> None:
    gate = threading.Event()
    engine.script("start", until=gate)
    fake.containers.create(SPEC)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        starting = pool.submit(fake.containers.start, "zun-1")
        assert _state(fake) == RuntimeState.CREATED
        gate.set()
        starting.result(timeout=5)
    assert _state(fake) == RuntimeState.RUNNING


def test_a_delay_lasts_as_long_as_told(engine: FakeEngine, fake: FakeRuntime) -> None:
    engine.script("inspect", delay=0.1)
    began = time.monotonic()
    fake.containers.inspect("zun-1")
    assert time.monotonic() - began >= 0.1


def test_a_script_for_a_call_that_does_not_exist_is_refused(engine: FakeEngine) -> None:
    with pytest.raises(ValueError, match="creat"):
        engine.script("creat", error=RuntimeFailure("never"))


def test_while_it_is_down_nothing_answers_and_containers_live_on(
    engine: FakeEngine, fake: FakeRuntime
) -> None:
    _run(fake)
    stream = iter(fake.containers.events({}))
    engine.go_down()
    with pytest.raises(RuntimeUnreachable):
        fake.containers.inspect("zun-1")
    with pytest.raises(RuntimeUnreachable):
        next(stream)
    engine.come_back()
    assert _state(fake) == RuntimeState.RUNNING


def test_it_knows_whether_its_listeners_have_dealt_with_all_that_happened(
    engine: FakeEngine, fake: FakeRuntime
) -> None:
    stream = fake.containers.events({})
    listener = iter(stream)
    assert engine.event_log.is_heard()
    fake.containers.create(SPEC)
    assert next(listener).action == "create"
    assert not engine.event_log.is_heard(), "it is still at it"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, listener)
        until(engine.event_log.is_heard)
        fake.containers.start("zun-1")
        assert following.result(timeout=5).action == "start"
    assert not engine.event_log.is_heard()
    stream.close()
    assert engine.event_log.is_heard()


# --- life -----------------------------------------------------------------------------------------


def test_its_containers_outlive_a_runtime(engine: FakeEngine, fake: FakeRuntime) -> None:
    _run(fake)
    fake.close()
    assert _state(FakeRuntime(engine)) == RuntimeState.RUNNING


def test_a_process_can_end_by_itself_with_an_event(engine: FakeEngine, fake: FakeRuntime) -> None:
    name = _run(fake)
    stream = fake.containers.events({"owner": "me"})
    engine.exit(name, 3, oom=True)
    events = iter(stream)
    assert [next(events).action for _ in range(2)] == ["oom", "die"]
    report = fake.containers.inspect(name)
    assert report is not None
    assert (report.state, report.exit_code, report.oom_killed) == (RuntimeState.EXITED, 3, True)


def test_only_a_process_that_runs_can_end(engine: FakeEngine, fake: FakeRuntime) -> None:
    fake.containers.create(SPEC)
    with pytest.raises(ValueError, match="zun-1"):
        engine.exit("zun-1", 0)


@pytest.mark.parametrize(
    ("policy", "code", "state"),
    [
        (RestartPolicy("no"), 1, RuntimeState.EXITED),
        (RestartPolicy("always"), 0, RuntimeState.RUNNING),
        (RestartPolicy("unless-stopped"), 0, RuntimeState.RUNNING),
        (RestartPolicy("on-failure"), 0, RuntimeState.EXITED),
        (RestartPolicy("on-failure"), 1, RuntimeState.RUNNING),
    ],
)
def test_the_restart_policy_decides_what_follows_an_end(
    engine: FakeEngine, fake: FakeRuntime, policy: RestartPolicy, code: int, state: RuntimeState
) -> None:
    engine.exit(_run(fake, restart_policy=policy), code)
    assert _state(fake) == state


def test_failures_are_restarted_only_so_often(engine: FakeEngine, fake: FakeRuntime) -> None:
    name = _run(fake, restart_policy=RestartPolicy("on-failure", 2))
    for _ in range(2):
        engine.exit(name, 1)
        assert _state(fake) == RuntimeState.RUNNING
    engine.exit(name, 1)
    assert _state(fake) == RuntimeState.EXITED


def test_times_come_from_the_clock_that_was_passed_in(engine: FakeEngine, fake: FakeRuntime) -> None:
    stream = iter(fake.containers.events({}))
    _run(fake)
    report = fake.containers.inspect("zun-1")
    assert report is not None
    assert report.started_at == engine.clock.now()
    assert next(stream).time_ns == 1_767_225_600_000_000_000


def test_many_threads_create_one_container_of_a_name(fake: FakeRuntime) -> None:
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        ids = set(pool.map(lambda _: fake.containers.create(SPEC), range(64)))
    assert len(ids) == 1
    assert len(fake.containers.list({})) == 1


# --- images and facts -----------------------------------------------------------------------------


def test_every_image_can_be_pulled_unless_the_registry_is_given() -> None:
    anything = FakeRuntime(FakeEngine(StoppedClock()))
    assert anything.images.pull("any/thing:1", auth=None, idle_timeout=1).tags == ("any/thing:1",)
    limited = FakeRuntime(FakeEngine(StoppedClock(), registry=["app:1"]))
    limited.images.pull("app:1", auth=None, idle_timeout=1)
    with pytest.raises(ImageNotFound):
        limited.images.pull("any/thing:1", auth=None, idle_timeout=1)


def test_the_node_can_be_given_its_facts() -> None:
    facts = NodeFacts("small", cpus=1, memory_total=512, memory_available=256, disk_total=1)
    assert FakeRuntime(FakeEngine(StoppedClock(), facts=facts)).containers.fingerprint() == facts
