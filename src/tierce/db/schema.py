"""Bring a database to the schema that this version needs, or refuse with the reason.

An empty database gets Zun's schema and our additions; one that stands at Zun's head revision gets
the additions alone, its rows and its `alembic_version` untouched. Alembic is imported only when there
is something to ask it, as it costs memory and start-up time.
"""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from sqlalchemy import Connection, inspect, text

from tierce.db import address
from tierce.db.engine import Database
from tierce.db.tables import ZUN_REVISION
from tierce.model.errors import DatabaseBusy, TierceError

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "tierce_alembic_version"
HEAD = "0005"


class SchemaMismatch(TierceError):
    """The database holds something that this version may not touch."""


def current(database: Database) -> str | None:
    """The revision of our additions; None when there are none yet."""

    def work(connection: Connection) -> str | None:
        if not inspect(connection).has_table(VERSION_TABLE):
            return None
        return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 (our own constant)

    return database.read(lambda session: work(session.connection()))


def upgrade(database: Database) -> str:
    """Upgrade to HEAD; nothing happens when it is there already. Returns HEAD.

    One that was interrupted is completed. Of several at once one works and the others wait.
    Raises SchemaMismatch, with what to do, for a Zun database at another revision than its head, and for
    one that a newer version has upgraded. There is no way down: it would lose what was written since.
    """
    found = current(database)
    if found == HEAD:
        return HEAD
    _require_not_newer(found)
    from alembic import command

    with database.engine.connect() as connection, _alone(connection):
        _require_known(connection)
        connection.rollback()
        command.upgrade(_config(connection), "head")
        connection.commit()
    return HEAD


def script(database: Database) -> str:
    """The SQL of `upgrade` for this database as it is now, which is only looked at. Raises as `upgrade`."""
    found = current(database)
    if found == HEAD:
        return ""
    _require_not_newer(found)
    return database.read(lambda session: _script(session.connection(), found))


def _script(connection: Connection, found: str | None) -> str:
    _require_known(connection)
    from alembic import command

    written = io.StringIO()
    if found is None and inspect(connection).has_table(VERSION_TABLE):
        # Of an upgrade that was interrupted. It is empty, and the first revision makes it.
        written.write(f"DROP TABLE {VERSION_TABLE};\n\n")
    command.upgrade(_config(connection, written), f"{found or 'base'}:head", sql=True)
    return written.getvalue()


def pending(database: Database) -> list[tuple[str, str]]:
    """The revisions that `upgrade` would add, oldest first, each with its purpose. Raises as `upgrade`."""
    found = current(database)
    if found == HEAD:
        return []
    _require_not_newer(found)
    database.read(lambda session: _require_known(session.connection()))
    from alembic.script import ScriptDirectory

    revisions = ScriptDirectory.from_config(_config()).iterate_revisions("head", found or "base")
    return [(each.revision, each.doc) for each in revisions][::-1]


def require_current(database: Database) -> None:
    """Raise SchemaMismatch unless the database is at HEAD."""
    found = current(database)
    if found != HEAD:
        _require_not_newer(found)
        raise SchemaMismatch(
            f"The database {address.summary(database.engine.url)} is at schema {found or 'none'}, "
            f"this version needs {HEAD}: run `tierce db upgrade`."
        )


def _require_not_newer(found: str | None) -> None:
    # Revisions are numbered.
    if found is not None and found > HEAD:
        raise SchemaMismatch(
            f"The database is at schema {found}, and this version knows those up to {HEAD}: a newer version "
            "has upgraded it. Run that one, or restore the copy that was made before."
        )


@contextlib.contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Keep other upgrades of this database away; on SQLite its transaction does."""
    lock, unlock = _LOCKS.get(connection.dialect.name, ("SELECT 1", "SELECT 1"))
    if connection.execute(text(lock)).scalar() == 0:
        raise DatabaseBusy("Another upgrade of the database goes on. Try again when it has ended.")
    connection.commit()
    try:
        yield
    finally:
        connection.rollback()
        connection.execute(text(unlock))
        connection.commit()


_LOCKS = {
    "mysql": (
        "SELECT GET_LOCK(CONCAT('tierce_schema_', DATABASE()), 600)",
        "SELECT RELEASE_LOCK(CONCAT('tierce_schema_', DATABASE()))",
    ),
    "postgresql": (
        "SELECT pg_advisory_lock(hashtext('tierce_schema'))",
        "SELECT pg_advisory_unlock(hashtext('tierce_schema'))",
    ),
}
"""Locks of a connection, beyond its transactions: MariaDB commits at every step."""


def _config(connection: Connection | None = None, output: TextIO | None = None) -> "Config":
    """Of migrations for the database of `connection`; SQL goes to `output`."""
    from alembic.config import Config

    config = Config(output_buffer=output, attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _require_known(connection: Connection) -> None:
    inspector = inspect(connection)
    if not inspector.has_table("container"):
        return
    rows = (
        list(connection.execute(text("SELECT version_num FROM alembic_version")).scalars())
        if inspector.has_table("alembic_version")
        else []
    )
    if rows != [ZUN_REVISION]:
        raise SchemaMismatch(
            f"This database holds Zun's tables at revision {', '.join(rows) or 'none'}; only its head "
            f"{ZUN_REVISION} (Zun 18) can be taken over. Run Zun 18's `zun-db-manage upgrade` first; drop a "
            "database that was new and whose first `tierce db upgrade` was interrupted."
        )
