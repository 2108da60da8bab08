"""Heartbeats: the row that they keep, whoever writes to it beside them."""

import datetime
from collections.abc import Callable

import pytest
from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from tests.support.threads import at_once
from tierce.db import services
from tierce.db.engine import Database
from tierce.db.tables import Service

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
LATER = NOW + datetime.timedelta(seconds=60)


HERE = services.Writer("here", "first")
THERE = services.Writer("there", "other")


def beat(
    database: Database,
    now: datetime.datetime = NOW,
    zone: str = "nova",
    writer: services.Writer = HERE,
) -> None:
    database.write(lambda session: services.beat(session, "node1", zone, now, writer))


def register(database: Database, writer: services.Writer, now: datetime.datetime = NOW) -> None:
    def work(session: Session) -> None:
        services.register(session, "node1", now, writer, down_time=180)
        services.beat(session, "node1", "nova", now, writer)

    database.write(work)


def row(database: Database) -> Service:
    (only,) = database.read(services.every)
    return only


def test_the_first_beat_makes_the_row_and_others_count(database: Database) -> None:
    beat(database)
    first = row(database)
    assert (first.host, first.binary, first.report_count) == ("node1", "zun-compute", 1)
    assert (first.last_seen_up, first.created_at, first.updated_at) == (NOW, NOW, None)
    beat(database, LATER, "rack1")
    second = row(database)
    assert (second.id, second.report_count, second.availability_zone) == (first.id, 2, "rack1")
    assert (second.last_seen_up, second.created_at, second.updated_at) == (LATER, NOW, LATER)


def test_what_an_operator_set_stays(database: Database) -> None:
    beat(database)
    database.write(
        lambda session: session.execute(
            update(Service).values(disabled=True, disabled_reason="disk", forced_down=True, report_count=4711)
        )
    )
    beat(database, LATER)
    kept = row(database)
    assert (kept.disabled, kept.disabled_reason, kept.forced_down) == (True, "disk", True)
    assert kept.report_count == 4712


def test_a_row_that_somebody_deleted_comes_back(database: Database) -> None:
    beat(database)
    database.write(lambda session: session.execute(delete(Service)))
    beat(database, LATER)
    assert row(database).last_seen_up == LATER


def test_a_row_that_no_agent_has_is_the_beating_one_s(database: Database) -> None:
    """A process of Zun may have made it anew; it knows nothing of who has a node."""
    register(database, HERE)
    database.write(lambda session: session.execute(delete(Service)))
    made = Service(host="node1", binary="zun-compute", report_count=4711, created_at=NOW)
    database.write(lambda session: session.add(made))
    beat(database, LATER)
    assert (row(database).report_count, row(database).incarnation) == (4712, "first")


def test_no_beat_of_two_writers_is_lost(database: Database, open_database: Callable[[], Database]) -> None:
    writers = [database, open_database()]
    at_once([lambda writer=writer: [beat(writer) for _ in range(20)] for writer in writers])
    assert row(database).report_count == 40


def test_a_node_has_one_agent(database: Database) -> None:
    register(database, HERE)
    with pytest.raises(services.NodeTaken, match="node1"):
        register(database, THERE, LATER)
    beat(database, LATER)
    assert row(database).installation == "here"


def test_one_of_two_that_start_at_once_has_the_node(
    database: Database, open_database: Callable[[], Database]
) -> None:
    outcomes = []

    def start(where: Database, writer: services.Writer) -> None:
        try:
            register(where, writer)
        except services.NodeTaken:
            outcomes.append("refused")
        else:
            outcomes.append("accepted")

    other = open_database()
    at_once([lambda: start(database, HERE), lambda: start(other, THERE)])
    assert sorted(outcomes) == ["accepted", "refused"]


def test_a_process_of_the_same_installation_takes_over_at_once(database: Database) -> None:
    register(database, HERE)
    register(database, services.Writer("here", "second"), NOW)
    with pytest.raises(services.NodeTaken):
        beat(database, LATER)
    assert (row(database).incarnation, row(database).last_seen_up) == ("second", NOW)


@pytest.mark.parametrize("end", ["stopped", "silent", "forced down", "deleted"])
def test_another_machine_may_have_the_node_of_an_agent_that_is(database: Database, end: str) -> None:
    register(database, HERE)
    now = NOW
    if end == "stopped":
        database.write(lambda session: services.release(session, "node1", HERE))
    elif end == "silent":
        now += datetime.timedelta(seconds=181)
    elif end == "forced down":
        database.write(lambda session: session.execute(update(Service).values(forced_down=True)))
    else:
        database.write(lambda session: session.execute(delete(Service)))
    register(database, THERE, now)
    assert row(database).installation == "there"
    with pytest.raises(services.NodeTaken):
        beat(database, LATER)


def test_who_lost_the_node_takes_nothing_back_when_it_stops(database: Database) -> None:
    register(database, HERE)
    register(database, services.Writer("here", "second"))
    database.write(lambda session: services.release(session, "node1", HERE))
    assert row(database).incarnation == "second"
