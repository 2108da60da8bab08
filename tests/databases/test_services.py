"""Heartbeats: the row that they keep, whoever writes to it beside them."""

import datetime
from collections.abc import Callable

from sqlalchemy import delete, update

from tests.support.threads import at_once
from tierce.db import services
from tierce.db.engine import Database
from tierce.db.tables import Service

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
LATER = NOW + datetime.timedelta(seconds=60)


def beat(database: Database, now: datetime.datetime = NOW, zone: str = "nova") -> None:
    database.write(lambda session: services.beat(session, "node1", zone, now))


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


def test_no_beat_of_two_writers_is_lost(database: Database, open_database: Callable[[], Database]) -> None:
    writers = [database, open_database()]
    at_once([lambda writer=writer: [beat(writer) for _ in range(20)] for writer in writers])
    assert row(database).report_count == 40
