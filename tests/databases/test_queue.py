"""The queue of actions against a model of it: order, one at a time, and nothing lost."""

import dataclasses
import datetime
from collections.abc import Collection
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import delete, select

from tierce.db import actions, containers, zun_actions
from tierce.db.actions import State
from tierce.db.engine import Database
from tierce.db.tables import Container, ContainerAction
from tierce.model.context import RequestContext
from tierce.model.errors import StaleObject

CONTEXT = RequestContext(user_id="u", project_id="p")
LEASE = 300
HOSTS = ("node1", "node2")
CONTAINERS = ("a", "b", "c")
UNFINISHED = (State.QUEUED, State.RUNNING)


@dataclasses.dataclass
class Expected:
    """One action as the model has it."""

    id: int
    container: str
    host: str
    state: State = State.QUEUED
    attempts: int = 0
    lease: datetime.datetime | None = None


class Queue(RuleBasedStateMachine):
    database: ClassVar[Database]

    def __init__(self) -> None:
        super().__init__()
        self.now = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
        self.model: list[Expected] = []
        self.database.write(self._reset)

    def _reset(self, session: Any) -> None:
        session.execute(delete(Container))
        session.add_all([Container(uuid=name, status="Running", container_type=0) for name in CONTAINERS])

    # --- what happens -----------------------------------------------------------------------------

    @rule(container=st.sampled_from(CONTAINERS), host=st.sampled_from(HOSTS))
    def enqueue(self, container: str, host: str) -> None:
        row = self.database.write(
            lambda session: actions.enqueue(
                session,
                CONTEXT,
                action="stop",
                container_uuid=container,
                host=host,
                arguments={"timeout": 3},
                now=self.now,
            )
        )
        self.model.append(Expected(row.id, container, host))

    @rule(container=st.sampled_from(CONTAINERS), host=st.sampled_from(HOSTS))
    def claim(self, container: str, host: str) -> None:
        got = self.database.write(lambda session: actions.claim(session, container, host, self.now, LEASE))
        oldest = next((each for each in self._unfinished() if each.container == container), None)
        if oldest is None or oldest.state == State.RUNNING or oldest.host != host:
            assert got is None
            return
        assert got is not None
        assert (got.action.id, got.action.arguments) == (oldest.id, {"timeout": 3})
        assert got.container.uuid == container
        assert got.more == (sum(each.container == container for each in self._unfinished()) > 1)
        oldest.state, oldest.attempts, oldest.lease = State.RUNNING, oldest.attempts + 1, self._lease()
        assert got.action.attempts == oldest.attempts

    @precondition(lambda self: self._running())
    @rule(data=st.data(), failed=st.booleans())
    def finish(self, data: st.DataObject, failed: bool) -> None:
        ended = data.draw(st.sampled_from(self._running()))
        self.database.write(
            lambda session: actions.finish(session, self._row(session, ended), self.now, failed=failed)
        )
        ended.state, ended.lease = State.FAILED if failed else State.FINISHED, None

    @precondition(lambda self: self._running())
    @rule(data=st.data())
    def requeue(self, data: st.DataObject) -> None:
        given_back = data.draw(st.sampled_from(self._running()))
        self.database.write(lambda session: actions.requeue(session, self._row(session, given_back)))
        given_back.state, given_back.lease = State.QUEUED, None

    @rule(container=st.sampled_from(CONTAINERS), host=st.sampled_from(HOSTS))
    def abandon(self, container: str, host: str) -> None:
        self.database.write(lambda session: actions.abandon(session, container, host))
        for each in self._running():
            if (each.container, each.host) == (container, host):
                each.state, each.lease = State.QUEUED, None

    @rule(host=st.sampled_from(HOSTS))
    def recover(self, host: str) -> None:
        found = self.database.write(lambda session: actions.recover(session, host))
        for each in self._running():
            if each.host == host:
                each.state, each.lease = State.QUEUED, None
        assert found == self._pending(host)

    @rule(host=st.sampled_from(HOSTS), mine=st.sets(st.sampled_from(CONTAINERS)))
    def tend(self, host: str, mine: set[str]) -> None:
        found = self.database.write(lambda session: actions.tend(session, host, mine, self.now, LEASE))
        for each in self._running():
            if each.host != host:
                continue
            if each.container in mine:
                each.lease = self._lease()
            elif each.lease is not None and each.lease < self.now:
                each.state, each.lease = State.QUEUED, None
        assert found == self._pending(host)

    @rule(seconds=st.sampled_from([1, LEASE // 2, LEASE + 1]))
    def time_passes(self, seconds: int) -> None:
        self.now += datetime.timedelta(seconds=seconds)

    # --- what must hold ---------------------------------------------------------------------------

    @invariant()
    def the_table_is_as_the_model_has_it(self) -> None:
        rows = self.database.read(
            lambda s: list(s.scalars(select(ContainerAction).order_by(ContainerAction.id)))
        )
        assert [
            Expected(row.id, row.container_uuid, row.host, row.state, row.attempts, row.lease_expires_at)
            for row in rows
        ] == self.model
        assert [row.id for row in rows if (row.finish_time is None) != (row.state in UNFINISHED)] == []
        assert [row.id for row in rows if (row.message == "Error") != (row.state == State.FAILED)] == []

    @invariant()
    def no_container_has_two_running(self) -> None:
        running = [each.container for each in self._running()]
        assert len(running) == len(set(running))

    @invariant()
    def what_is_asked_for_is_told(self) -> None:
        for host in HOSTS:
            assert self.database.read(lambda s, host=host: actions.pending(s, host)) == self._pending(host)
        unfinished = self.database.read(lambda session: actions.unfinished(session, CONTAINERS))
        assert {name: len(names) for name, names in unfinished.items()} == {
            name: count
            for name in CONTAINERS
            if (count := sum(each.container == name for each in self._unfinished()))
        }

    def _lease(self) -> datetime.datetime:
        return self.now + datetime.timedelta(seconds=LEASE)

    def _row(self, session: Any, action: Expected) -> ContainerAction:
        row: ContainerAction = session.get(ContainerAction, action.id)
        return row

    def _unfinished(self) -> list[Expected]:
        return [each for each in self.model if each.state in UNFINISHED]

    def _running(self) -> list[Expected]:
        return [each for each in self.model if each.state == State.RUNNING]

    def _pending(self, host: str) -> list[str]:
        queued = [each.container for each in self.model if (each.host, each.state) == (host, State.QUEUED)]
        return list(dict.fromkeys(queued))


@pytest.fixture
def queue(database: Database) -> type[Queue]:
    Queue.database = database
    return Queue


def test_any_history_keeps_order_one_at_a_time_and_everything(queue: type[Queue]) -> None:
    run_state_machine_as_test(queue, settings=settings(max_examples=40, stateful_step_count=25))


def test_an_action_that_nobody_works_on_any_more_is_queued_again_when_its_lease_ends(
    database: Database,
) -> None:
    now, lease = datetime.datetime.fromisoformat("2026-11-01T10:00:00"), datetime.timedelta(seconds=LEASE)
    insert(database, state=State.QUEUED, host="node1", attempts=0)

    def tend(mine: Collection[str], moment: datetime.datetime) -> list[str]:
        return database.write(lambda session: actions.tend(session, "node1", mine, moment, LEASE))

    def claim(moment: datetime.datetime) -> actions.Claimed | None:
        return database.write(lambda session: actions.claim(session, "a", "node1", moment, LEASE))

    assert claim(now) is not None
    assert tend(["a"], now + lease) == []  # which renews it
    assert tend([], now + 2 * lease) == []
    assert claim(now + 2 * lease) is None
    after = now + 2 * lease + datetime.timedelta(seconds=1)
    assert tend([], after) == ["a"]
    again = claim(after)
    assert again is not None
    assert again.action.attempts == 2


# --- rows of a reference process ------------------------------------------------------------------


def insert(database: Database, **values: Any) -> int:
    def work(session: Any) -> int:
        session.execute(delete(Container))
        session.add(Container(uuid="a", status="Running", container_type=0))
        session.flush()
        row = ContainerAction(action="stop", container_uuid="a", request_id="req-1", **values)
        session.add(row)
        session.flush()
        return row.id

    return database.write(work)


def adopt(database: Database, **changes: Any) -> bool:
    arguments = {"action": "stop", "container_uuid": "a", "request_id": "req-1", **changes}
    held = {"task_state": "container_stopping"}
    return database.write(
        lambda session: zun_actions.adopt(
            session, host="node1", arguments={"timeout": 3}, held=held, **arguments
        )
    )


def test_a_row_of_a_reference_process_is_nobody_s_work_until_it_is_adopted(database: Database) -> None:
    now = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
    ident = insert(database)
    assert database.read(lambda session: actions.pending(session, "node1")) == []
    assert database.write(lambda session: actions.claim(session, "a", "node1", now, LEASE)) is None

    assert adopt(database)

    got = database.write(lambda session: actions.claim(session, "a", "node1", now, LEASE))
    assert got is not None
    assert (got.action.id, got.action.arguments, got.action.attempts) == (ident, {"timeout": 3}, 1)
    assert got.container.task_state == "container_stopping"


@pytest.mark.parametrize(
    "row",
    [
        {"state": State.QUEUED},
        {"state": State.FINISHED},
        {"finish_time": datetime.datetime.fromisoformat("2026-11-01T10:00:00")},
    ],
)
def test_only_an_unfinished_row_without_a_state_is_adopted(database: Database, row: dict[str, Any]) -> None:
    insert(database, **row)
    assert not adopt(database)
    container = database.read(lambda session: containers.find(session, "a"))
    assert container is not None
    assert container.task_state is None


def test_who_read_the_container_before_a_row_was_adopted_is_told_when_it_writes(database: Database) -> None:
    insert(database)
    before = database.read(lambda session: containers.find(session, "a"))
    assert before is not None
    adopt(database)
    now = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
    with pytest.raises(StaleObject):
        database.write(lambda session: containers.swap(session, before, now, task_state=None))


def test_what_a_zun_agent_has_ended_is_nobody_s_work_and_gets_its_state_when_its_node_is_taken_over(
    database: Database,
) -> None:
    now = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
    ours = {"state": State.QUEUED, "host": "node1", "attempts": 0}
    insert(database, **ours, finish_time=now)

    def more(session: Any) -> None:
        for values in ({"finish_time": now, "message": "Error"}, {}):
            row = ContainerAction(action="start", container_uuid="a", request_id="req-2", **ours, **values)
            session.add(row)
            session.flush()

    def states(session: Any) -> list[str]:
        return list(session.scalars(select(ContainerAction.state).order_by(ContainerAction.id)))

    database.write(more)
    assert database.read(lambda session: actions.unfinished(session, ["a"])) == {"a": ["start"]}
    assert database.write(lambda session: actions.tend(session, "node1", (), now, LEASE)) == ["a"]

    assert database.write(lambda session: actions.recover(session, "node1")) == ["a"]

    assert database.read(states) == [State.FINISHED, State.FAILED, State.QUEUED]
    got = database.write(lambda session: actions.claim(session, "a", "node1", now, LEASE))
    assert got is not None
    assert (got.action.action, got.action.finish_time, got.more) == ("start", None, False)
    assert not database.read(lambda session: actions.others_wait(session, got.action))
    assert database.write(lambda session: actions.claim(session, "a", "node1", now, LEASE)) is None


def test_a_row_is_adopted_once(database: Database) -> None:
    insert(database)
    assert [adopt(database, request_id="req-2"), adopt(database), adopt(database)] == [False, True, False]
