"""Reading what was done to a container."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from tierce.control import lookup
from tierce.control.policy import Policy
from tierce.db import actions
from tierce.db.engine import Database
from tierce.db.tables import ContainerAction, ContainerActionEvent
from tierce.model.context import RequestContext
from tierce.model.errors import ActionNotFound


class Actions:
    def __init__(self, database: Database, policy: Policy) -> None:
        self._database = database
        self._policy = policy

    def list(self, context: RequestContext, ident: str) -> Sequence[ContainerAction]:
        """A container's actions, newest first."""
        self._policy.require(context, "container:actions")
        return self._database.read(
            lambda session: actions.of_container(session, lookup.find(session, context, ident).uuid)
        )

    def get(
        self, context: RequestContext, ident: str, request_id: str
    ) -> tuple[ContainerAction, Sequence[ContainerActionEvent], bool]:
        """The action of one request, its events, and whether the caller may see their tracebacks.

        Raises ActionNotFound.
        """
        self._policy.require(context, "container:actions")

        def work(session: Session) -> tuple[ContainerAction, Sequence[ContainerActionEvent]]:
            container = lookup.find(session, context, ident)
            action = actions.by_request(session, container.uuid, request_id)
            if action is None:
                raise ActionNotFound(request_id)
            return action, actions.events(session, action.id)

        action, events = self._database.read(work)
        return action, events, self._policy.allows(context, "container:action:events")
