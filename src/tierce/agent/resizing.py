"""The node's end of a change of size: what messages ask for, as queued actions that can be waited for."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from tierce.agent.operations.base import Plugs
from tierce.control import intake, resizing
from tierce.db import actions, containers
from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, RpcTimeout
from tierce.model.spec import ContainerChange


class Resizing:
    def __init__(
        self, plugs: Plugs, wake: Callable[[str], None], wait_for: Callable[[str, float], bool]
    ) -> None:
        """`wait_for` waits so many seconds until nothing is being done to a container."""
        self._plugs = plugs
        self._wake = wake
        self._wait_for = wait_for

    def begin(self, context: RequestContext, uuid: str, patch: Mapping[str, Any]) -> None:
        """Look for the action that the sender has queued; what a Zun API process asks for is queued here."""
        change = ContainerChange(
            name=patch.get("name"),
            auto_heal=patch.get("auto_heal"),
            cpu=None if patch.get("cpu") is None else float(patch["cpu"]),
            memory=None if patch.get("memory") is None else int(patch["memory"]),
        )

        def write(session: Session) -> None:
            if actions.is_ours(session, uuid, context.request_id, "resize"):
                return
            placement, now = self._plugs.placement, self._plugs.clock.now()
            scope = self._plugs.conf.compute.unique_container_name_scope
            container = resizing.describe(session, containers.require(session, uuid), change, scope, now)
            resizing.queue(session, context, container, change, "resize_container", placement, now)

        intake.decide(self._plugs.database, write)
        self._wake(uuid)

    def finish(self, context: RequestContext, uuid: str, patch: Mapping[str, Any]) -> Container:
        """`begin`, and wait for the end; the container then.

        Raises Conflict when it could not be done, RpcTimeout when it is not done yet, ContainerNotFound.
        """
        self.begin(context, uuid, patch)
        self._wait_for(uuid, self._plugs.conf.rpc_response_timeout)
        return self._plugs.database.read(lambda session: self._outcome(session, context, uuid))

    def _outcome(self, session: Session, context: RequestContext, uuid: str) -> Container:
        container = containers.require(session, uuid)
        action = actions.by_request(session, uuid, context.request_id)
        if action is None or action.state not in (actions.State.FINISHED, actions.State.FAILED):
            raise RpcTimeout(container.status_reason or "The container's node is still at work.")
        if action.state == actions.State.FAILED:
            (event, *_) = actions.events(session, action.id)
            raise Conflict(event.details or "")
        return container
