"""Requests that wait for a container's node: who may, in which state, and whether the node is there."""

import contextlib
from collections.abc import Callable, Iterator

from sqlalchemy.orm import Session

from tierce.control import lookup
from tierce.control.liveness import Liveness
from tierce.control.places import Places
from tierce.control.policy import Policy
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import Invalid
from tierce.model.lifecycle import require_allowed
from tierce.observability import logs

Check = Callable[[Session, Container], None]


def _anything(_session: Session, _container: Container) -> None:
    """No condition of the action's own."""


class NodeCalls:
    """One object serves a whole process, as its places are the process's."""

    def __init__(self, database: Database, policy: Policy, liveness: Liveness, places: Places) -> None:
        self._database = database
        self._policy = policy
        self._liveness = liveness
        self._places = places

    @contextlib.contextmanager
    def to_node_of(
        self, context: RequestContext, ident: str, action: str, also: Check = _anything
    ) -> Iterator[tuple[Container, str]]:
        """The container and its host, with a place held for the call to come.

        Raises what `lookup.permitted` does, InvalidState, Invalid for one that was never made, what the
        check `also` raises, Conflict for a container without a host, ContainerHostNotUp; and ServiceBusy
        when too many wait already.
        """

        def work(session: Session) -> tuple[Container, str]:
            container = lookup.permitted(session, self._policy, context, ident, f"container:{action}")
            require_allowed(action, container.uuid, container.status, container.task_state)
            _require_made(container)
            also(session, container)
            return container, self._liveness.require_host_of(session, container)

        container, host = self._database.read(work)
        with self._places.one(context), logs.about(container=container.uuid, action=action):
            yield container, host


def _require_made(container: Container) -> None:
    if container.host is not None and container.container_id is None:
        raise Invalid(
            "Cannot operate an uncreated container: its creation failed, and its status_reason says why. "
            "Delete it, or rebuild it."
        )
