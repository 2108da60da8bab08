"""Queries of the container table: scoped reads, pages, compare-and-swap updates, removal."""

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_db import exception as db_exception
from sqlalchemy import ColumnElement, Row, Select, bindparam, delete, func, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from tierce.db import actions
from tierce.db.paging import paginate, require_sortable
from tierce.db.statements import changed, leading_number
from tierce.db.tables import (
    CONTAINER,
    REGISTRY,
    Allocation,
    Container,
    ContainerAction,
    Registry,
    Volume,
    VolumeMapping,
)
from tierce.model.context import RequestContext
from tierce.model.errors import (
    Conflict,
    ContainerAlreadyExists,
    ContainerNotFound,
    RegistryNotFound,
    StaleObject,
)
from tierce.model.lifecycle import SIZED, ContainerType, Status
from tierce.model.spec import ListQuery

SORTABLE = frozenset(
    "id uuid name project_id user_id image image_driver image_pull_policy cpu cpu_policy memory disk workdir "
    "hostname interactive tty auto_remove auto_heal privileged runtime host registry_id status status_reason "
    "status_detail task_state created_at updated_at container_id started_at".split()
)
"""Keys of a list's order: what the API shows, JSON values left out, and three more of old."""

_UNLISTED = frozenset(
    "container_id websocket_url websocket_token capsule_id cpuset exposed_ports registry_id "
    "container_type annotations cni_metadata generation name_key".split()
)
"""Columns that nobody reads from a list."""

# Of plain columns: a list of mapped objects takes several times as long.
_LISTED = select(
    *(column for column in CONTAINER.columns if column.name not in _UNLISTED),
    REGISTRY.c.uuid.label("registry_uuid"),
).select_from(CONTAINER.outerjoin(REGISTRY, REGISTRY.c.id == CONTAINER.c.registry_id))

# Statements that every action runs are built once: building one costs more than running it.
_ENTITY = select(Container, Registry.uuid).outerjoin(Registry, Registry.id == Container.registry_id)
_FOUND = _ENTITY.where(Container.uuid == bindparam("uuid"))
_SWAP = update(CONTAINER).where(
    CONTAINER.c.id == bindparam("row"), CONTAINER.c.generation == bindparam("expected")
)
_SIZES = (
    func.sum(CONTAINER.c.cpu).label("cpu"),
    func.sum(leading_number(CONTAINER.c.memory)).label("memory"),
    func.sum(CONTAINER.c.disk).label("disk"),
)
_GIVEN = select(*_SIZES).where(CONTAINER.c.host == bindparam("host"), CONTAINER.c.container_type.in_(SIZED))
USAGE = select(func.count(CONTAINER.c.id).label("containers"), *_SIZES).where(
    CONTAINER.c.project_id == bindparam("project"), CONTAINER.c.container_type == ContainerType.CONTAINER
)
"""What the containers of a project add up to, as `amounts` takes it."""


def name_key(scope: str, project_id: str | None, name: str | None) -> str | None:
    """The value whose uniqueness makes `name` unique in `scope` ('', project, global)."""
    if not scope or name is None:
        return None
    owner = project_id if scope == "project" else ""
    return hashlib.sha256(f"{scope}\0{owner}\0{name.lower()}".encode()).hexdigest()


def get(session: Session, context: RequestContext, ident: str, *, by_uuid: bool) -> Container:
    """One container by uuid or by name, among those the caller may see.

    A name is looked for as it is spelled, and failing that whatever its case, as it always was on
    MariaDB; an administrator's in its own project first. Raises ContainerNotFound, and Conflict for a
    name that several have.
    """
    containers = _ENTITY.where(Container.container_type == ContainerType.CONTAINER)
    own_first = context.replace(all_projects=by_uuid and context.all_projects)
    look = _by_uuid if by_uuid else _by_name
    found = look(session, containers.where(*_scope(own_first)), ident)
    if not found and context.all_projects:
        found = look(session, containers.where(*_scope(context)), ident)
    if not found:
        raise ContainerNotFound(ident)
    if len(found) > 1:
        raise Conflict("Multiple containers exist with same name. Please use the container uuid instead.")
    return found[0]


