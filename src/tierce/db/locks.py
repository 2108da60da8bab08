"""Locks that last until the transaction ends, by name: one row of a table for each."""

from sqlalchemy import Insert, bindparam, select
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.orm import Session

from tierce.db.tables import LOCK

_HELD = select(LOCK.c.name).where(LOCK.c.name == bindparam("name")).with_for_update()


def hold(session: Session, name: str) -> None:
    """Let nobody else hold `name` until this transaction ends; who wants to waits here."""
    if session.execute(_HELD, {"name": name}).first() is None:
        session.execute(_insert_or_lock(session.get_bind().dialect.name, name))


def _insert_or_lock(dialect: str, name: str) -> Insert:
    """Insert the row, or lock the one that somebody else inserts at this moment.

    A plain INSERT would leave all who wait for that one with a shared lock, in each other's way.
    """
    values = {"name": name}
    if dialect in ("mysql", "mariadb"):
        return mysql.insert(LOCK).values(values).on_duplicate_key_update(values)
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert(LOCK).values(values).on_conflict_do_update(index_elements=[LOCK.c.name], set_=values)
