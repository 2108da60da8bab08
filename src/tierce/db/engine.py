"""Connections and transactions, on SQLite, MariaDB and PostgreSQL alike."""

import contextlib
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from oslo_config import cfg
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import exc_filters
from sqlalchemy import create_engine, event, make_url
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from tierce.model.errors import DatabaseBusy

T = TypeVar("T")


class SqliteConnection(Protocol):
    """The part of sqlite3.Connection used here."""

    isolation_level: str | None

    def execute(self, sql: str) -> Any: ...


class MysqlConnection(Protocol):
    """The part of a MySQL driver's connection used here."""

    def cursor(self) -> contextlib.AbstractContextManager[Any]: ...


_RETRIED = (db_exception.DBDeadlock, db_exception.DBConnectionError)
_SQLITE_REFUSALS = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
    }
)
_SQLITE_WAIT = 10
"""Seconds that a transaction waits for another one, of this process or of another."""

DATABASE_TROUBLE = (DatabaseBusy, db_exception.DBError, SQLAlchemyError)
"""What a transaction raises when the database, and not what was asked of it, is the reason."""


class Database:
    """One database: `read` and `write` each run a function in a transaction of its own.

    Errors of the driver arrive as oslo.db's (DBDuplicateEntry, DBReferenceError, ...).
    """

    def __init__(self, engine: Engine, max_retries: int = 10) -> None:
        self.engine = engine
        self._max_retries = max_retries
        # SQLite has one writer. Waiting here is fair and wakes at once; SQLite's own wait polls.
        self._writer = threading.Lock() if engine.dialect.name == "sqlite" else None

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` in a transaction that is rolled back; a lost connection is tried again.

        Raises DatabaseBusy.
        """
        return self._attempt(lambda: self._run(work, writes=False))

    def write(self, work: Callable[[Session], T]) -> T:
        """Run `work` in a transaction and commit it.

        `work` runs again, from the start and on a fresh snapshot, after a deadlock; it must have no
        effect outside the session. Raises DatabaseBusy when the retries run out, or when the database
        is locked by another program, full or read-only.
        """
        return self._attempt(lambda: self._run(work, writes=True))

    def _run(self, work: Callable[[Session], T], writes: bool) -> T:
        with self._transaction(writes) as session:
            return work(session)

    @contextlib.contextmanager
    def _transaction(self, writes: bool) -> Iterator[Session]:
        with self._turn(writes), Session(self.engine, expire_on_commit=False, autoflush=writes) as session:
            session.connection(execution_options={"tierce_writes": writes})
            yield session
            if writes:
                session.commit()

    @contextlib.contextmanager
    def _turn(self, writes: bool) -> Iterator[None]:
        if self._writer is None or not writes:
            yield
            return
        if not self._writer.acquire(timeout=_SQLITE_WAIT):
            raise DatabaseBusy(f"The database was busy for {_SQLITE_WAIT} s. Try again later.")
        try:
            yield
        finally:
            self._writer.release()

    def _attempt(self, run: Callable[[], T]) -> T:
        for attempt in range(self._max_retries + 1):
            try:
                return run()
            except _RETRIED as exc:
                if attempt == self._max_retries:
                    raise DatabaseBusy(
                        f"The database refused the transaction {attempt + 1} times. Try again later."
                    ) from exc
                # Losers of a deadlock come back at different times, or they meet again.
                time.sleep(min(0.01 * 2**attempt, 1.0) * random.uniform(0.5, 1.0))  # noqa: S311 (jitter)
            except (db_exception.DBError, SQLAlchemyError) as exc:
                if _refused_by_sqlite(exc):
                    raise DatabaseBusy("The database is locked, full or read-only. Try again later.") from exc
                raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        self.engine.dispose()


def _refused_by_sqlite(exc: Exception) -> bool:
    original = getattr(getattr(exc, "inner_exception", None) or exc, "orig", None)
    # Extended codes keep the plain one in their last byte.
    return getattr(original, "sqlite_errorcode", 0) & 0xFF in _SQLITE_REFUSALS


def connect(conf: cfg.ConfigOpts) -> Database:
    """The database that `[database]` names."""
    url = make_url(conf.database.connection)
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, pool_size=conf.database.max_pool_size, max_overflow=-1)
        _prepare_sqlite(engine)
    else:
        engine = create_engine(
            url,
            pool_size=conf.database.max_pool_size,
            max_overflow=conf.database.max_overflow,
            pool_recycle=conf.database.connection_recycle_time,
            pool_pre_ping=True,
        )
        if url.get_backend_name() in ("mysql", "mariadb"):
            _prepare_mysql(engine)
    exc_filters.register_engine(engine)
    return Database(engine, conf.database.db_max_retries)


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def configure(connection: SqliteConnection, _entry: ConnectionPoolEntry) -> None:
        # The driver's own BEGIN comes too late and is always deferred; ours are below.
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            # FULL: an accepted request survives a power cut, not only a killed process.
            "synchronous=FULL",
            "foreign_keys=ON",
            f"busy_timeout={_SQLITE_WAIT * 1000}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("tierce_writes", True)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_mysql(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def configure(connection: MysqlConnection, _entry: ConnectionPoolEntry) -> None:
        with connection.cursor() as cursor:
            # Over-long values are errors; a re-read after a lost race sees what won it.
            cursor.execute("SET SESSION sql_mode = 'TRADITIONAL'")
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            cursor.execute("SET SESSION time_zone = '+00:00'")
