"""Accepting what changes a container: one transaction that claims it and queues the action."""

from collections.abc import Callable
from typing import Any, TypeVar

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control import liveness, lookup
from tierce.control.messages import Messages
from tierce.control.policy import Policy
from tierce.db import actions, containers
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import ContainerHostNotUp, StaleObject
from tierce.model.lifecycle import ACCEPTANCE, Status, require_allowed
from tierce.placement.base import Placement

T = TypeVar("T")

_RACES = 5
"""Times that a lost compare-and-swap is decided again on the new state before the caller hears of it."""

_STOP_BEFORE_DELETE = 10
"""Seconds of grace of a delete that stops first."""


class Lifecycle:
    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        policy: Policy,
        placement: Placement,
        messages: Messages,
        clock: Clock,
    ) -> None:
        self._down_time = conf.service_down_time
        self._database = database
        self._policy = policy
        self._placement = placement
        self._messages = messages
        self._clock = clock

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

        def work(session: Session) -> Container | None:
            container = lookup.permitted(session, self._policy, context, ident, "container:delete")
            if stop and container.status == Status.RUNNING:
                self._policy.require(context, "container:stop", lookup.target(container))
            if force:
                self._policy.require(context, "container:delete_force", lookup.target(container))
            rule = "delete_after_stop" if stop else "delete_force" if force else "delete"
            require_allowed(rule, container.uuid, container.status, container.task_state)
            if container.host is None:
                containers.destroy(session, container)
                return None
            if not liveness.is_up(session, container.host, self._clock.now(), self._down_time):
                if not force:
                    raise ContainerHostNotUp(container.uuid, container.host)
                self._placement.release(session, container.uuid)
            arguments = {"force": force, "stop_timeout": _STOP_BEFORE_DELETE if stop else None}
            return self._queue(session, context, container, rule, "delete", arguments)

        container = self._decide(work)
        if container is not None:
            self._messages.delete(context, container, force)

    def _accept(self, context: RequestContext, ident: str, action: str, **arguments: Any) -> Container:
        def work(session: Session) -> Container:
            container = lookup.permitted(session, self._policy, context, ident, f"container:{action}")
            require_allowed(action, container.uuid, container.status, container.task_state)
            liveness.require_up(session, container, self._clock.now(), self._down_time)
            return self._queue(session, context, container, action, action, arguments)

        return self._decide(work)

    def _queue(
        self,
        session: Session,
        context: RequestContext,
        container: Container,
        acceptance: str,
        action: str,
        arguments: dict[str, Any],
    ) -> Container:
        now = self._clock.now()
        accepted = ACCEPTANCE[acceptance]
        values: dict[str, Any] = {"task_state": accepted.task_state}
        if accepted.status is not None:
            values["status"] = accepted.status
        containers.swap(session, container, now, **values)
        actions.enqueue(
            session,
            context,
            action=action,
            container_uuid=container.uuid,
            host=container.host,
            arguments=arguments,
            now=now,
        )
        return container

    def _decide(self, work: Callable[[Session], T]) -> T:
        """Run a decision again when the row changed under it, so that it is made on the new state."""
        for _ in range(_RACES):
            try:
                return self._database.write(work)
            except StaleObject:
                continue
        return self._database.write(work)
