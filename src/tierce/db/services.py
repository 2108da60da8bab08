"""Queries of node agents' heartbeats. The up-test is the one that every process applies."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_db import exception as db_exception
from sqlalchemy import case, or_, select, update
from sqlalchemy.orm import Session

from tierce.db import locks
from tierce.db.statements import changed
from tierce.db.tables import ComputeNode, Service
from tierce.model.errors import ServiceNotFound, TierceError

BINARY = "zun-compute"


class NodeTaken(TierceError):
    """Another agent serves the node."""


@dataclasses.dataclass(frozen=True, slots=True)
class Writer:
    """Who writes a node's heartbeats. An installation has one process at a time, its incarnation."""

    installation: str
    incarnation: str


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
        ComputeNode.labels,
        ComputeNode.cpus,
        ComputeNode.mem_total,
        ComputeNode.disk_total,
        ComputeNode.enable_cpu_pinning,
        ComputeNode.runtime_away,
        # It is large, and of use only where CPUs are dedicated.
        case((ComputeNode.enable_cpu_pinning.is_(True), ComputeNode.numa_topology)).label("numa_topology"),
    )
    .outerjoin(ComputeNode, ComputeNode.hostname == Service.host)
    .where(Service.binary == BINARY)
    .order_by(Service.id)
)

_SEEN = select(Service.host, Service.forced_down, Service.last_seen_up, Service.created_at).where(
    Service.binary == BINARY
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
    """A node agent as the scheduler sees it, and what its machine has."""

    host: str
    up: bool
    disabled: bool
    availability_zone: str | None
    runtimes: Sequence[str]
    limits_disk: bool
    labels: Mapping[str, str]
    cpus: int
    memory_mb: int
    disk_gb: int
    dedicates_cpus: bool
    numa_topology: Mapping[str, Any]
    runtime_away: bool


def agents(session: Session, now: datetime.datetime, down_time: int) -> list[Agent]:
    """Every node agent with what its node offers beside amounts, oldest first."""
    return [
        Agent(
            host=row.host or "",
            up=_is_up(row.forced_down, row.last_seen_up or row.created_at, now, down_time),
            disabled=bool(row.disabled),
            availability_zone=row.availability_zone,
            runtimes=row.runtimes or (),
            limits_disk=bool(row.disk_quota_supported),
            labels=row.labels or {},
            cpus=row.cpus or 0,
            memory_mb=row.mem_total or 0,
            disk_gb=row.disk_total or 0,
            dedicates_cpus=bool(row.enable_cpu_pinning),
            numa_topology=row.numa_topology or {},
            runtime_away=bool(row.runtime_away),
        )
        for row in session.execute(_AGENTS)
    ]


def down_hosts(session: Session, now: datetime.datetime, down_time: int) -> frozenset[str]:
    """The hosts of agents that are down."""
    return frozenset(
        host or ""
        for host, forced_down, seen, created in session.execute(_SEEN)
        if not _is_up(forced_down, seen or created, now, down_time)
    )


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


def register(session: Session, host: str, now: datetime.datetime, writer: Writer, down_time: int) -> None:
    """Make `writer` the node's agent. The node is up, and a new one has a row, from the first `beat` on.

    An earlier process of the same installation is dead, or loses the node at its next heartbeat. Raises
    NodeTaken while an agent of another installation is up.
    """
    locks.hold(session, f"host {host}")
    service = get(session, host)
    if (
        service is not None
        and service.incarnation
        and service.installation != writer.installation
        and is_up(service, now, down_time)
    ):
        raise NodeTaken(
            f"Another agent serves the node {host}; it was last seen at {service.last_seen_up} UTC. Stop "
            "it, or give this one another name ([DEFAULT] host). If its machine is dead, say so with "
            f"`openstack appcontainer service forcedown {host} {BINARY}`, or wait {down_time} s."
        )
    session.execute(
        update(Service)
        .where(Service.host == host, Service.binary == BINARY)
        .values(installation=writer.installation, incarnation=writer.incarnation)
    )


def release(session: Session, host: str, writer: Writer) -> None:
    """Let any other agent have the node at once. Idempotent; nothing happens when it has it already."""
    session.execute(
        update(Service)
        .where(Service.host == host, Service.binary == BINARY, Service.incarnation == writer.incarnation)
        .values(installation=None, incarnation=None)
    )


def beat(session: Session, host: str, availability_zone: str, now: datetime.datetime, writer: Writer) -> None:
    """Record a heartbeat, making the row if it is missing (also when somebody deleted it).

    The counter is incremented in SQL: two writers never lose a beat. Raises NodeTaken when another
    agent has registered since.
    """
    values = {
        "report_count": Service.report_count + 1,
        "last_seen_up": now,
        "updated_at": now,
        "availability_zone": availability_zone,
        **dataclasses.asdict(writer),
    }
    statement = (
        update(Service)
        .where(
            Service.host == host,
            Service.binary == BINARY,
            or_(Service.incarnation == writer.incarnation, Service.incarnation.is_(None)),
        )
        .values(**values)
    )
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
                    **dataclasses.asdict(writer),
                )
            )
    except db_exception.DBDuplicateEntry:
        if not changed(session, statement):
            raise NodeTaken(f"Another agent has taken the node {host} over.") from None
