"""Limits: tables without a unique key, into which other programs write too."""

import datetime
from collections.abc import Callable

from sqlalchemy import select

from tests.support.threads import at_once
from tierce.db import quotas
from tierce.db.engine import Database
from tierce.db.tables import Quota, QuotaClass

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
LATER = NOW + datetime.timedelta(seconds=60)


def set_project(database: Database, now: datetime.datetime = NOW, **limits: int) -> None:
    database.write(lambda session: quotas.set_project(session, "p1", limits, now))


def limits(database: Database, project: str = "p1") -> dict[str, int]:
    return database.read(lambda session: quotas.limits(session, project))


def rows(database: Database, table: type[Quota | QuotaClass]) -> list[Quota | QuotaClass]:
    return database.read(lambda session: list(session.scalars(select(table).order_by(table.id))))


def test_a_limit_is_made_once_and_changed_from_then_on(database: Database) -> None:
    set_project(database, cpu=1, disk=2)
    set_project(database, LATER, cpu=3)
    set_project(database, LATER, cpu=3)
    assert limits(database) == {"cpu": 3, "disk": 2}
    cpu, _ = rows(database, Quota)
    assert (cpu.created_at, cpu.updated_at) == (NOW, LATER)


def test_a_class_is_kept_apart_from_projects_of_its_name(database: Database) -> None:
    database.write(lambda session: quotas.set_class(session, "default", {"cpu": 5}, NOW))
    database.write(lambda session: quotas.set_class(session, "default", {"cpu": 6}, LATER))
    database.write(lambda session: quotas.set_class(session, "p1", {"cpu": 7}, NOW))
    assert limits(database) == {"cpu": 6}
    set_project(database, cpu=8)
    assert limits(database) == {"cpu": 8}
    assert database.read(lambda session: quotas.of_class(session, "default")) == {"cpu": 6}
    assert len(rows(database, QuotaClass)) == 2


def test_of_doubled_rows_the_newest_counts_and_a_change_is_one_of_all(database: Database) -> None:
    for limit in (7, 8):
        row = Quota(project_id="p1", resource="cpu", hard_limit=limit)
        database.write(lambda session, row=row: session.add(row))
    assert limits(database) == {"cpu": 8}
    set_project(database, cpu=5)
    assert [row.hard_limit for row in rows(database, Quota)] == [5, 5]


def test_forgetting_a_project_leaves_the_others(database: Database) -> None:
    set_project(database, cpu=1)
    database.write(lambda session: quotas.set_project(session, "p2", {"cpu": 2}, NOW))
    for _ in range(2):
        database.write(lambda session: quotas.forget_project(session, "p1"))
    assert (limits(database), limits(database, "p2")) == ({}, {"cpu": 2})


def test_a_limit_without_a_number_is_none(database: Database) -> None:
    database.write(lambda session: session.add(Quota(project_id="p1", resource="cpu", hard_limit=None)))
    assert limits(database) == {"cpu": -1}


def test_changes_at_once_end_in_one_of_them(
    database: Database, open_database: Callable[..., Database]
) -> None:
    writers = [database, open_database()]
    at_once([lambda n=n: set_project(writers[n % 2], cpu=n) for n in range(10)])
    settled = limits(database)
    assert settled["cpu"] in range(10)
    set_project(database, cpu=99)
    assert limits(database) == {"cpu": 99}
