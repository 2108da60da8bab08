"""Bringing a database to our schema: an empty one, one that is there already, and one taken over."""

import datetime
import pathlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, MetaData, inspect, make_url

from tests.databases.taken_over import ROWS, run, take_over
from tests.support.databases import Servers, connection
from tierce.cli.main import main
from tierce.db import clouds, containers, nodes, quotas, schema, services
from tierce.db.engine import Database
from tierce.db.tables import ZUN_REVISION, Base
from tierce.model.context import RequestContext

ADMIN = RequestContext(project_id="p1", is_admin=True, all_projects=True)


@pytest.fixture
def empty(empty_url: str) -> Iterator[Database]:
    """A database with nothing in it."""
    database = connection(empty_url)
    yield database
    database.close()


@pytest.fixture
def theirs(empty: Database) -> Database:
    """A database as the reference implementation left it, with rows."""
    take_over(empty.engine)
    return empty


def dump(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Every table's rows, as the database has them."""
    tables = MetaData()
    with engine.connect() as session:
        tables.reflect(session)
        return {
            table.name: [dict(row) for row in session.execute(table.select()).mappings()]
            for table in tables.sorted_tables
        }


def structure(engine: Engine) -> dict[str, Any]:
    """Columns, keys and indexes of every table, with the names of keys that have one."""

    def of(inspector: Any, table: str) -> dict[str, Any]:
        return {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"], column["default"])
                for column in inspector.get_columns(table)
            },
            "primary": inspector.get_pk_constraint(table)["constrained_columns"],
            "unique": {
                (key["name"], *key["column_names"]) for key in inspector.get_unique_constraints(table)
            },
            "indexes": {(index["name"], *index["column_names"]) for index in inspector.get_indexes(table)},
            "foreign": {
                (*key["constrained_columns"], key["referred_table"], key["options"].get("ondelete"))
                for key in inspector.get_foreign_keys(table)
            },
        }

    with engine.connect() as session:
        inspector = inspect(session)
        return {table: of(inspector, table) for table in inspector.get_table_names()}


def without_collations(found: dict[str, Any]) -> dict[str, Any]:
    """The structure, whose text may have the character set of an older cloud."""
    for table in found.values():
        table["columns"] = {
            name: (re.sub(r" (CHARACTER SET|COLLATE) \S+", "", kind), *rest)
            for name, (kind, *rest) in table["columns"].items()
        }
    return found


def differences(engine: Engine) -> list[Any]:
    """What a migration would still have to do for the models."""

    def concerns(name: str | None, kind: str, _parents: object) -> bool:
        return (kind, name) != ("table", "alembic_version")

    def concerns_object(_item: object, name: str | None, kind: str, *_: object) -> bool:
        # PostgreSQL's names of keys are one space, so there this one has another.
        return (kind, name) not in (
            ("unique_constraint", "uniq_volume0uuid"),
            ("unique_constraint", "uniq_volume_mapping0uuid"),
        )

    options = {
        "compare_type": True,
        "compare_server_default": True,
        "version_table": schema.VERSION_TABLE,
        "include_name": concerns,
        "include_object": concerns_object if engine.dialect.name == "postgresql" else None,
    }
    with engine.connect() as session:
        found: list[Any] = compare_metadata(MigrationContext.configure(session, opts=options), Base.metadata)
    return found


def tierce_db(url: str, directory: pathlib.Path, *command: str) -> int:
    """Run `tierce db`; its exit code."""
    configuration = directory / "tierce.conf"
    configuration.write_text(f"[database]\nconnection = {url}\n")
    return main(["--config-file", str(configuration), "db", *command])


