"""Finding the container that a request names, and the checks that come with it."""

import contextlib
import functools
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from sqlalchemy.orm import Session

from tierce.control.policy import Policy
from tierce.db import containers
from tierce.db.tables import Container
from tierce.db.types import JSONDict, JSONList, JSONValue
from tierce.model.context import RequestContext
from tierce.model.errors import NotFound

T = TypeVar("T")

_PLAIN: Final = frozenset(
    column.name
    for column in Container.__table__.columns
    if not isinstance(column.type, JSONList | JSONDict | JSONValue)
)


def canonical_uuid(ident: str) -> str | None:
    """`ident` as a canonical uuid, in whatever spelling it came; None when it is none."""
    try:
        return str(uuid.UUID(ident))
    except ValueError:
        return None


def by_uuid_or_name(ident: str, get: Callable[..., T]) -> T:
    """What `get(ident, by_uuid=...)` finds by uuid, else by name: a name may look like a uuid.

    Raises what it raises for the name.
    """
    as_uuid = canonical_uuid(ident)
    if as_uuid is not None:
        with contextlib.suppress(NotFound):
            return get(as_uuid, by_uuid=True)
    return get(ident, by_uuid=False)


def find(session: Session, context: RequestContext, ident: str) -> Container:
    """The container by uuid, else by name, among those the caller may see.

    An administrator sees all projects, whatever the request says.
    Raises ContainerNotFound, Conflict for an ambiguous name.
    """
    return by_uuid_or_name(ident, functools.partial(containers.get, session, context.finding()))


def permitted(session: Session, policy: Policy, context: RequestContext, ident: str, rule: str) -> Container:
    """`find`, then the rule on what was found. Raises PolicyNotAuthorized besides."""
    container = find(session, context, ident)
    policy.require(context, rule, target(container))
    return container


def target(container: Container) -> Mapping[str, Any]:
    """A container as the target of a policy rule."""
    return _Target(container)


class _Target(Mapping[str, Any]):
    """The columns of a container that hold one plain value each; read only when a rule asks for one."""

    def __init__(self, container: Container) -> None:
        self._container = container

    def __getitem__(self, name: str) -> Any:
        if name not in _PLAIN:
            raise KeyError(name)
        return getattr(self._container, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLAIN)

    def __len__(self) -> int:
        return len(_PLAIN)
