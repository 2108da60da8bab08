"""Placement in our own database: a claim is a row, made under the lock of its node's row."""

import dataclasses
from collections.abc import Sequence

from oslo_config import cfg
from sqlalchemy import bindparam, delete, func, insert, select
from sqlalchemy.orm import Session

from tierce.db.tables import CONTAINER, Allocation, ComputeNode, Container
from tierce.model.errors import ResourcesUnavailable
from tierce.placement.base import Candidate, Resources
from tierce.placement.holdings import HOLDINGS

# Built once, as every creation asks.
_HAS = (ComputeNode.cpus, ComputeNode.mem_total, ComputeNode.disk_total)
_HELD = HOLDINGS.subquery()
_USED_BY_HOST = (
    select(
        _HELD.c.host,
        func.sum(_HELD.c.vcpus).label("vcpus"),
        func.sum(_HELD.c.memory_mb).label("memory_mb"),
        func.sum(_HELD.c.disk_gb).label("disk_gb"),
    )
    .group_by(_HELD.c.host)
    .subquery()
)
_HELD_OF_HOST = HOLDINGS.where(CONTAINER.c.host == bindparam("host")).subquery()
_USED_OF_HOST = select(
    func.sum(_HELD_OF_HOST.c.vcpus), func.sum(_HELD_OF_HOST.c.memory_mb), func.sum(_HELD_OF_HOST.c.disk_gb)
)
_HOLDING = HOLDINGS.where(CONTAINER.c.uuid == bindparam("consumer"), CONTAINER.c.host == bindparam("host"))
_OFFERS = (
    select(
        ComputeNode.hostname, *_HAS, _USED_BY_HOST.c.vcpus, _USED_BY_HOST.c.memory_mb, _USED_BY_HOST.c.disk_gb
    )
    .outerjoin(_USED_BY_HOST, _USED_BY_HOST.c.host == ComputeNode.hostname)
    .where(ComputeNode.cpus > 0)
    .order_by(ComputeNode.hostname)
)
_OFFER = select(*_HAS).where(ComputeNode.hostname == bindparam("host")).limit(1)
_OFFER_LOCKED = _OFFER.with_for_update()
_OFFER_LOCKED_AT_ONCE = _OFFER.with_for_update(skip_locked=True)
_CLAIM = insert(Allocation)


class BuiltinPlacement:
    """Claims are checked and written in the transaction that inserts the container: none can leak."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf.compute

    def candidates(self, session: Session) -> Sequence[Candidate]:
        return [
            Candidate(host, self._capacity(cpus, memory, disk), _resources(*used))
            for host, cpus, memory, disk, *used in session.execute(_OFFERS)
        ]

    def claim(
        self, session: Session, consumer: str, host: str, asked: Resources, *, wait: bool = True
    ) -> bool:
        capacity = self._locked(session, host, wait=wait)
        if capacity is None and not wait:
            return False
        self._require_room(session, host, capacity, asked)
        session.execute(_CLAIM, {"consumer_uuid": consumer, "host": host, **dataclasses.asdict(asked)})
        return True

    def reclaim(self, session: Session, consumer: str, host: str, asked: Resources) -> None:
        found = session.execute(_HOLDING, {"consumer": consumer, "host": host}).first()
        held = Resources() if found is None else _resources(found.vcpus, found.memory_mb, found.disk_gb)
        more = asked.beyond(held)
        if more != Resources():
            self._require_room(session, host, self._locked(session, host, wait=True), more)
        session.merge(Allocation(consumer_uuid=consumer, host=host, **dataclasses.asdict(asked)))

    def _locked(self, session: Session, host: str, *, wait: bool) -> Resources | None:
        """What the node offers; until the transaction ends nobody else takes of it. None where it offers
        nothing yet, or somebody else is taking of it and we are not to wait.
        """
        has = session.execute(_OFFER_LOCKED if wait else _OFFER_LOCKED_AT_ONCE, {"host": host}).first()
        return None if has is None else self._capacity(*has)

    def _require_room(
        self, session: Session, host: str, capacity: Resources | None, asked: Resources
    ) -> None:
        if capacity is None:
            raise ResourcesUnavailable.of("offers nothing yet")
        used = _resources(*session.execute(_USED_OF_HOST, {"host": host}).one())
        shortage = Candidate(host, capacity, used).shortage(asked)
        if shortage is not None:
            raise ResourcesUnavailable.of(f"has {shortage}")

    def release(self, session: Session, consumer: str) -> None:
        session.execute(delete(Allocation).where(Allocation.consumer_uuid == consumer))

    def audit(self, session: Session, host: str) -> int:
        orphans = session.scalars(
            select(Allocation.consumer_uuid).where(
                Allocation.host == host, Allocation.consumer_uuid.not_in(select(Container.uuid))
            )
        ).all()
        for consumer in orphans:
            self.release(session, consumer)
        return len(orphans)

    def _capacity(self, cpus: int, mem_total: int, disk_total: int) -> Resources:
        conf = self._conf
        cpu_ratio = conf.cpu_allocation_ratio or conf.initial_cpu_allocation_ratio
        ram_ratio = conf.ram_allocation_ratio or conf.initial_ram_allocation_ratio
        disk_ratio = conf.disk_allocation_ratio or conf.initial_disk_allocation_ratio
        reserved_disk = -(-conf.reserved_host_disk_mb // 1024)
        return Resources(
            vcpus=max(0, int((cpus - conf.reserved_host_cpus) * cpu_ratio)),
            memory_mb=max(0, int((mem_total - conf.reserved_host_memory_mb) * ram_ratio)),
            disk_gb=max(0, int((disk_total - reserved_disk) * disk_ratio)),
        )


def _resources(vcpus: int | None, memory_mb: int | None, disk_gb: int | None) -> Resources:
    """Sums of the database as amounts; those of no rows are NULL."""
    return Resources(int(vcpus or 0), int(memory_mb or 0), int(disk_gb or 0))
