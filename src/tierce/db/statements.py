"""What several queries are made of: the outcome of a change, and numbers that databases take differently."""

from collections.abc import Mapping
from typing import Any
from typing import cast as typed

from sqlalchemy import BigInteger, ColumnElement, CursorResult, Insert, Update, case, cast, func
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


def changed(session: Session, statement: Update, values: Mapping[str, Any] | None = None) -> int:
    """Run an UPDATE with the values of its parameters; the number of rows that it matched."""
    return typed("CursorResult[Any]", session.execute(statement, values)).rowcount


def inserted(session: Session, statement: Insert, values: Mapping[str, Any]) -> int:
    """Run an INSERT of one row with these values; its id."""
    key = typed("CursorResult[Any]", session.execute(statement, values)).inserted_primary_key
    return int(key[0]) if key else 0


class leading_number(FunctionElement[int]):  # noqa: N801 (named as other functions of SQL are)
    """The number that a text begins with; 0 or NULL, by database, where it begins with none."""

    type = BigInteger()
    inherit_cache = True


@compiles(leading_number)
def _lenient(element: leading_number, compiler: SQLCompiler, **kwargs: Any) -> str:
    return compiler.process(cast(_operand(element), BigInteger), **kwargs)


@compiles(leading_number, "postgresql")
def _strict(element: leading_number, compiler: SQLCompiler, **kwargs: Any) -> str:
    # A cast fails here on whatever is no number. Fifteen digits: the sum of many still fits.
    digits = func.substring(_operand(element), "^[0-9]{1,15}")
    return compiler.process(cast(digits, BigInteger), **kwargs)


class rounded_up(FunctionElement[int]):  # noqa: N801 (named as other functions of SQL are)
    """A number, which is not negative, rounded up to a whole one; NULL for NULL."""

    type = BigInteger()
    inherit_cache = True


@compiles(rounded_up)
def _ceiling(element: rounded_up, compiler: SQLCompiler, **kwargs: Any) -> str:
    # A cast rounds to the nearest here.
    return compiler.process(cast(func.ceiling(_operand(element)), BigInteger), **kwargs)


@compiles(rounded_up, "sqlite")
def _truncated(element: rounded_up, compiler: SQLCompiler, **kwargs: Any) -> str:
    # Not every SQLite is built with its mathematical functions; a cast cuts off what is behind the point.
    operand = _operand(element)
    whole = cast(operand, BigInteger)
    return compiler.process(case((operand > whole, whole + 1), else_=whole), **kwargs)


def _operand(element: FunctionElement[int]) -> ColumnElement[Any]:
    (operand,) = element.clauses
    return operand
