"""Queries of the sessions that clients may connect to: attaches to containers, and execs."""

import datetime
from collections.abc import Sequence

from sqlalchemy import Select, delete, select, update
from sqlalchemy.orm import Session

from tierce.db.statements import changed
from tierce.db.tables import CONTAINER, AttachSession, Container, ExecInstance

Size = tuple[int, int]
"""Height and width of a terminal, in characters."""


def add_attach(session: Session, container: Container, url: str, token: str, now: datetime.datetime) -> None:
    """Record one more token for a container, and `url` as where it leads.

    The two columns of the container have the newest: Zun's proxy reads them. They belong to nobody
    else, so the row's generation stays, and no action in work meets a changed row.
    """
    session.add(AttachSession(container_id=container.id, token=token, created_at=now))
    session.execute(
        update(CONTAINER)
        .where(CONTAINER.c.id == container.id)
        .values(websocket_url=url, websocket_token=token)
    )


def add_exec(
    session: Session, container: Container, exec_id: str, url: str, token: str, now: datetime.datetime
) -> None:
    """Record an exec that a client may start by connecting."""
    session.add(
        ExecInstance(container_id=container.id, exec_id=exec_id, token=token, url=url, created_at=now)
    )


def has_exec(session: Session, container: Container, exec_id: str) -> bool:
    """Whether it is an exec of this container."""
    return (
        session.scalar(
            select(ExecInstance.id).where(
                ExecInstance.container_id == container.id, ExecInstance.exec_id == exec_id
            )
        )
        is not None
    )


def set_size(session: Session, host: str, exec_id: str, size: Size, now: datetime.datetime) -> bool:
    """Have the terminal of an exec on this node be of that size; False when there is no such exec."""
    height, width = size
    statement = (
        update(ExecInstance)
        .where(ExecInstance.exec_id == exec_id, ExecInstance.container_id.in_(_containers(host)))
        .values(height=height, width=width, updated_at=now)
    )
    return changed(session, statement) > 0


def size_of(session: Session, host: str, exec_id: str) -> Size | None:
    """What the terminal of an exec on this node shall be; None when nobody has said."""
    found = session.execute(
        select(ExecInstance.height, ExecInstance.width).where(
            ExecInstance.exec_id == exec_id, ExecInstance.container_id.in_(_containers(host))
        )
    ).first()
    return None if found is None or found.height is None else (found.height, found.width)


def execs(session: Session, host: str) -> Sequence[ExecInstance]:
    """The execs on this node."""
    return session.scalars(select(ExecInstance).where(ExecInstance.container_id.in_(_containers(host)))).all()


def attaches(session: Session, host: str) -> Sequence[AttachSession]:
    """The tokens for containers on this node."""
    return session.scalars(
        select(AttachSession).where(AttachSession.container_id.in_(_containers(host)))
    ).all()


def forget(session: Session, execs: Sequence[int], attaches: Sequence[int]) -> None:
    """Remove sessions by their rows' ids."""
    session.execute(delete(ExecInstance).where(ExecInstance.id.in_(execs)))
    session.execute(delete(AttachSession).where(AttachSession.id.in_(attaches)))


def _containers(host: str) -> Select[int]:
    return select(Container.id).where(Container.host == host)
