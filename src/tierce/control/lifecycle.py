"""Accepting what changes a container's state: start, stop and their like, and delete."""

from typing import Any

from sqlalchemy.orm import Session

from tierce.control import lookup
from tierce.control.intake import Intake
from tierce.control.liveness import Liveness
from tierce.control.messages import Messages
from tierce.control.policy import Policy
from tierce.db import containers
from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import ContainerHostNotUp
from tierce.model.lifecycle import STOP_BEFORE_DELETE, Status, require_allowed
from tierce.placement.base import Placement


class Lifecycle:
    def __init__(
        self, intake: Intake, policy: Policy, liveness: Liveness, placement: Placement, messages: Messages
    ) -> None:
        self._intake = intake
        self._policy = policy
        self._liveness = liveness
        self._placement = placement
        self._messages = messages

    def start(self, context: RequestContext, ident: str) -> None:
        """Accept a start. Like all of these: raises ContainerNotFound, Conflict, PolicyNotAuthorized,
        InvalidState when its status or another action forbids it, ContainerHostNotUp.
        """
        self._messages.start(context, self._accept(context, ident, "start"))

    def stop(self, context: RequestContext, ident: str, timeout: int | None) -> None:
        """Accept a stop with `timeout` s of grace (None: the runtime's own)."""
        self._messages.stop(context, self._accept(context, ident, "stop", timeout=timeout), timeout)

    def reboot(self, context: RequestContext, ident: str, timeout: int | None) -> None:
        """Accept a restart with `timeout` s of grace."""
        self._messages.reboot(context, self._accept(context, ident, "reboot", timeout=timeout), timeout)

    def pause(self, context: RequestContext, ident: str) -> None:
        """Accept a pause."""
        self._messages.pause(context, self._accept(context, ident, "pause"))

    def unpause(self, context: RequestContext, ident: str) -> None:
        """Accept an unpause."""
        self._messages.unpause(context, self._accept(context, ident, "unpause"))

    def kill(self, context: RequestContext, ident: str, signal: str | None) -> None:
        """Accept a signal (None: KILL)."""
        self._messages.kill(context, self._accept(context, ident, "kill", signal=signal), signal)

    def delete(
        self, context: RequestContext, ident: str, *, force: bool, stop: bool, all_projects: bool
    ) -> None:
        """Accept a delete; the container is gone when its node has removed everything of it.

        One without a node goes at once. One whose node is down needs `force`: its claim is freed now,
        and the node removes the rest when it is back.
        """
        if all_projects:
            self._policy.require(context, "container:delete_all_projects")

        def work(session: Session) -> tuple[Container, bool] | None:
            container = lookup.permitted(session, self._policy, context, ident, "container:delete")
            stops = stop and container.status == Status.RUNNING
            if stops:
                self._policy.require(context, "container:stop", lookup.target(container))
            if force:
                self._policy.require(context, "container:delete_force", lookup.target(container))
            rule = "delete_after_stop" if stop else "delete_force" if force else "delete"
            require_allowed(rule, container.uuid, container.status, container.task_state)
            if container.host is None:
                containers.destroy(session, container)
                return None
            if not self._liveness.is_up(session, container.host):
                if not force:
                    raise ContainerHostNotUp(container.uuid, container.host)
                self._placement.release(session, container.uuid)
            arguments = {"force": force, "stop_timeout": STOP_BEFORE_DELETE if stop else None}
            self._intake.queue(session, context, container, rule, "delete", arguments)
            return container, stops

        accepted = self._intake.decide(work)
        if accepted is not None:
            container, stops = accepted
            if stops:
                # A node of Zun does not stop what it is to delete.
                self._messages.stop(context, container, STOP_BEFORE_DELETE)
            self._messages.delete(context, container, force)

    def _accept(self, context: RequestContext, ident: str, action: str, **arguments: Any) -> Container:
        def work(session: Session) -> Container:
            container = self._intake.admit(session, context, ident, action)
            self._intake.queue(session, context, container, action, action, arguments)
            return container

        return self._intake.decide(work)
