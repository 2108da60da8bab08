"""Statements that change rows, and what they did: the types that the session's own answer leaves out."""

from typing import Any, cast

from sqlalchemy import CursorResult, Insert, Update
from sqlalchemy.orm import Session


def changed(session: Session, statement: Update) -> int:
    """Run an UPDATE; the number of rows that it matched."""
    return cast("CursorResult[Any]", session.execute(statement)).rowcount


def inserted(session: Session, statement: Insert) -> int:
    """Run an INSERT of one row; its id."""
    key = cast("CursorResult[Any]", session.execute(statement)).inserted_primary_key
    return int(key[0]) if key else 0
