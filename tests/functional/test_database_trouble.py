"""A database that refuses transactions: what is tried again, and what is said when that does not help."""

import threading
from collections.abc import Callable, Iterator

import pytest
from oslo_db import exception as db_exception
from sqlalchemy import event, func, select
from sqlalchemy.orm import Session

from tests.support.client import IMAGE
from tests.support.cloud import Cloud
from tierce.db.tables import Container

NewCloud = Callable[..., Cloud]


class Deadlocks:
    """Has the next so many commits fail, in threads whose name begins with `threads`."""

    def __init__(self) -> None:
        self.left = 0
        self.threads = ""

    def __call__(self, _session: Session) -> None:
        if self.left and threading.current_thread().name.startswith(self.threads):
            self.left -= 1
            raise db_exception.DBDeadlock


@pytest.fixture
def deadlocks() -> Iterator[Deadlocks]:
    deadlocks = Deadlocks()
    event.listen(Session, "before_commit", deadlocks)
    yield deadlocks
    event.remove(Session, "before_commit", deadlocks)


@pytest.fixture
def cloud(new_cloud: NewCloud, deadlocks: Deadlocks) -> Iterator[Cloud]:
    """Without an agent, whose own transactions would take part."""
    cloud = new_cloud(database={"db_max_retries": 3})
    cloud.stop_node("node1")
    yield cloud
    deadlocks.left = 0
    cloud.start_node("node1")


def test_a_deadlock_or_two_are_nobody_s_concern(cloud: Cloud, deadlocks: Deadlocks) -> None:
    deadlocks.left = 2
    uuid = cloud.client.create()
    assert deadlocks.left == 0
    assert [row.uuid for row in cloud.rows()] == [uuid]
    assert cloud.client.actions(uuid) == [("create", None)]
    assert list(cloud.claims()) == [uuid]


def test_a_database_that_goes_on_refusing_is_told_with_when_to_come_back(
    cloud: Cloud, deadlocks: Deadlocks
) -> None:
    deadlocks.left = 4
    answer = cloud.client.request("POST /containers", {"image": IMAGE})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json["errors"][0]["code"] == "container.database-busy"
    assert (cloud.rows(), cloud.claims()) == ([], {})


def test_work_that_is_tried_again_begins_from_the_start(cloud: Cloud, deadlocks: Deadlocks) -> None:
    seen = []

    def work(session: Session) -> int:
        count = session.scalar(select(func.count()).select_from(Container)) or 0
        session.add(Container(uuid=str(count), container_type=0, status="Error"))
        seen.append(count)
        return count

    deadlocks.left = 2
    assert cloud.database.write(work) == 0
    assert seen == [0, 0, 0]
    assert [row.uuid for row in cloud.rows()] == ["0"]


def test_other_errors_are_not_tried_again(cloud: Cloud) -> None:
    calls = []

    def work(_session: Session) -> None:
        calls.append(1)
        raise db_exception.DBReferenceError("t", "c", "k", "k")

    with pytest.raises(db_exception.DBReferenceError):
        cloud.database.write(work)
    assert len(calls) == 1


def test_an_agent_s_work_survives_a_refusing_database(new_cloud: NewCloud, deadlocks: Deadlocks) -> None:
    cloud = new_cloud(database={"db_max_retries": 3})
    uuid = cloud.client.running()
    for left in (1, 2, 3):
        deadlocks.left = left
        cloud.client.call(f"POST /containers/{uuid}/reboot")
        cloud.client.wait(uuid, "Running")
    assert cloud.client.actions(uuid)[1:] == [("reboot", None)] * 3


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_an_agent_cannot_record_is_done_again_until_it_can(
    new_cloud: NewCloud, deadlocks: Deadlocks, moment: str
) -> None:
    cloud = new_cloud(database={"db_max_retries": 3})
    uuid = cloud.client.running()
    deadlocks.threads = "tierce-action"
    cloud.observer = once(("stop", "stop", moment), lambda: setattr(deadlocks, "left", 8))

    cloud.client.call(f"POST /containers/{uuid}/stop")

    cloud.client.wait(uuid, "Stopped")
    assert deadlocks.left == 0
    assert cloud.client.actions(uuid) == [("create", None), ("stop", None)]


def once(where: tuple[str, str, str], act: Callable[[], None]) -> Callable[[str, str, str], None]:
    """An observer that does something at one boundary, the first time."""
    waiting = [act]

    def observer(*here: str) -> None:
        if here == where and waiting:
            waiting.pop()()

    return observer
