"""The durable queue of actions, which is also the audit trail that clients read.

An action is `queued` by the API in the transaction that accepts it, `running` while a node's agent
holds its lease, then `finished` or `failed`. Rows without a state were written by a Zun process. A Zun
agent ends our actions by their `finish_time` alone: their state stays `queued`.
"""

import dataclasses
import datetime
import enum
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, case, exists, insert, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from tierce.db.statements import changed, inserted
from tierce.db.tables import (
    ACTION,
    EVENT,
    Container,
    ContainerAction,
    ContainerActionEvent,
    Registry,
    VolumeMapping,
)
from tierce.model.context import RequestContext


class State(enum.StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


@dataclasses.dataclass(frozen=True, slots=True)
class Claimed:
    """An action that a node's agent has taken, and its container as one statement found both.

    `more`: another action of the container is unfinished. Whoever queues one changes the container's
    generation, so this holds until a swap of the container fails.
    """

    action: ContainerAction
    container: Container
    mounts: bool
    """Whether the container has any; that never changes."""
    more: bool


UNFINISHED = and_(ACTION.c.state.in_((State.QUEUED, State.RUNNING)), ACTION.c.finish_time.is_(None))
"""Of an action: somebody has yet to do it, or to end it."""

_ERROR = "Error"
"""The message of an action that failed, which clients look for."""

_QUEUED = and_(ACTION.c.state == State.QUEUED, ACTION.c.finish_time.is_(None))

# Statements that every action runs are built once: building one costs more than running it.
_OURS = (
    select(ACTION.c.id)
    .where(
        ACTION.c.container_uuid == bindparam("container"),
        ACTION.c.request_id == bindparam("request"),
        ACTION.c.action == bindparam("name"),
        ACTION.c.state.is_not(None),
    )
    .limit(1)
)
_TWO_OLDEST_UNFINISHED = (
    select(
        ContainerAction,
        Container,
        Registry.uuid,
        exists().where(VolumeMapping.container_uuid == Container.uuid),
    )
    .join(Container, Container.uuid == ContainerAction.container_uuid)
    .outerjoin(Registry, Registry.id == Container.registry_id)
    .where(
        ContainerAction.container_uuid == bindparam("container"),
        UNFINISHED,
    )
    .order_by(ContainerAction.id)
    .limit(2)
)
_TAKE = (
    update(ACTION)
    .where(ACTION.c.id == bindparam("taken"), _QUEUED)
    .values(
        state=State.RUNNING, attempts=bindparam("attempts"), lease_expires_at=bindparam("lease_expires_at")
    )
)
_FINISH = (
    update(ACTION)
    .where(ACTION.c.id == bindparam("finished"))
    .values(
        state=bindparam("state"),
        finish_time=bindparam("now"),
        updated_at=bindparam("now"),
        message=bindparam("message"),
        lease_expires_at=None,
    )
)
_OTHERS = (
    select(ACTION.c.id)
    .where(
        ACTION.c.container_uuid == bindparam("container"),
        UNFINISHED,
        ACTION.c.id != bindparam("action"),
    )
    .limit(1)
)
_UNFINISHED_ON = (
    select(ACTION.c.id, ACTION.c.container_uuid, ACTION.c.state, ACTION.c.lease_expires_at)
    .where(ACTION.c.host == bindparam("host"), UNFINISHED)
    .order_by(ACTION.c.id)
)
_BEGIN_EVENT = insert(EVENT)
_END_EVENT = (
    update(EVENT)
    .where(EVENT.c.id == bindparam("event_id"))
    .values(
        finish_time=bindparam("now"),
        updated_at=bindparam("now"),
        result=bindparam("result"),
        details=bindparam("details"),
        traceback=bindparam("traceback"),
    )
)


def enqueue(
    session: Session,
    context: RequestContext,
    *,
    action: str,
    container_uuid: str,
    host: str | None,
    arguments: dict[str, Any],
    now: datetime.datetime,
) -> ContainerAction:
    """Queue an action for `host`, to be committed with whatever accepting it changes."""
    row = ContainerAction(
        action=action,
        container_uuid=container_uuid,
        request_id=context.request_id,
        user_id=context.user_id,
        project_id=context.project_id,
        start_time=now,
        created_at=now,
        state=State.QUEUED,
        host=host,
        arguments=arguments,
        attempts=0,
    )
    session.add(row)
    session.flush()
    return row


def is_ours(session: Session, container_uuid: str, request_id: str | None, action: str) -> bool:
    """Whether this action of a request is in our queue already (or has left it)."""
    named = {"container": container_uuid, "request": request_id, "name": action}
    return session.execute(_OURS, named).first() is not None


def claim(
    session: Session, container_uuid: str, host: str, now: datetime.datetime, lease: int
) -> Claimed | None:
    """Take the container's oldest unfinished action, if it is queued for `host`.

    None when there is none, or another run holds it. The caller commits, and owns it for `lease` s.
    """
    found = session.execute(_TWO_OLDEST_UNFINISHED, {"container": container_uuid}).all()
    if not found:
        return None
    oldest, container, registry_uuid, mounts = found[0]
    if oldest.state != State.QUEUED or oldest.host != host:
        return None
    values = {
        "attempts": (oldest.attempts or 0) + 1,
        "lease_expires_at": now + datetime.timedelta(seconds=lease),
    }
    if not changed(session, _TAKE, {"taken": oldest.id, **values}):
        return None
    values["state"] = State.RUNNING
    for field, value in values.items():
        set_committed_value(oldest, field, value)
    container.registry_uuid = registry_uuid
    return Claimed(oldest, container, mounts, more=len(found) > 1)


def finish(session: Session, action: ContainerAction, now: datetime.datetime, *, failed: bool) -> None:
    """End an action."""
    state, message = (State.FAILED, _ERROR) if failed else (State.FINISHED, None)
    session.execute(_FINISH, {"finished": action.id, "state": state, "message": message, "now": now})


def others_wait(session: Session, action: ContainerAction) -> bool:
    """Whether the action's container has another one that is not finished."""
    return (
        session.execute(_OTHERS, {"container": action.container_uuid, "action": action.id}).first()
        is not None
    )


def requeue(session: Session, action: ContainerAction) -> None:
    """Give an action back, to be run again later; its attempts stay counted."""
    session.execute(
        update(ACTION).where(ACTION.c.id == action.id).values(state=State.QUEUED, lease_expires_at=None)
    )


def abandon(session: Session, container_uuid: str, host: str) -> None:
    """Queue again what runs for a container here, when nobody works on it any more."""
    session.execute(
        update(ACTION)
        .where(
            ACTION.c.container_uuid == container_uuid,
            ACTION.c.host == host,
            ACTION.c.state == State.RUNNING,
        )
        .values(state=State.QUEUED, lease_expires_at=None)
    )


def recover(session: Session, host: str) -> list[str]:
    """After a restart: queue again what was running here; the containers with work, oldest first.

    What a Zun agent has done of our queue gets its state here: nobody is to look through that every minute.
    """
    ended = case((ACTION.c.message == _ERROR, State.FAILED), else_=State.FINISHED)
    session.execute(
        update(ACTION)
        .where(ACTION.c.host == host, ACTION.c.state == State.QUEUED, ACTION.c.finish_time.is_not(None))
        .values(state=ended)
    )
    session.execute(
        update(ACTION)
        .where(ACTION.c.host == host, ACTION.c.state == State.RUNNING)
        .values(state=State.QUEUED, lease_expires_at=None)
    )
    return pending(session, host)


def tend(session: Session, host: str, mine: Collection[str], now: datetime.datetime, lease: int) -> list[str]:
    """Renew the leases of the containers that this agent works on, and queue again what nobody does.

    An action is left running without anybody working on it when the database failed at its end. Returns
    the containers that have an action queued for `host`, oldest action first.
    """
    queued: dict[str, None] = {}
    # One statement where nothing is to do: every node asks this every minute.
    for action_id, uuid, state, expires in session.execute(_UNFINISHED_ON, {"host": host}).all():
        if state == State.QUEUED:
            queued[uuid] = None
            continue
        if uuid in mine:
            values: dict[str, Any] = {"lease_expires_at": now + datetime.timedelta(seconds=lease)}
        elif expires is None or expires < now:
            values = {"state": State.QUEUED, "lease_expires_at": None}
            queued[uuid] = None
        else:
            continue
        session.execute(
            update(ACTION).where(ACTION.c.id == action_id, ACTION.c.state == State.RUNNING).values(**values)
        )
    return list(queued)


def pending(session: Session, host: str) -> list[str]:
    """Containers that have an action queued for `host`, oldest action first."""
    rows = session.execute(
        select(ContainerAction.container_uuid)
        .where(ContainerAction.host == host, _QUEUED)
        .order_by(ContainerAction.id)
    )
    return list(dict.fromkeys(uuid for (uuid,) in rows))


def unfinished(session: Session, container_uuids: Sequence[str]) -> dict[str, list[str]]:
    """The names of each container's unfinished actions."""
    found: dict[str, list[str]] = {}
    rows = session.execute(
        select(ContainerAction.container_uuid, ContainerAction.action).where(
            ContainerAction.container_uuid.in_(container_uuids), UNFINISHED
        )
    )
    for uuid, action in rows:
        found.setdefault(uuid, []).append(action or "")
    return found


def unfinished_of(session: Session, container_uuid: str) -> list[tuple[str, dict[str, Any]]]:
    """The names and arguments of a container's unfinished actions, oldest first."""
    rows = session.execute(
        select(ContainerAction.action, ContainerAction.arguments)
        .where(ContainerAction.container_uuid == container_uuid, UNFINISHED)
        .order_by(ContainerAction.id)
    )
    return [(action or "", arguments or {}) for action, arguments in rows]


def of_container(session: Session, container_uuid: str) -> Sequence[ContainerAction]:
    """A container's actions, newest first."""
    return session.scalars(
        select(ContainerAction)
        .where(ContainerAction.container_uuid == container_uuid)
        .order_by(ContainerAction.created_at.desc(), ContainerAction.id.desc())
    ).all()


def by_request(session: Session, container_uuid: str, request_id: str) -> ContainerAction | None:
    """The first action that a request made on a container."""
    return session.scalar(
        select(ContainerAction)
        .where(ContainerAction.container_uuid == container_uuid, ContainerAction.request_id == request_id)
        .order_by(ContainerAction.id)
        .limit(1)
    )


def events(session: Session, action_id: int) -> Sequence[ContainerActionEvent]:
    """An action's events, newest first."""
    return session.scalars(
        select(ContainerActionEvent)
        .where(ContainerActionEvent.action_id == action_id)
        .order_by(ContainerActionEvent.created_at.desc(), ContainerActionEvent.id.desc())
    ).all()


def start_event(
    session: Session, action: ContainerAction, event: str, now: datetime.datetime, *, resume: bool
) -> int:
    """Record that a stage of an action began; the event's id.

    `resume`: an earlier attempt may have begun it, and its unfinished event is taken up again.
    """
    if resume:
        begun = session.scalar(
            select(ContainerActionEvent.id)
            .where(
                ContainerActionEvent.action_id == action.id,
                ContainerActionEvent.event == event,
                ContainerActionEvent.finish_time.is_(None),
            )
            .order_by(ContainerActionEvent.id.desc())
            .limit(1)
        )
        if begun is not None:
            return begun
    values = {"action_id": action.id, "event": event, "start_time": now, "created_at": now}
    return inserted(session, _BEGIN_EVENT, values)


def finish_event(
    session: Session,
    event_id: int,
    now: datetime.datetime,
    *,
    error: str | None = None,
    traceback: str | None = None,
) -> None:
    """Record how a stage ended; `error` is the reason of a failure."""
    outcome = {"result": "Success" if error is None else "Error", "details": error, "traceback": traceback}
    session.execute(_END_EVENT, {"event_id": event_id, "now": now, **outcome})
