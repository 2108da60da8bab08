"""Bringing a database to our schema: an empty one, one that is there already, and one taken over."""

import pathlib
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from tierce.db import containers, quotas, schema, services
from tierce.db.engine import Database
from tierce.db.tables import ZUN_REVISION, Base
from tierce.model.context import RequestContext

HERE = pathlib.Path(__file__).parent
OURS = {"tierce_alembic_version", "tierce_allocation", "tierce_project_lock"}


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    """The file behind `open_database`."""
    return tmp_path / "tierce.sqlite"


def run(file: pathlib.Path, *scripts: str) -> None:
    with sqlite3.connect(file) as connection:
        for script in scripts:
            connection.executescript(script)
    connection.close()


def take_over(file: pathlib.Path) -> None:
    run(file, *((HERE / name).read_text() for name in ("zun_18.sql", "zun_18_rows.sql")))


def dump(file: pathlib.Path) -> dict[str, list[Any]]:
    """Every table's rows, as the file has them."""
    with sqlite3.connect(file) as connection:
        connection.row_factory = sqlite3.Row
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        rows = {
            table: [dict(row) for row in connection.execute(f"SELECT * FROM {table}")] for table in tables
        }
    connection.close()
    return rows


def structure(file: pathlib.Path) -> set[tuple[str, str | None]]:
    with sqlite3.connect(file) as connection:
        found = set(connection.execute("SELECT name, sql FROM sqlite_master"))
    connection.close()
    return found


def columns(file: pathlib.Path) -> dict[str, dict[str, tuple[Any, ...]]]:
    """Table -> column -> type, whether it must not be NULL, and its server default."""
    with sqlite3.connect(file) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found = {
            table: {row[1]: row[2:5] for row in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }
    connection.close()
    return found


def test_the_migrated_schema_is_that_of_the_models(database: Database) -> None:
    with database.engine.connect() as connection:
        options = {
            "compare_type": True,
            "compare_server_default": True,
            "version_table": schema.VERSION_TABLE,
            "include_name": lambda name, kind, _: (kind, name) != ("table", "alembic_version"),
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []


def test_a_new_database_has_the_reference_tables_and_revision_for_its_tools(
    database: Database, file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    theirs = tmp_path / "zun.sqlite"
    run(theirs, (HERE / "zun_18.sql").read_text())

    ours = columns(file)
    for table, expected in columns(theirs).items():
        assert expected.items() <= ours[table].items(), table
    assert dump(file)["alembic_version"] == [{"version_num": ZUN_REVISION}]


def test_a_second_upgrade_changes_nothing(database: Database, file: pathlib.Path) -> None:
    before = structure(file), dump(file)
    assert schema.upgrade(database) == schema.HEAD
    assert (structure(file), dump(file)) == before


def test_a_database_taken_over_keeps_every_row_and_its_own_revision(
    open_database: Callable[[], Database], file: pathlib.Path
) -> None:
    take_over(file)
    before = dump(file)

    schema.upgrade(open_database())

    after = dump(file)
    assert after.keys() - before.keys() == OURS
    for table, rows in before.items():
        kept = [{name: row[name] for name in rows[0]} for row in after[table]] if rows else after[table]
        assert kept == rows, table
    assert after["alembic_version"] == [{"version_num": ZUN_REVISION}]


def test_a_database_taken_over_is_like_a_new_one(
    open_database: Callable[[], Database], file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    take_over(file)
    taken_over = open_database()
    schema.upgrade(taken_over)
    with taken_over.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": schema.VERSION_TABLE})
        differences = compare_metadata(context, Base.metadata)
    assert [difference[1].name for difference in differences] == ["alembic_version"]


def test_what_is_ours_is_invisible_to_a_writer_that_does_not_know_it(
    database: Database, file: pathlib.Path
) -> None:
    """The reference implementation's processes name the columns that they know, and go on writing."""
    run(file, (HERE / "zun_18_rows.sql").read_text())
    assert dump(file)["container"][0]["generation"] == 0


def test_rows_taken_over_read_as_they_were_meant(
    open_database: Callable[[], Database], file: pathlib.Path
) -> None:
    take_over(file)
    database = open_database()
    schema.upgrade(database)
    admin = RequestContext(project_id="p1", is_admin=True, all_projects=True)

    web = database.read(
        lambda session: containers.get(session, admin, "cccccccc-0000-4000-8000-000000000001", by_uuid=True)
    )
    assert (web.command, web.environment, web.labels) == (["nginx", "-g"], {"A": "é"}, {})
    assert (web.restart_policy, web.generation) == ({"Name": "on-failure", "MaximumRetryCount": "3"}, 0)
    assert web.registry_uuid == "bbbbbbbb-0000-4000-8000-000000000001"
    # Of two limits the newer one counts, and no number is no limit.
    assert database.read(lambda session: quotas.limits(session, "p1")) == {"containers": 7, "cpu": -1}
    (node,) = database.read(services.every)
    assert (node.host, node.report_count) == ("node1", 4711)


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("DELETE FROM alembic_version", "none"),
        ("UPDATE alembic_version SET version_num = 'f979327df44b'", "f979327df44b"),
        ("INSERT INTO alembic_version VALUES ('f979327df44b')", "f979327df44b"),
        ("DROP TABLE alembic_version", "none"),
    ],
)
def test_other_revisions_are_refused_and_left_alone(
    open_database: Callable[[], Database], file: pathlib.Path, version: str, told: str
) -> None:
    take_over(file)
    run(file, version)
    before = structure(file), dump(file)

    with pytest.raises(schema.SchemaMismatch, match=f"{told}.*zun-db-manage upgrade"):
        schema.upgrade(open_database())

    assert (structure(file), dump(file)) == before


def test_a_program_says_what_to_run_when_the_schema_is_missing(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    assert schema.current(database) is None
    with pytest.raises(schema.SchemaMismatch, match="tierce db upgrade"):
        schema.require_current(database)
    schema.upgrade(database)
    schema.require_current(database)
    assert schema.current(database) == schema.HEAD
