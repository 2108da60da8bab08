"""Bring a database to the schema that this version needs, or refuse with the reason.

An empty database gets Zun's schema and our additions; one that stands at Zun's head revision gets
the additions alone, its rows and its `alembic_version` untouched. Alembic is imported only when there
is something to ask it, as it costs memory and start-up time.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from tierce.db.engine import Database
from tierce.db.tables import ZUN_REVISION
from tierce.model.errors import TierceError

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "tierce_alembic_version"
HEAD = "0001"


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

    Raises SchemaMismatch, with what to do, for a Zun database at another revision than its head.
    """
    if current(database) == HEAD:
        return HEAD
    from alembic import command

    with database.engine.connect() as connection:
        _require_known(connection)
        connection.rollback()
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
    return HEAD


def require_current(database: Database) -> None:
    """Raise SchemaMismatch unless the database is at HEAD."""
    found = current(database)
    if found != HEAD:
        raise SchemaMismatch(
            f"The database is at schema {found or 'none'}, this version needs {HEAD}: "
            "run `tierce db upgrade`."
        )


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
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
            f"{ZUN_REVISION} (Zun 18) can be taken over. Run Zun 18's `zun-db-manage upgrade` first."
        )