def find(session: Session, uuid: str) -> Container | None:
    """One container of any project and type, for the service itself."""
    found = _fetch(session, _FOUND, {"uuid": uuid})
    return found[0] if found else None


def require(session: Session, uuid: str) -> Container:
    """As `find`, for whoever cannot go on without it. Raises ContainerNotFound."""
    container = find(session, uuid)
    if container is None:
        raise ContainerNotFound(uuid)
    return container


def on_host(session: Session, host: str) -> list[Container]:
    """Every container that belongs to a node."""
    return _fetch(
        session,
        _ENTITY.where(Container.host == host, Container.container_type == ContainerType.CONTAINER),
    )


def page(session: Session, context: RequestContext, query: ListQuery) -> Sequence[Row[Any]]:
    """One page of containers as rows of columns, in a total order with NULLs first.

    Raises ContainerNotFound for a marker out of sight, InvalidParameterValue for a bad sort key.
    """
    require_sortable(query, SORTABLE)
    statement = _LISTED.where(
        CONTAINER.c.container_type == ContainerType.CONTAINER, *_scope(context, CONTAINER.c)
    )
    for field, values in query.filters.items():
        statement = statement.where(CONTAINER.c[field].in_(values))
    marker = None if query.marker is None else get(session, context, query.marker, by_uuid=True)
    return session.execute(
        paginate(statement, CONTAINER.c[query.sort_key], CONTAINER.c.id, marker, query)
    ).all()


def fingerprint(session: Session, context: RequestContext) -> tuple[Any, ...]:
    """A value that differs whenever a row that the caller may see was added, changed or removed.

    Ids grow and each of our writes counts a row's generation up, so no two states have the same sums. The
    latest time covers what these miss, to the second: writers that do not count, and an id that SQLite gives
    again to a row as new as the one that had it.
    """
    columns = CONTAINER.c
    facts = select(
        func.count(), func.sum(columns.id), func.sum(columns.generation), func.max(columns.updated_at)
    ).where(columns.container_type == ContainerType.CONTAINER, *_scope(context, columns))
    return tuple(session.execute(facts).one())


def insert(session: Session, container: Container, scope: str) -> Container:
    """Insert a row whose name is unique in `scope`.

    Raises ContainerAlreadyExists, and RegistryNotFound when its registry was removed meanwhile.
    """
    _require_free(session, container, container.name, scope)
    container.name_key = name_key(scope, container.project_id, container.name)
    session.add(container)
    try:
        session.flush()
    except db_exception.DBDuplicateEntry as exc:
        raise ContainerAlreadyExists((container.name or "").lower()) from exc
    except db_exception.DBReferenceError as exc:
        if container.registry_id is None:
            raise
        raise RegistryNotFound(container.registry_uuid or "") from exc
    return container


def swap(session: Session, container: Container, now: datetime.datetime, **values: Any) -> Container:
    """Change `values` if nobody has changed the row since it was read; the object follows.

    Raises StaleObject when somebody has, ContainerNotFound when the row is gone.
    """
    values |= {"updated_at": now, "generation": container.generation + 1}
    row = {"row": container.id, "expected": container.generation}
    if not changed(session, _SWAP, row | values):
        if session.scalar(select(Container.id).where(Container.id == container.id)) is None:
            raise ContainerNotFound(container.uuid)
        raise StaleObject(f"Container {container.uuid} was changed by another request.")
    for field, value in values.items():
        set_committed_value(container, field, value)
    return container


def rename(
    session: Session, container: Container, name: str, scope: str, now: datetime.datetime
) -> Container:
    """Give a container another name, unique in `scope`. Raises as `swap`, and ContainerAlreadyExists."""
    _require_free(session, container, name, scope)
    try:
        return swap(session, container, now, name=name, name_key=name_key(scope, container.project_id, name))
    except db_exception.DBDuplicateEntry as exc:
        raise ContainerAlreadyExists(name.lower()) from exc


