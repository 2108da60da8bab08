"""Queries of the registry table. A password comes and goes as its token: see `secrets.py`."""

import datetime
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_db import exception as db_exception
from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from tierce.db.paging import paginate, require_sortable
from tierce.db.statements import changed
from tierce.db.tables import Registry
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, RegistryInUse, RegistryNotFound
from tierce.model.spec import ListQuery

SORTABLE = frozenset("id uuid name domain username project_id user_id created_at updated_at".split())


def get(session: Session, context: RequestContext, ident: str, *, by_uuid: bool) -> Registry:
    """One registry by uuid or by exact name, among those the caller may see.

    An administrator's name is looked for in its own project first. Raises RegistryNotFound, and
    Conflict for a name that several have.
    """
    statement = select(Registry).where((Registry.uuid if by_uuid else Registry.name) == ident)
    own_first = context.replace(all_projects=by_uuid and context.all_projects)
    found = session.scalars(statement.where(*_scope(own_first))).all()
    if not found and context.all_projects:
        found = session.scalars(statement.where(*_scope(context))).all()
    if not found:
        raise RegistryNotFound(ident)
    if len(found) > 1:
        raise Conflict("Multiple registries exist with same name. Please use the registry uuid instead.")
    return found[0]


def hold(session: Session, registry: Registry) -> None:
    """Have nobody else change it until the transaction ends, and the object be as it is then.

    Raises RegistryNotFound.
    """
    held = select(Registry).where(Registry.id == registry.id).with_for_update()
    if session.scalar(held.execution_options(populate_existing=True)) is None:
        raise RegistryNotFound(registry.uuid or "")


def by_id(session: Session, registry_id: int) -> Registry | None:
    """The registry that a container refers to, of whatever project, for the service itself."""
    return session.get(Registry, registry_id)


def page(session: Session, context: RequestContext, query: ListQuery) -> Sequence[Registry]:
    """One page of registries.

    Raises RegistryNotFound for a marker out of sight, InvalidParameterValue for a bad sort key.
    """
    require_sortable(query, SORTABLE)
    statement = select(Registry).where(*_scope(context))
    for field, values in query.filters.items():
        statement = statement.where(getattr(Registry, field).in_(values))
    marker = None if query.marker is None else get(session, context, query.marker, by_uuid=True)
    key = getattr(Registry, query.sort_key)
    return session.scalars(paginate(statement, key, Registry.id, marker, query)).all()


def insert(
    session: Session, context: RequestContext, values: Mapping[str, str], now: datetime.datetime
) -> Registry:
    """A new registry of the caller's project with these columns."""
    registry = Registry(
        uuid=str(uuid.uuid4()),
        project_id=context.project_id,
        user_id=context.user_id,
        created_at=now,
        **values,
    )
    session.add(registry)
    session.flush()
    return registry


def destroy(session: Session, registry: Registry) -> None:
    """Remove it. Raises RegistryInUse while a container refers to it."""
    try:
        session.execute(delete(Registry).where(Registry.id == registry.id))
    except db_exception.DBReferenceError as exc:
        raise RegistryInUse(registry.uuid or "") from exc


def tokens(session: Session) -> list[tuple[str, str]]:
    """The uuid and the password's token of every registry of every project that has a password."""
    statement = select(Registry.uuid, Registry.password).where(Registry.password.is_not(None))
    return [(each or "", token or "") for each, token in session.execute(statement)]


def replace_token(session: Session, registry_uuid: str, old: str, new: str) -> bool:
    """Write a password's token if it is still the old one; whether it was."""
    same: tuple[Any, ...] = (Registry.uuid == registry_uuid, Registry.password == old)
    return bool(changed(session, update(Registry).where(*same).values(password=new)))


def _scope(context: RequestContext) -> tuple[ColumnElement[bool], ...]:
    if context.is_admin and context.all_projects:
        return ()
    if context.project_id is not None:
        return (Registry.project_id == context.project_id,)
    return (Registry.user_id == context.user_id,)
