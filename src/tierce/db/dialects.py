"""What a connection needs on each kind of database, so that transactions are alike on all of them."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from typing import Any, Final, Protocol

from oslo_config import cfg
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import ConnectionPoolEntry

WRITES: Final = "tierce_writes"
"""The execution option that says whether a transaction is to write."""


class SqliteConnection(Protocol):
    """The part of sqlite3.Connection used here."""

    isolation_level: str | None

    def execute(self, sql: str) -> Any: ...


class MysqlConnection(Protocol):
    """The part of a MySQL driver's connection used here."""

    def cursor(self) -> contextlib.AbstractContextManager[Any]: ...

    def rollback(self) -> None: ...


def prepare_sqlite(engine: Engine, wait: int) -> None:
    """One writer at a time, for which others wait up to `wait` s; what is committed survives a power cut."""

    @event.listens_for(engine, "connect")
    def configure(connection: SqliteConnection, _entry: ConnectionPoolEntry) -> None:
        # The driver's own BEGIN comes too late and is always deferred; ours are below.
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout={wait * 1000}",
            # FULL: an accepted request survives a power cut, not only a killed process.
            "synchronous=FULL",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        with _alone_in_the_directory(connection):
            connection.execute("PRAGMA journal_mode=WAL")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if _writes(connection) else "BEGIN")


@contextlib.contextmanager
def _alone_in_the_directory(connection: SqliteConnection) -> Iterator[None]:
    """Keep other programs of ours from the same step: SQLite waits for no lock when it changes the journal
    of a new database, and refuses all but one of those who come at once.
    """
    _, _, path = connection.execute("PRAGMA database_list").fetchone()
    if not path:  # in memory
        yield
        return
    # Not the database itself: closing any descriptor of it ends SQLite's own locks.
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def prepare_snapshots(engine: Engine) -> None:
    """On a server: a transaction that only reads sees one moment of the database."""

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if not _writes(connection):
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def _writes(connection: Connection) -> bool:
    """Whether the transaction is one of `Database.write`, or not one of ours (a migration)."""
    return bool(connection.get_execution_options().get(WRITES, True))


def mysql_arguments(options: cfg.ConfigOpts.GroupAttr, patient: bool) -> dict[str, Any]:
    """What the driver takes. `patient`: no statement runs out of time."""
    limit = None if patient else options.statement_timeout
    return {
        # Whatever the URL says: the older `utf8` cannot carry every character.
        "charset": "utf8mb4",
        "connect_timeout": options.connect_timeout,
        "read_timeout": limit,
        "write_timeout": limit,
    }


def prepare_mysql(engine: Engine, options: cfg.ConfigOpts.GroupAttr) -> None:
    """Sessions with our rules, whatever the server's are."""

    @event.listens_for(engine, "connect")
    def configure(connection: MysqlConnection, _entry: ConnectionPoolEntry) -> None:
        with connection.cursor() as cursor:
            # Strict: an over-long value is an error rather than cut.
            cursor.execute(
                "SET SESSION sql_mode = 'TRADITIONAL', time_zone = '+00:00', "
                "innodb_lock_wait_timeout = %(seconds)s, lock_wait_timeout = %(seconds)s",
                {"seconds": options.lock_timeout},
            )


def roll_back_what_is_open(engine: Engine) -> None:
    """Roll a connection back on its way to the pool only if its transaction is still open: a ROLLBACK behind
    every COMMIT would cost as much as a statement.
    """

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.info["open"] = True

    @event.listens_for(engine, "commit")
    @event.listens_for(engine, "rollback")
    def ending(connection: Connection) -> None:
        # An end that fails is that of a lost connection, or SQLAlchemy rolls it back.
        if not connection.invalidated:
            connection.info["open"] = False

    @event.listens_for(engine, "reset")
    def reset(connection: MysqlConnection, entry: ConnectionPoolEntry, _state: object) -> None:
        if entry.info.get("open"):
            connection.rollback()


def postgresql_arguments(options: cfg.ConfigOpts.GroupAttr, patient: bool) -> dict[str, Any]:
    """What the driver takes. `patient`: no statement, and no wait for a lock, runs out of time."""
    seconds = {"lock_timeout": options.lock_timeout, "statement_timeout": options.statement_timeout}
    settings = {name: f"{value}s" for name, value in seconds.items() if not patient}
    settings["timezone"] = "UTC"
    return {
        "connect_timeout": options.connect_timeout,
        "tcp_user_timeout": options.statement_timeout * 1000,  # a peer that is gone does not say so
        "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
    }
