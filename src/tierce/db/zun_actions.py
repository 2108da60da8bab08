"""Actions that a Zun process wrote, which are in our queue once they are adopted."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import and_, select, update
from sqlalchemy.orm import Session

from tierce.db.actions import State
from tierce.db.statements import changed
from tierce.db.tables import ACTION, CONTAINER

REFUSED: Final = "refused"
"""The key of `arguments` that has the reason why the action only fails."""

_LEFT = and_(ACTION.c.state.is_(None), ACTION.c.finish_time.is_(None))
"""Of an action: a Zun process wrote it, and nobody has adopted or ended it."""


def adopt(
    session: Session,
    *,
    action: str,
    container_uuid: str,
    request_id: str | None,
    host: str,
    arguments: dict[str, Any],
    held: Mapping[str, Any],
) -> bool:
    """Queue the row that a Zun API process wrote before it sent its message; False if there is none.

    `held` are the columns of its container that say so.
    """
    adopted = changed(
        session,
        update(ACTION)
        .where(
            ACTION.c.container_uuid == container_uuid,
            ACTION.c.action == action,
            ACTION.c.request_id == request_id,
            _LEFT,
        )
        .values(state=State.QUEUED, host=host, arguments=arguments, attempts=0),
    )
    if adopted:
        values = {**held, "generation": CONTAINER.c.generation + 1}
        session.execute(update(CONTAINER).where(CONTAINER.c.uuid == container_uuid).values(values))
    return bool(adopted)


def left(session: Session, container_uuid: str, action: str) -> str | None:
    """The request of such an action that is neither adopted nor ended, the newest of several."""
    return session.scalar(
        select(ACTION.c.request_id)
        .where(ACTION.c.container_uuid == container_uuid, ACTION.c.action == action, _LEFT)
        .order_by(ACTION.c.id.desc())
        .limit(1)
    )


def refused_creation(session: Session, container_uuid: str) -> dict[str, Any]:
    """The arguments of the container's creation, if that was refused; else none."""
    found = session.scalar(
        select(ACTION.c.arguments)
        .where(ACTION.c.container_uuid == container_uuid, ACTION.c.action == "create")
        .order_by(ACTION.c.id)
        .limit(1)
    )
    return found if found and REFUSED in found else {}