def destroy(session: Session, container: Container) -> None:
    """Remove the row with all that hangs on it: mounts, their own volumes, the claim, actions, execs."""
    volumes = select(VolumeMapping.volume_id).where(VolumeMapping.container_uuid == container.uuid)
    if ids := list(session.scalars(volumes)):
        session.execute(delete(VolumeMapping).where(VolumeMapping.container_uuid == container.uuid))
        still_mapped = select(VolumeMapping.volume_id)
        session.execute(delete(Volume).where(Volume.id.in_(ids), Volume.id.not_in(still_mapped)))
    session.execute(delete(Allocation).where(Allocation.consumer_uuid == container.uuid))
    session.execute(delete(Container).where(Container.id == container.id))


def networks_of_neighbours(session: Session, project_id: str | None, host: str, uuid: str) -> set[str]:
    """The networks that other containers of the project are in, or are about to join, on the node."""
    staying = (
        Container.project_id == project_id,
        Container.host == host,
        Container.uuid != uuid,
        Container.status.not_in((Status.DELETING, Status.DELETED)),
    )
    addresses = session.scalars(select(Container.addresses).where(*staying))
    arguments = session.scalars(
        select(ContainerAction.arguments)
        .join(Container, Container.uuid == ContainerAction.container_uuid)
        .where(*staying, actions.UNFINISHED)
    )
    joined = {network for each in addresses for network in each}
    asked = [item for each in arguments if each for item in each.get("requested_networks") or ()]
    return joined | {item["network"] for item in asked}


def given(session: Session, host: str) -> tuple[float, int, int]:
    """vCPUs, MiB and GiB that the node's containers may use, together."""
    return amounts(*session.execute(_GIVEN, {"host": host}).one())


def amounts(cpu: float | None, memory: int | None, disk: int | None) -> tuple[float, int, int]:
    """vCPUs, MiB and GiB of the database's sums; those of no rows are NULL."""
    return round(float(cpu or 0), 3), int(memory or 0), int(disk or 0)


def projects_on_host(session: Session, host: str) -> set[str]:
    """Projects that have a container on the node."""
    return set(session.scalars(select(Container.project_id).where(Container.host == host).distinct()))


def _fetch(
    session: Session, statement: Select[Container, str | None], values: Mapping[str, Any] | None = None
) -> list[Container]:
    found = []
    for container, registry_uuid in session.execute(statement, values):
        container.registry_uuid = registry_uuid
        found.append(container)
    return found


def _by_uuid(session: Session, among: Select[Container, str | None], ident: str) -> list[Container]:
    return _fetch(session, among.where(Container.uuid == ident))


def _by_name(session: Session, among: Select[Container, str | None], name: str) -> list[Container]:
    # Two queries: the first has an index, and is all that most names need.
    found = _fetch(session, among.where(Container.name == name))
    spelled = [container for container in found if container.name == name]
    return spelled or found or _fetch(session, among.where(func.lower(Container.name) == name.lower()))


def _scope(context: RequestContext, columns: Any = Container) -> tuple[ColumnElement[bool], ...]:
    if context.is_admin and context.all_projects:
        return ()
    if context.project_id is not None:
        return (columns.project_id == context.project_id,)
    return (columns.user_id == context.user_id,)


def _require_free(session: Session, container: Container, name: str | None, scope: str) -> None:
    """Refuse a name that a row has of which the constraint knows nothing: of the reference's making, or
    from when names had to be unique in another scope, or in none. Who comes first, the constraint decides.
    """
    if not scope or name is None:
        return
    columns = CONTAINER.c
    namesakes = select(columns.id).where(
        func.lower(columns.name) == name.lower(), columns.uuid != container.uuid
    )
    if scope == "project":
        namesakes = namesakes.where(columns.project_id == container.project_id)
    if session.scalar(namesakes.limit(1)) is not None:
        raise ContainerAlreadyExists(name.lower())
    # One that the reference has renamed still has the key of its former name.
    former = columns.name_key == name_key(scope, container.project_id, name)
    renamed = update(CONTAINER).where(former, func.lower(columns.name) != name.lower())
    session.execute(renamed.values(name_key=None))
