"""Take over what a Zun API process has committed: an action for this node, and the container it creates."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from tierce.agent.operations import OPERATIONS
from tierce.agent.operations.base import Plugs
from tierce.db import actions, containers, volumes
from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, ResourcesUnavailable
from tierce.model.lifecycle import Status
from tierce.placement.base import Resources


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

    A container that it creates becomes this node's, which its row does not say yet, takes what it needs of
    it, and gets its `mounts`, which the message alone has (columns of volume_mapping). Where there is no
    room it ends in Error with the reason, and without a node. Raises Conflict for a container of another
    node. Source: reference, compute 6.1, C-20.
    """
    adopted = actions.adopt(
        session,
        action=action,
        container_uuid=container_uuid,
        request_id=context.request_id,
        host=plugs.host,
        arguments=arguments,
    )
    if not adopted or action != "create":
        return
    container = containers.find(session, container_uuid)
    assert container is not None  # an action goes with its container
    if container.host not in (None, plugs.host):
        raise Conflict(f"Container {container_uuid} is not on host {plugs.host}.")
    size = Resources.of(container.cpu, container.memory, container.disk)
    try:
        plugs.placement.reclaim(session, container_uuid, plugs.host, size)
    except ResourcesUnavailable as exc:
        _refuse(session, plugs, context, container, exc)
    else:
        now = plugs.clock.now()
        containers.swap(session, container, now, host=plugs.host)
        volumes.mount(session, container_uuid, mounts, now)


def _refuse(
    session: Session,
    plugs: Plugs,
    context: RequestContext,
    container: Container,
    exc: ResourcesUnavailable,
) -> None:
    """End the creation before it has begun."""
    now = plugs.clock.now()
    containers.swap(session, container, now, status=Status.ERROR, status_reason=exc.message, task_state=None)
    action = actions.by_request(session, container.uuid, context.request_id)
    assert action is not None  # adopted in this transaction
    event = actions.start_event(session, action, OPERATIONS["create"].event, now, resume=False)
    actions.finish_event(session, event, now, error=exc.message)
    actions.finish(session, action, now, failed=True)
