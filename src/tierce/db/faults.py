"""What a database's error means, by its code: SQLite's result code, MySQL's errno, PostgreSQL's SQLSTATE.

Texts differ by version and by language, codes do not. Errors of the driver leave the engine as oslo.db's
classes, as DatabaseBusy (DatabaseAway when an operator must look), or as InvalidValue.
"""

import enum
from collections.abc import Callable, Mapping
from typing import Final

from oslo_db import exception as db_exception
from sqlalchemy import event
from sqlalchemy.engine import URL, Engine, ExceptionContext
from sqlalchemy.exc import DataError

from tierce.db.address import place
from tierce.model.errors import DatabaseAway, DatabaseBusy, InvalidValue


class Fault(enum.Enum):
    """Kinds of errors that the program tells apart."""

    DEADLOCK = enum.auto()
    """The transaction was undone as it met another one: run it again."""
    LOST = enum.auto()
    """There is no connection (any more): try again on another one."""
    REFUSED = enum.auto()
    """The database can do no work of this kind now: it is full, read-only, locked or out of time."""
    DENIED = enum.auto()
    """The account is refused, or may not do that, or there is no such database: until an operator acts."""
    DUPLICATE = enum.auto()
    REFERENCE = enum.auto()
    DATA = enum.auto()
    """A value does not fit its column."""


def _by_code(table: Mapping[Fault, str]) -> dict[str, Fault]:
    return {code: fault for fault, codes in table.items() for code in codes.split()}


_SQLITE: Final = _by_code(
    {
        # BUSY LOCKED READONLY IOERR FULL; CANTOPEN NOTADB;
        # UNIQUE PRIMARYKEY ROWID; FOREIGNKEY; TOOBIG MISMATCH
        Fault.REFUSED: "5 6 8 10 13",
        Fault.DENIED: "14 26",
        Fault.DUPLICATE: "2067 1555 2579",
        Fault.REFERENCE: "787",
        Fault.DATA: "18 20",
    }
)
_MYSQL: Final = _by_code(
    {
        # Deadlock (a Galera node says so too when another node won), lock time-out, changed since it was read
        Fault.DEADLOCK: "1213 1205 1020",
        # No server, none of that name, gone, killed, shut down, too many connections, not in its cluster
        Fault.LOST: "2002 2003 2005 2006 2013 2055 1927 1053 1077 1079 1040 1203 1047 4031",
        # Disk or table full, read-only, out of time
        Fault.REFUSED: "1021 1114 1290 1792 1836 1317 1969 3024",
        # Not for this account, wrong password, no such database, not from that host, not on this table
        Fault.DENIED: "1044 1045 1049 1698 1130 1142",
        Fault.DUPLICATE: "1022 1062 1586",
        Fault.REFERENCE: "1216 1217 1451 1452",
        Fault.DATA: "1264 1265 1292 1366 1406 1690 3988",
    }
)
_POSTGRESQL: Final = _by_code(
    {
        # Serialization failure, deadlock, lock time-out
        Fault.DEADLOCK: "40001 40P01 55P03",
        # Connection exceptions, shut down, crashed, starting, ended while idle, too many connections
        Fault.LOST: "08 57P01 57P02 57P03 57P05 25P03 53300",
        # Out of disk or memory, system error, read-only, out of time
        Fault.REFUSED: "53 58 25006 57014",
        # No such account or a wrong password, no such database, not for this account. A connection that is
        # refused has no state in libpq, and is LOST with the server's words; behind a pooler it has one.
        Fault.DENIED: "28 3D000 42501",
        Fault.DUPLICATE: "23505",
        Fault.REFERENCE: "23001 23503",
        Fault.DATA: "22",
    }
)


def fault_of(dialect: str, error: BaseException | None) -> Fault | None:
    """The kind of an error of the driver; None for one that says nothing about the database's state."""
    if dialect == "sqlite":
        code = getattr(error, "sqlite_errorcode", 0)
        # Extended codes keep the plain one in their last byte.
        return _SQLITE.get(str(code)) or _SQLITE.get(str(code & 0xFF))
    if dialect == "postgresql":
        state = getattr(error, "sqlstate", None)
        if state is None:
            # Operational and without a state: not the server's, but that there is none.
            return Fault.LOST if type(error).__name__ == "OperationalError" else None
        return _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2])
    errno = error.args[0] if error is not None and error.args else None
    return _MYSQL.get(str(errno))


def words(error: BaseException | None) -> str:
    """What the driver says, in one line, for operators: it has accounts and addresses, and no password."""
    lines = str(error.args[-1]).splitlines() if error is not None and error.args else []
    return lines[0] if lines else type(error).__name__


def denied(url: URL, error: BaseException | None) -> DatabaseAway:
    """The error for Fault.DENIED."""
    if url.get_backend_name() == "sqlite":
        return DatabaseAway(f"{place(url)} cannot be opened ({words(error)}): see `[database] connection`.")
    account = f"the account {url.username}" if url.username else "an account without a name"
    return DatabaseAway(
        f"{place(url)} refuses {account} for {url.database} ({words(error)}): see `[database] connection`."
    )


def translate(engine: Engine) -> None:
    """Have the engine raise DBDeadlock, DBConnectionError, DBDuplicateEntry, DBReferenceError, DatabaseBusy,
    DatabaseAway and InvalidValue. What is none of these stays SQLAlchemy's own. Which columns a duplicate is
    about is not told: a caller knows which key its statement can meet.
    """

    @event.listens_for(engine, "handle_error", retval=True)
    def handle(context: ExceptionContext) -> BaseException | None:
        error = context.sqlalchemy_exception or context.original_exception
        fault = (
            Fault.LOST
            if context.is_disconnect
            else fault_of(context.dialect.name, context.original_exception)
        )
        if fault is None and isinstance(error, DataError | UnicodeEncodeError):
            fault = Fault.DATA  # refused by the driver, so without a code
        if fault is Fault.DENIED:
            return denied(engine.url, context.original_exception)
        if fault is not Fault.LOST:
            return _RAISED[fault](error) if fault else None
        context.is_disconnect = True
        # The check of a pooled connection replaces it by itself.
        return None if context.is_pre_ping else db_exception.DBConnectionError(error)


_RAISED: Final[Mapping[Fault, Callable[[BaseException], BaseException]]] = {
    Fault.DEADLOCK: db_exception.DBDeadlock,
    Fault.REFUSED: lambda _: DatabaseBusy(
        "The database is locked, full, read-only or overloaded. Try again later."
    ),
    Fault.DUPLICATE: lambda error: db_exception.DBDuplicateEntry(inner_exception=error),
    Fault.REFERENCE: lambda error: db_exception.DBReferenceError(None, None, None, None, error),
    Fault.DATA: lambda _: InvalidValue(
        "A value is too long for the database, or has characters that it cannot hold."
    ),
}
