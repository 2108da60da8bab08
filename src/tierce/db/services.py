"""Queries of node agents' heartbeats. The up-test is the one that every process applies."""

import datetime
from collections.abc import Sequence

from oslo_db import exception as db_exception
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tierce.db.statements import changed
from tierce.db.tables import Service

BINARY = "zun-compute"


def is_up(service: Service, now: datetime.datetime, down_time: int) -> bool:
    """Whether the node's last heartbeat is at most `down_time` s away and nobody forced it down."""
    seen = service.last_seen_up or service.updated_at or service.created_at
    if service.forced_down or seen is None:
        return False
    return abs((now - seen).total_seconds()) <= down_time


def get(session: Session, host: str) -> Service | None:
    return session.scalar(select(Service).where(Service.host == host, Service.binary == BINARY))


def every(session: Session) -> Sequence[Service]:
    """All services, oldest first."""
    return session.scalars(select(Service).order_by(Service.id)).all()


def beat(session: Session, host: str, availability_zone: str, now: datetime.datetime) -> None:
    """Record a heartbeat, making the row if it is missing (also when somebody deleted it).

    The counter is incremented in SQL: two writers never lose a beat.
    """
    values = {
        "report_count": Service.report_count + 1,
        "last_seen_up": now,
        "updated_at": now,
        "availability_zone": availability_zone,
    }
    statement = update(Service).where(Service.host == host, Service.binary == BINARY).values(**values)
    if changed(session, statement):
        return
    try:
        with session.begin_nested():
            session.add(
                Service(
                    host=host,
                    binary=BINARY,
                    availability_zone=availability_zone,
                    report_count=1,
                    last_seen_up=now,
                    created_at=now,
                )
            )
    except db_exception.DBDuplicateEntry:
        session.execute(statement)
