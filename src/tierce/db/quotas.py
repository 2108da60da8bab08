"""Queries of quota limits, and the lock under which a project's usage is counted."""

from oslo_db import exception as db_exception
from sqlalchemy import select
from sqlalchemy.orm import Session

from tierce.db.tables import ProjectLock, Quota, QuotaClass

DEFAULT_CLASS = "default"


def lock_project(session: Session, project_id: str) -> None:
    """Hold the project's quota until the transaction ends: others of the project wait here."""
    held = select(ProjectLock).where(ProjectLock.project_id == project_id).with_for_update()
    if session.scalar(held) is not None:
        return
    try:
        with session.begin_nested():
            session.add(ProjectLock(project_id=project_id))
    except db_exception.DBDuplicateEntry:
        session.scalar(held)


def limits(session: Session, project_id: str) -> dict[str, int]:
    """Limits set for the project or for the default class; -1: none. Of duplicates the newest counts."""
    found: dict[str, int] = {}
    classes = select(QuotaClass).where(QuotaClass.class_name == DEFAULT_CLASS).order_by(QuotaClass.id)
    for default in session.scalars(classes):
        if default.resource is not None:
            found[default.resource] = -1 if default.hard_limit is None else default.hard_limit
    for own in session.scalars(select(Quota).where(Quota.project_id == project_id).order_by(Quota.id)):
        found[own.resource] = -1 if own.hard_limit is None else own.hard_limit
    return found
