"""Take over what a Zun API process has committed: an action for this node, and the container it creates."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from tierce.agent.operations import OPERATIONS
from tierce.agent.operations.base import Plugs, refused_arguments
from tierce.control.remaking import rebuild_arguments
from tierce.db import actions, containers, volumes, zun_actions
from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, OperationNotSupported, ResourcesUnavailable, TierceError
from tierce.model.lifecycle import (
    ACCEPTANCE,
    STOP_BEFORE_DELETE,
    Acceptance,
    ContainerType,
    Status,
    TaskState,
)
from tierce.placement.base import Resources

_CREATION = Acceptance(TaskState.CREATING, Status.CREATING)
_NO_CAPSULES = "Its node runs containers, and no capsules."


def adopt(
    session: Session,
    plugs: Plugs,
    context: RequestContext,
    container_uuid: str,
    action: str,
    arguments: dict[str, Any],
    mounts: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Queue an action that waits without our columns; nothing happens when there is none.

    Its container says so from now on: of a delete, for one, its sender tells nobody but us. One that it
    creates becomes this node's, which its row does not say yet, takes what it needs of it, and gets its
    `mounts`, which the message alone has (columns of volume_mapping). Where there is no room, and when it
    is a capsule, it ends in Error with the reason; one that was to be created, without a node. Raises
    Conflict for a container of another node. Source: reference, compute 4.3, 6.1, C-20.
    """
    accepted = ACCEPTANCE.get(action, _CREATION)
    held = {"task_state": accepted.task_state, "status": accepted.status}
    adopted = zun_actions.adopt(
        session,
        action=action,
        container_uuid=container_uuid,
        request_id=context.request_id,
        host=plugs.host,
        arguments=_completed(session, context, container_uuid, action, arguments),
        held={column: word for column, word in held.items() if word is not None},
    )
    if not adopted or action not in ("create", "rebuild"):
        return
    container = containers.require(session, container_uuid)
    if container.host not in (None, plugs.host):
        raise Conflict(f"Container {container_uuid} is not on host {plugs.host}.")
    size = Resources.of(container.cpu, container.memory, container.disk)
    try:
        if container.container_type != ContainerType.CONTAINER:
            raise OperationNotSupported(_NO_CAPSULES)
        plugs.placement.reclaim(session, container_uuid, plugs.host, size)
    except (OperationNotSupported, ResourcesUnavailable) as exc:
        _refuse(session, plugs, context, container, action, exc)
    else:
        now = plugs.clock.now()
        containers.swap(session, container, now, host=plugs.host)
        volumes.mount(session, container_uuid, mounts, now)


def resume_delete(session: Session, plugs: Plugs, container: Container) -> bool:
    """Queue the delete that a Zun agent had begun, whose node this was; whether there is one."""
    request = zun_actions.left(session, container.uuid, "delete")
    return request is not None and zun_actions.adopt(
        session,
        action="delete",
        container_uuid=container.uuid,
        request_id=request,
        host=plugs.host,
        arguments={"force": False, "stop_timeout": None},
        held={"task_state": TaskState.DELETING},
    )


def _completed(
    session: Session, context: RequestContext, container_uuid: str, action: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    """The arguments with those that only the database has, or why the action is not to be done."""
    container = containers.find(session, container_uuid)
    if action != "create" and container and container.container_type != ContainerType.CONTAINER:
        # One that a Zun agent made: its members would run on, and nobody would know of them.
        return refused_arguments(OperationNotSupported(_NO_CAPSULES))
    if action == "delete":
        first = actions.by_request(session, container_uuid, context.request_id)
        if first is not None and first.action == "stop":
            # The request has it stopped before, in another message, which may come later.
            return arguments | {"stop_timeout": STOP_BEFORE_DELETE}
    if action == "rebuild" and container is not None:
        return rebuild_arguments(session, container, arguments["run"])
    return arguments


def _refuse(
    session: Session,
    plugs: Plugs,
    context: RequestContext,
    container: Container,
    action_name: str,
    exc: TierceError,
) -> None:
    """End the action before it has begun."""
    now = plugs.clock.now()
    containers.swap(session, container, now, status=Status.ERROR, status_reason=exc.message, task_state=None)
    action = actions.by_request(session, container.uuid, context.request_id)
    assert action is not None  # adopted in this transaction
    event = actions.start_event(session, action, OPERATIONS[action_name].event, now, resume=False)
    actions.finish_event(session, event, now, error=exc.message)
    actions.finish(session, action, now, failed=True)
