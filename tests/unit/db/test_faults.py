"""What the codes of each database mean."""

import sqlite3
from typing import Any

import pytest

from tierce.db.faults import Fault, fault_of


class Coded(Exception):
    """A driver's error, as all of them carry their codes."""

    def __init__(self, *args: Any, **codes: Any) -> None:
        super().__init__(*args)
        self.__dict__.update(codes)


@pytest.mark.parametrize(
    ("errno", "fault"),
    [
        (1213, Fault.DEADLOCK),
        (1205, Fault.DEADLOCK),
        (2006, Fault.LOST),
        (2013, Fault.LOST),
        (1047, Fault.LOST),
        (1040, Fault.LOST),
        (1290, Fault.REFUSED),
        (1062, Fault.DUPLICATE),
        (1451, Fault.REFERENCE),
        (1452, Fault.REFERENCE),
        (1406, Fault.DATA),
        (1366, Fault.DATA),
        (1044, Fault.DENIED),
        (1045, Fault.DENIED),
        (1049, Fault.DENIED),
        (1146, None),
    ],
)
def test_codes_of_mysql(errno: int, fault: Fault | None) -> None:
    # It gives an SQLSTATE too, which is too coarse: 23000 is a duplicate and a reference alike.
    error = Coded(errno, "any text, 1213 or Deadlock", sqlstate="23000")
    assert fault_of("mysql", error) is fault


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        ("40001", Fault.DEADLOCK),
        ("40P01", Fault.DEADLOCK),
        ("55P03", Fault.DEADLOCK),
        ("08006", Fault.LOST),
        ("57P01", Fault.LOST),
        ("53300", Fault.LOST),
        ("53100", Fault.REFUSED),
        ("25006", Fault.REFUSED),
        ("57014", Fault.REFUSED),
        ("23505", Fault.DUPLICATE),
        ("23503", Fault.REFERENCE),
        ("22001", Fault.DATA),
        ("22021", Fault.DATA),
        ("28P01", Fault.DENIED),
        ("28000", Fault.DENIED),
        ("3D000", Fault.DENIED),
        ("42501", Fault.DENIED),
        ("42P01", None),
        ("23502", None),
    ],
)
def test_codes_of_postgresql(state: str, fault: Fault | None) -> None:
    assert fault_of("postgresql", Coded("any text, or Verklemmung", sqlstate=state)) is fault


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (sqlite3.SQLITE_BUSY, Fault.REFUSED),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Fault.REFUSED),
        (sqlite3.SQLITE_FULL, Fault.REFUSED),
        (sqlite3.SQLITE_READONLY_DBMOVED, Fault.REFUSED),
        (sqlite3.SQLITE_IOERR_WRITE, Fault.REFUSED),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, Fault.DUPLICATE),
        (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, Fault.DUPLICATE),
        (sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, Fault.REFERENCE),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, Fault.DENIED),
        (sqlite3.SQLITE_NOTADB, Fault.DENIED),
        (sqlite3.SQLITE_CONSTRAINT_NOTNULL, None),
        (sqlite3.SQLITE_ERROR, None),
    ],
)
def test_codes_of_sqlite(code: int, fault: Fault | None) -> None:
    assert fault_of("sqlite", Coded("any text", sqlite_errorcode=code)) is fault


@pytest.mark.parametrize("dialect", ["sqlite", "mysql", "postgresql"])
@pytest.mark.parametrize("error", [None, Exception(), ValueError("Deadlock found"), KeyError(("a", 1))])
def test_errors_without_a_code_mean_nothing(dialect: str, error: Exception | None) -> None:
    assert fault_of(dialect, error) is None
