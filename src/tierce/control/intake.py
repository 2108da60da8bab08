"""Accepting an action: the checks that every one needs, and the writes that make it durable.

Whoever accepts does it in one transaction: `decide` runs it, `admit` checks, `queue` writes.
"""

import datetime
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from tierce.control import lookup
from tierce.control.liveness import Liveness
from tierce.control.policy import Policy
from tierce.db import actions, containers
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import InvalidState, StaleObject
from tierce.model.lifecycle import ACCEPTANCE, require_allowed

T = TypeVar("T")

_RACES = 5
"""Times that a lost compare-and-swap is decided again on the new state before the caller hears of it."""


class Intake:
    def __init__(self, database: Database, policy: Policy, liveness: Liveness, clock: Clock) -> None:
        self._database = database
        self._policy = policy
        self._liveness = liveness
        self._clock = clock

    def decide(self, work: Callable[[Session], T]) -> T:
        """See `decide` below."""
        return decide(self._database, work)

    def admit(self, session: Session, context: RequestContext, ident: str, action: str) -> Container:
        """The container, on which the caller may do `action` now.

        Raises ContainerNotFound, Conflict, PolicyNotAuthorized, InvalidState, ContainerHostNotUp.
        """
        container = lookup.permitted(session, self._policy, context, ident, f"container:{action}")
        require_allowed(action, container.uuid, container.status, container.task_state)
        self._liveness.require_host_of(session, container)
        return container

    def queue(
        self,
        session: Session,
        context: RequestContext,
        container: Container,
        acceptance: str,
        action: str,
        arguments: dict[str, Any],
        **values: Any,
    ) -> None:
        """See `queue` below."""
        queue(session, context, container, acceptance, action, arguments, self._clock.now(), **values)


def decide(database: Database, work: Callable[[Session], T]) -> T:
    """Commit a decision; it is made again on the new state when the row changed under it."""
    for _ in range(_RACES):
        try:
            return database.write(work)
        except StaleObject:
            continue
    return database.write(work)


def queue(
    session: Session,
    context: RequestContext,
    container: Container,
    acceptance: str,
    action: str,
    arguments: dict[str, Any],
    now: datetime.datetime,
    **values: Any,
) -> None:
    """Write what accepting `acceptance` means, with more columns in `values`, and queue `action`.

    Raises StaleObject; InvalidState when another action is unfinished that this one cannot wait for.
    """
    accepted = ACCEPTANCE[acceptance]
    if accepted.task_state is None:
        _require_idle(session, acceptance, container)
    changes: dict[str, Any] = {"task_state": accepted.task_state} | values
    if accepted.status is not None:
        changes["status"] = accepted.status
    containers.swap(session, container, now, **changes)
    actions.enqueue(
        session,
        context,
        action=action,
        container_uuid=container.uuid,
        host=container.host,
        arguments=arguments,
        now=now,
    )


def _require_idle(session: Session, acceptance: str, container: Container) -> None:
    unfinished = actions.unfinished(session, [container.uuid]).get(container.uuid)
    if unfinished:
        raise InvalidState(
            f"Cannot {acceptance} container {container.uuid} in {container.status} state "
            f"while {', '.join(unfinished)} is in progress"
        )
