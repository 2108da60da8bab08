"""Changing a container's size, and what goes with it in one request: its name and `auto_heal`.

While a change of size is at work, the row and its claim hold the larger of old and new, so that there is
room for whatever comes of it. The action remembers both sizes.
"""

import dataclasses
import datetime
from typing import Any

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control import intake, lookup
from tierce.control.intake import Intake
from tierce.control.messages import Messages
from tierce.control.places import Places
from tierce.control.policy import Policy
from tierce.control.quotas import Quotas
from tierce.db import actions, containers
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import (
    BusUnavailable,
    HostNotUp,
    InvalidValue,
    RpcTimeout,
)
from tierce.model.lifecycle import require_allowed
from tierce.model.memory import mebibytes
from tierce.model.spec import ContainerChange
from tierce.placement import cores
from tierce.placement.base import Placement, Resources
from tierce.rpc.client import ComputeClient


class Resizing:
    """Both methods raise ContainerNotFound, Conflict, PolicyNotAuthorized, InvalidState,
    ContainerAlreadyExists, InvalidValue; and for a size OverQuota, ResourcesUnavailable and
    ContainerHostNotUp. Nothing is changed then.
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        intake: Intake,
        policy: Policy,
        quotas: Quotas,
        placement: Placement,
        compute: ComputeClient,
        messages: Messages,
        clock: Clock,
        places: Places,
    ) -> None:
        self._scope = conf.compute.unique_container_name_scope
        self._database = database
        self._intake = intake
        self._policy = policy
        self._quotas = quotas
        self._placement = placement
        self._compute = compute
        self._messages = messages
        self._clock = clock
        self._places = places

    def update(self, context: RequestContext, ident: str, change: ContainerChange) -> Container:
        """Change a container and wait for its node, if that has something to do; the container then.

        Name and `auto_heal` hold once the change is accepted. A node that cannot change the size leaves
        it as it was: Conflict says why. Raises also ServiceBusy (nothing is changed then), and RpcTimeout
        when the node is still at it: the change goes on.
        """
        if not change.has_size:
            return self._intake.decide(lambda session: self._describe(session, context, ident, change))
        with self._places.one(context):
            container, resizes = self._intake.decide(
                lambda session: self._accept_update(session, context, ident, change)
            )
            if resizes:
                self._await(context, container, change)
        return self._database.read(lambda session: containers.require(session, container.uuid))

    def resize(self, context: RequestContext, ident: str, change: ContainerChange) -> Container:
        """Accept a change of size, which an action `resize` does; the container as it was before.

        Raises InvalidValue for a change without a size.
        """
        if not change.has_size:
            raise InvalidValue("Give cpu or memory: a container is resized to one of them, or both.")

        def work(session: Session) -> tuple[Container, Container]:
            before = self._intake.admit(session, context, ident, "resize_container")
            session.expunge(before)
            container = containers.require(session, before.uuid)
            describe(session, container, change, self._scope, self._clock.now())
            self._queue(session, context, container, change, "resize_container")
            return before, container

        before, container = self._intake.decide(work)
        self._messages.resize(context, container, _patch(change))
        return before

    # --- accepting ------------------------------------------------------------------------------

    def _describe(
        self, session: Session, context: RequestContext, ident: str, change: ContainerChange
    ) -> Container:
        """What needs no node, and waits for no action."""
        container = lookup.permitted(session, self._policy, context, ident, "container:update")
        require_allowed("update", container.uuid, container.status, task_state=None)
        return describe(session, container, change, self._scope, self._clock.now())

    def _accept_update(
        self, session: Session, context: RequestContext, ident: str, change: ContainerChange
    ) -> tuple[Container, bool]:
        """The container, and whether its size is to be changed."""
        container = lookup.permitted(session, self._policy, context, ident, "container:update")
        memory = mebibytes(container.memory)
        same = change.cpu in (None, container.cpu) and change.memory in (None, memory)
        if same and not self._is_being_resized(session, container):
            return self._describe(session, context, ident, change), False
        container = self._intake.admit(session, context, ident, "update")
        describe(session, container, change, self._scope, self._clock.now())
        self._queue(session, context, container, change, "update")
        return container, True

    def _is_being_resized(self, session: Session, container: Container) -> bool:
        """Whether the row has a size that is not the container's, nor the one it is to have."""
        return "resize" in actions.unfinished(session, [container.uuid]).get(container.uuid, ())

    def _queue(
        self,
        session: Session,
        context: RequestContext,
        container: Container,
        change: ContainerChange,
        acceptance: str,
    ) -> None:
        more: dict[str, float] = {}
        if change.cpu is not None:
            more["cpu"] = change.cpu - (container.cpu or 0)
        if change.memory is not None:
            more["memory"] = change.memory - (mebibytes(container.memory) or 0)
        self._quotas.reserve(session, container.project_id or "", more)
        queue(session, context, container, change, acceptance, self._placement, self._clock.now())

    # --- waiting --------------------------------------------------------------------------------

    def _await(self, context: RequestContext, container: Container, change: ContainerChange) -> None:
        host = container.host or ""
        try:
            self._compute.container_update(context, host, container, patch=_patch(change))
        except (RpcTimeout, BusUnavailable, HostNotUp) as exc:
            queued = (
                f"The size of container {container.uuid} is not changed yet. The change is queued: "
                f"its action {context.request_id} says what comes of it."
            )
            raise RpcTimeout(f"{queued} ({exc.message})", f"{queued} ({exc.summary})") from exc


