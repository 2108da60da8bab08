"""Queries of node agents' heartbeats. The up-test is the one that every process applies."""

import dataclasses
import datetime
from collections.abc import Sequence

from oslo_db import exception as db_exception
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tierce.db.statements import changed
from tierce.db.tables import ComputeNode, Service
from tierce.model.errors import ServiceNotFound

BINARY = "zun-compute"

# Built once, as every creation asks.
_AGENTS = (
    select(
        Service.host,
        Service.forced_down,
        Service.last_seen_up,
        Service.created_at,
        Service.disabled,
        Service.availability_zone,
        ComputeNode.runtimes,
        ComputeNode.disk_quota_supported,
    )
    .outerjoin(ComputeNode, ComputeNode.hostname == Service.host)
    .where(Service.binary == BINARY)
    .order_by(Service.id)
)


def is_up(service: Service, now: datetime.datetime, down_time: int) -> bool:
    """Whether the node's last heartbeat is at most `down_time` s away and nobody forced it down.

    `updated_at` does not count: a change of a flag would make a node look alive that never was.
    """
    return _is_up(service.forced_down, service.last_seen_up or service.created_at, now, down_time)


def _is_up(
    forced_down: bool | None, seen: datetime.datetime | None, now: datetime.datetime, down_time: int
) -> bool:
    if forced_down or seen is None:
        return False
    return abs((now - seen).total_seconds()) <= down_time


@dataclasses.dataclass(frozen=True, slots=True)
class Agent:
    """A node agent as the scheduler sees it."""

    host: str
    up: bool
    disabled: bool
    availability_zone: str | None
    runtimes: Sequence[str]
    limits_disk: bool


def agents(session: Session, now: datetime.datetime, down_time: int) -> list[Agent]:
    """Every node agent with what its node offers beside amounts, oldest first."""
    return [
        Agent(
            host=host or "",
            up=_is_up(forced_down, seen or created, now, down_time),
            disabled=bool(disabled),
            availability_zone=zone,
            runtimes=runtimes or (),
            limits_disk=bool(limits_disk),
        )
        for host, forced_down, seen, created, disabled, zone, runtimes, limits_disk in session.execute(
            _AGENTS
        )
    ]


def get(session: Session, host: str) -> Service | None:
    return session.scalar(select(Service).where(Service.host == host, Service.binary == BINARY))


def get_one(session: Session, host: str, binary: str) -> Service:
    """Raises ServiceNotFound."""
    service = session.scalar(select(Service).where(Service.host == host, Service.binary == binary))
    if service is None:
        raise ServiceNotFound(host, binary)
    return service


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
