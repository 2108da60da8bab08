"""Queries of quota limits, and the lock under which a project's usage is counted.

The tables have no unique key, so another program may have left several rows for one limit: a change
writes them all, and of rows that differ the newest counts.
"""

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import bindparam, delete, literal, select, true, union_all, update
from sqlalchemy.orm import Session

from tierce.db import containers, locks
from tierce.db.statements import changed
from tierce.db.tables import Quota, QuotaClass

DEFAULT_CLASS = "default"

# The project's own come last, the newest of all at the end. Built once, as every creation asks.
_LIMITS: Any = union_all(
    select(QuotaClass.resource, QuotaClass.hard_limit, literal(0).label("own"), QuotaClass.id).where(
        QuotaClass.class_name == DEFAULT_CLASS
    ),
    select(Quota.resource, Quota.hard_limit, literal(1).label("own"), Quota.id).where(
        Quota.project_id == bindparam("project")
    ),
)
_LIMITS_IN_ORDER: Any = _LIMITS.order_by("own", "id")
_USAGE, _LIMIT = containers.USAGE.subquery(), _LIMITS.subquery()
_STANDING: Any = (
    select(*_USAGE.columns, _LIMIT.c.resource, _LIMIT.c.hard_limit)
    .select_from(_USAGE.outerjoin(_LIMIT, true()))
    .order_by(_LIMIT.c.own, _LIMIT.c.id)
)


def lock_project(session: Session, project_id: str) -> None:
    """Hold the project's quota until the transaction ends: others of the project wait here."""
    locks.hold(session, project_id)


def limits(session: Session, project_id: str) -> dict[str, int]:
    """Limits set for the project or for the default class; -1: none."""
    return _newest(session.execute(_LIMITS_IN_ORDER, {"project": project_id}))


def standing(session: Session, project_id: str) -> tuple[dict[str, int], dict[str, float]]:
    """`limits`, and what the project's containers add up to, in the same units; in one statement."""
    rows = session.execute(_STANDING, {"project": project_id}).all()
    count, *sums = rows[0][:4]
    cpu, memory, disk = containers.amounts(*sums)
    return _newest(row[4:] for row in rows), {"containers": count, "cpu": cpu, "memory": memory, "disk": disk}


def of_class(session: Session, class_name: str) -> dict[str, int]:
    """Limits set for the class; -1: none."""
    limits_of = select(QuotaClass.resource, QuotaClass.hard_limit)
    rows = session.execute(limits_of.where(QuotaClass.class_name == class_name).order_by(QuotaClass.id))
    return _newest(rows)


def set_project(session: Session, project_id: str, wanted: Mapping[str, int], now: datetime.datetime) -> None:
    """Set the project's own limits; those that are not named stay."""
    for resource, limit in wanted.items():
        same = update(Quota).where(Quota.project_id == project_id, Quota.resource == resource)
        if not changed(session, same.values(hard_limit=limit, updated_at=now)):
            session.add(Quota(project_id=project_id, resource=resource, hard_limit=limit, created_at=now))


def set_class(session: Session, class_name: str, wanted: Mapping[str, int], now: datetime.datetime) -> None:
    """Set the class's limits; those that are not named stay."""
    for resource, limit in wanted.items():
        same = update(QuotaClass).where(QuotaClass.class_name == class_name, QuotaClass.resource == resource)
        if not changed(session, same.values(hard_limit=limit, updated_at=now)):
            session.add(
                QuotaClass(class_name=class_name, resource=resource, hard_limit=limit, created_at=now)
            )


def forget_project(session: Session, project_id: str) -> None:
    """Drop the project's own limits, if it has any."""
    session.execute(delete(Quota).where(Quota.project_id == project_id))


def _newest(rows: Iterable[Any]) -> dict[str, int]:
    """The limits of rows that begin with resource and limit; of several for one resource the last."""
    return {resource: -1 if limit is None else limit for resource, limit, *_ in rows if resource is not None}