def describe(
    session: Session, container: Container, change: ContainerChange, scope: str, now: datetime.datetime
) -> Container:
    """Write the part of a change that no node has to do. Raises ContainerAlreadyExists, StaleObject."""
    if change.name is not None and change.name != container.name:
        containers.rename(session, container, change.name, scope, now)
    if change.auto_heal is not None and change.auto_heal != container.auto_heal:
        containers.swap(session, container, now, auto_heal=change.auto_heal)
    return container


def queue(
    session: Session,
    context: RequestContext,
    container: Container,
    change: ContainerChange,
    acceptance: str,
    placement: Placement,
    now: datetime.datetime,
) -> None:
    """Take what the change needs of the container's node, and queue the action.

    Raises InvalidValue, InvalidState, ResourcesUnavailable, StaleObject.
    """
    before = (container.cpu, mebibytes(container.memory))
    cpu = before[0] if change.cpu is None else change.cpu
    memory = before[1] if change.memory is None else change.memory
    if cores.is_dedicated(container):
        cores.require_whole(cpu)
    reserved = (max(cpu or 0, before[0] or 0), max(memory or 0, before[1] or 0))
    placement.reclaim(session, container.uuid, container.host or "", Resources.of(*reserved, container.disk))
    arguments: dict[str, Any] = {
        "cpu": cpu,
        "memory": memory,
        "cpu_before": before[0],
        "memory_before": before[1],
    }
    values: dict[str, Any] = {"cpu": reserved[0], "memory": str(reserved[1])}
    if cores.is_dedicated(container):
        widest = cores.widen(session, container, *reserved)
        count = Resources.of(cpu, None, None).vcpus
        after = dataclasses.replace(widest, cpus=widest.cpus[:count])
        arguments |= {"cpuset": after.cpuset, "cpuset_before": container.cpuset}
        values["cpuset"] = widest.cpuset
    intake.queue(session, context, container, acceptance, "resize", arguments, now, **values)


def _patch(change: ContainerChange) -> dict[str, Any]:
    """The change of size as a message has it."""
    patch: dict[str, Any] = {}
    if change.cpu is not None:
        patch["cpu"] = change.cpu
    if change.memory is not None:
        patch["memory"] = str(change.memory)
    return patch
