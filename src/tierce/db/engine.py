"""Connections and transactions, on SQLite, MariaDB (or MySQL) and PostgreSQL alike."""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from oslo_config import cfg
from oslo_db import exception as db_exception
from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, Engine
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError

from tierce.db import dialects, faults
from tierce.db.address import parse_url, place
from tierce.model.errors import DatabaseAway, DatabaseBusy, TierceError

T = TypeVar("T")


_RETRIED = (db_exception.DBDeadlock, db_exception.DBConnectionError, StaleDataError)
_SQLITE_WAIT = 10
"""Seconds that a transaction waits for another one, of this process or of another."""

_MIGRATION_WAIT = 600
"""Seconds that an upgrade of the schema waits for another one."""

_PATIENCE = 30
"""Seconds after which a transaction that is refused is not run again: its caller waits."""

_DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql", "postgresql": "postgresql+psycopg"}
"""What a URL means that names no driver."""

DATABASE_TROUBLE = (DatabaseBusy, db_exception.DBError, SQLAlchemyError)
"""What a transaction raises when the database, and not what was asked of it, is the reason."""


class Database:
    """One database: `read` and `write` each run a function in a transaction of its own.

    Errors of the driver arrive as oslo.db's (DBDuplicateEntry, DBReferenceError, ...): see `db.faults`.
    """

    def __init__(self, engine: Engine, max_retries: int = 10) -> None:
        self.engine = engine
        self._max_retries = max_retries
        # SQLite has one writer. Waiting here is fair and wakes at once; SQLite's own wait polls.
        self._writer = threading.Lock() if engine.dialect.name == "sqlite" else None

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` on one snapshot, in a transaction that is rolled back; a lost connection is tried again.

        Raises DatabaseBusy, and its DatabaseAway when there is no connection.
        """
        return self._attempt(lambda: self._run(work, writes=False))

    def write(self, work: Callable[[Session], T]) -> T:
        """Run `work` in a transaction and commit it. Every statement sees what is committed by then.

        `work` runs again, from the start, after a deadlock, on a lost connection, and when a row that it
        read and changes was removed meanwhile; it must have no effect outside the session. Raises
        DatabaseBusy when the retries run out, when the database is locked by another program, full or
        read-only, and when the connection was lost at the commit: nobody knows then what became of it, and
        running it again could do it twice. DatabaseAway is the one for a database that cannot be reached,
        or refuses the account.
        """
        return self._attempt(lambda: self._run(work, writes=True))

    def _run(self, work: Callable[[Session], T], writes: bool) -> T:
        with self._transaction(writes) as session:
            return work(session)

    @contextlib.contextmanager
    def _transaction(self, writes: bool) -> Iterator[Session]:
        with self._turn(writes), Session(self.engine, expire_on_commit=False, autoflush=writes) as session:
            session.connection(execution_options={dialects.WRITES: writes})
            yield session
            if writes:
                _commit(session)

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
        deadline = time.monotonic() + _PATIENCE
        for attempt in range(self._max_retries + 1):
            try:
                return run()
            except _RETRIED as exc:
                if attempt == self._max_retries or time.monotonic() > deadline:
                    raise self._given_up(exc, attempt + 1) from exc
                # Losers of a deadlock come back at different times, or they meet again.
                time.sleep(min(0.01 * 2**attempt, 1.0) * random.uniform(0.5, 1.0))  # noqa: S311 (jitter)
            except PoolTimeout as exc:
                raise DatabaseBusy("All connections to the database are in use. Try again later.") from exc
        raise AssertionError("unreachable")

    def _given_up(self, exc: Exception, times: int) -> DatabaseBusy:
        if not isinstance(exc, db_exception.DBConnectionError):
            return DatabaseBusy(f"The database refused the transaction {times} times. Try again later.")
        inner = exc.inner_exception
        reason = faults.words(getattr(inner, "orig", inner))
        return DatabaseAway(
            f"{place(self.engine.url)} cannot be reached, tried {times}x ({reason}): "
            "is it up, and `[database] connection` right?"
        )

    def answers(self) -> bool:
        """Whether the database answers now; tried once, however long that takes."""
        try:
            with self.engine.connect() as connection:
                connection.execute(text("SELECT 1"))
        except (*DATABASE_TROUBLE, OSError):
            return False
        return True

    def close(self) -> None:
        self.engine.dispose()


def _commit(session: Session) -> None:
    session.flush()  # so that only the commit itself is in doubt below
    try:
        session.commit()
    except db_exception.DBConnectionError as exc:
        raise DatabaseBusy(
            "The connection to the database was lost at the commit, so the change may be made or not. "
            "Look before you try again."
        ) from exc


def connect(conf: cfg.ConfigOpts, *, patient: bool = False) -> Database:
    """The database that `[database]` names. `patient`: no statement runs out of time (for migrations).

    Raises TierceError when the URL's driver is not installed. Connects at first use.
    """
    options = conf.database
    url = parse_url(conf)
    if url.get_backend_name() == "sqlite":
        engine = _engine(url, options, max_overflow=-1)
        dialects.prepare_sqlite(engine, _MIGRATION_WAIT if patient else _SQLITE_WAIT)
    else:
        mysql = url.get_backend_name() in ("mysql", "mariadb")
        engine = _engine(
            url.set(drivername=_DRIVERS.get(url.drivername, url.drivername)),
            options,
            max_overflow=options.max_overflow,
            pool_timeout=options.pool_timeout,
            pool_recycle=options.connection_recycle_time,
            pool_pre_ping=True,
            # psycopg knows by itself that there is nothing to roll back; PyMySQL always asks.
            pool_reset_on_return=None if mysql else "rollback",
            # A statement after a lock was waited for must see what the lock's owner wrote.
            isolation_level="READ COMMITTED",
            connect_args=(dialects.mysql_arguments if mysql else dialects.postgresql_arguments)(
                options, patient
            ),
        )
        if mysql:
            dialects.prepare_mysql(engine, options)
            dialects.roll_back_what_is_open(engine)
        dialects.prepare_snapshots(engine)
    faults.translate(engine)
    return Database(engine, options.db_max_retries)


def _engine(url: URL, options: cfg.ConfigOpts.GroupAttr, **arguments: Any) -> Engine:
    try:
        # Parameters may be secrets, and errors are logged.
        return create_engine(url, pool_size=options.max_pool_size, hide_parameters=True, **arguments)
    except ModuleNotFoundError as exc:
        raise TierceError(
            f"`[database] connection` wants the driver {exc.name}, which is not installed: "
            f"install Tierce with its extra `mysql` or `postgresql`."
        ) from exc
    except NoSuchModuleError:
        raise TierceError(
            f"`[database] connection` begins with {url.drivername}, which is no kind of database here: "
            f"sqlite, {', '.join(_DRIVERS.values())}."
        ) from None