def apply(url: str, script: str) -> None:
    """Run SQL with the database's own client, as whoever administers it does."""
    parts = make_url(url)
    database = str(parts.database)
    if parts.get_backend_name() == "sqlite":
        with sqlite3.connect(database) as session:
            session.executescript(script)
        session.close()
        return
    client = {
        "mysql": ["mariadb", "--user=root", f"--socket={parts.query.get('unix_socket')}", database],
        "postgresql": [
            *("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--username=postgres"),
            *(f"--host={parts.query.get('host')}", database),
        ],
    }[parts.get_backend_name()]
    done = subprocess.run(client, input=script, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- new ------------------------------------------------------------------------------------------


def test_the_migrated_schema_is_that_of_the_models(database: Database) -> None:
    assert differences(database.engine) == []


def test_a_new_database_has_the_reference_s_tables_and_revision_for_its_tools(
    database: Database, theirs: Database
) -> None:
    """All of theirs, by type and by name, and nothing of them in another way."""
    ours = without_collations(structure(database.engine))
    for table, expected in without_collations(structure(theirs.engine)).items():
        for part, items in expected.items():
            if part == "columns":
                assert items.items() <= ours[table][part].items(), table
            elif part == "primary":
                assert items == ours[table][part], table
            else:
                assert items <= ours[table][part], table
    assert dump(database.engine)["alembic_version"] == [{"version_num": ZUN_REVISION}]


def test_a_second_upgrade_changes_nothing(database: Database) -> None:
    before = structure(database.engine), dump(database.engine)
    assert schema.upgrade(database) == schema.HEAD
    assert (structure(database.engine), dump(database.engine)) == before


def test_what_an_upgrade_would_add_is_told_and_not_added(empty: Database, theirs: Database) -> None:
    before = structure(theirs.engine)
    pending = schema.pending(theirs)
    assert [revision for revision, purpose in pending if purpose][-1] == schema.HEAD
    assert structure(theirs.engine) == before
    schema.upgrade(empty)
    assert schema.pending(empty) == []


def test_of_two_upgrades_at_once_both_succeed(empty_url: str, tmp_path: pathlib.Path) -> None:
    """Two programs: the library that upgrades serves one upgrade at a time in a process."""
    configuration = tmp_path / "tierce.conf"
    configuration.write_text(f"[database]\nconnection = {empty_url}\n")
    command = [sys.executable, "-m", "tierce.cli.main", "--config-file", str(configuration), "db", "upgrade"]
    upgrades = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [(upgrade.communicate(timeout=120)[1], upgrade.returncode) for upgrade in upgrades]
    assert [code for _, code in ends] == [0, 0], ends
    database = connection(empty_url)
    assert differences(database.engine) == []
    database.close()


def test_what_is_ours_is_invisible_to_a_writer_that_does_not_know_it(database: Database) -> None:
    """The reference implementation's processes name the columns that they know, and go on writing."""
    run(database.engine, ROWS)
    assert {row["generation"] for row in dump(database.engine)["container"]} == {0}


def test_a_program_says_what_to_run_when_the_schema_is_missing(empty: Database) -> None:
    assert schema.current(empty) is None
    with pytest.raises(schema.SchemaMismatch, match="tierce db upgrade"):
        schema.require_current(empty)
    schema.upgrade(empty)
    schema.require_current(empty)
    assert schema.current(empty) == schema.HEAD


# --- taken over -----------------------------------------------------------------------------------


def test_a_database_taken_over_keeps_every_row_and_its_own_revision(theirs: Database) -> None:
    before = dump(theirs.engine)
    schema.upgrade(theirs)
    after = dump(theirs.engine)

    added = after.keys() - before.keys()
    assert {name for name in added if not name.startswith("tierce_")} == set()
    for table, rows in before.items():
        assert [{name: row[name] for name in rows[0]} for row in after[table]] == rows, table
    assert after["alembic_version"] == [{"version_num": ZUN_REVISION}]


def test_nothing_that_was_there_is_changed(theirs: Database) -> None:
    before = structure(theirs.engine)
    schema.upgrade(theirs)
    after = structure(theirs.engine)
    for table, parts in before.items():
        assert parts["columns"].items() <= after[table]["columns"].items(), table
        for part in ("unique", "indexes", "foreign"):
            assert parts[part] <= after[table][part], table


def test_a_database_taken_over_is_like_a_new_one(theirs: Database) -> None:
    schema.upgrade(theirs)
    assert differences(theirs.engine) == []


@pytest.mark.parametrize("record", ["DROP TABLE {}", "UPDATE {} SET version_num = '0001'"])
def test_a_take_over_that_was_interrupted_is_completed(servers: Servers, record: str) -> None:
    """As MariaDB keeps every step that was done; of the others nothing is left of such a run."""
    with servers.database("mariadb", empty=True) as url:
        database = connection(url)
        take_over(database.engine)
        schema.upgrade(database)
        run(database.engine, record.format(schema.VERSION_TABLE))

        schema.upgrade(database)

        assert differences(database.engine) == []
        assert schema.current(database) == schema.HEAD
        database.close()


def test_rows_taken_over_read_as_they_were_meant(theirs: Database) -> None:
    schema.upgrade(theirs)

    web = theirs.read(
        lambda session: containers.get(session, ADMIN, "cccccccc-0000-4000-8000-000000000001", by_uuid=True)
    )
    assert (web.command, web.environment, web.labels) == (["nginx", "-g"], {"A": "é"}, {})
    assert (web.restart_policy, web.generation) == ({"Name": "on-failure", "MaximumRetryCount": "3"}, 0)
    assert web.registry_uuid == "bbbbbbbb-0000-4000-8000-000000000001"
    # Of two limits the newer one counts, and no number is no limit.
    assert theirs.read(lambda session: quotas.limits(session, "p1")) == {"containers": 7, "cpu": -1}
    (node,) = theirs.read(services.every)
    assert (node.host, node.report_count) == ("node1", 4711)


def test_each_cloud_has_a_name_of_its_own(empty: Database, url: str) -> None:
    schema.upgrade(empty)
    other = connection(url)
    assert empty.read(clouds.ident) != other.read(clouds.ident)
    other.close()


def test_a_service_of_one_node_keeps_the_names_of_its_networks(database: Database) -> None:
    """They were made of the node's uuid, before a cloud had one."""
    moment = datetime.datetime.fromisoformat("2026-11-01")
    node = database.write(lambda session: nodes.save(session, "node1", moment, {}))
    version = f"UPDATE {schema.VERSION_TABLE} SET version_num = '0003'"
    run(database.engine, "DELETE FROM tierce_cloud", version)

    schema.upgrade(database)

    assert database.read(clouds.ident) == node.uuid


# --- as SQL ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind_of_database", ["empty", "theirs"])
def test_the_printed_sql_makes_of_a_database_what_an_upgrade_does(
    request: pytest.FixtureRequest,
    kind_of_database: str,
    empty_url: str,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database: Database = request.getfixturevalue(kind_of_database)
    before = structure(database.engine), dump(database.engine)
    assert tierce_db(empty_url, tmp_path, "upgrade", "--sql") == 0
    script = capsys.readouterr().out
    assert (structure(database.engine), dump(database.engine)) == before

    apply(empty_url, script)

    assert tierce_db(empty_url, tmp_path, "check") == 0
    assert differences(database.engine) == []
    assert len(dump(database.engine)["tierce_cloud"]) == 1
    assert tierce_db(empty_url, tmp_path, "upgrade", "--sql") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("lost", ["DROP TABLE {}", "DELETE FROM {}", "UPDATE {} SET version_num = '0002'"])
def test_the_printed_sql_completes_what_was_interrupted(database: Database, url: str, lost: str) -> None:
    """The database may be at any step of it."""
    name = database.read(clouds.ident)
    run(database.engine, lost.format(schema.VERSION_TABLE))

    apply(url, schema.script(database))

    assert schema.pending(database) == []
    assert differences(database.engine) == []
    assert database.read(clouds.ident) == name


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("DELETE FROM alembic_version", "none"),
        ("UPDATE alembic_version SET version_num = 'f979327df44b'", "f979327df44b"),
        ("INSERT INTO alembic_version VALUES ('f979327df44b')", "f979327df44b"),
        ("DROP TABLE alembic_version", "none"),
    ],
)
def test_other_revisions_are_refused_and_left_alone(theirs: Database, version: str, told: str) -> None:
    run(theirs.engine, version)
    before = structure(theirs.engine), dump(theirs.engine)

    with pytest.raises(schema.SchemaMismatch, match=f"{told}.*zun-db-manage upgrade"):
        schema.upgrade(theirs)
    with pytest.raises(schema.SchemaMismatch):
        schema.script(theirs)

    assert (structure(theirs.engine), dump(theirs.engine)) == before
