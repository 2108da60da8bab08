"""Placement in our own database: a claim is a row, made under the lock of its node's row."""

from collections.abc import Sequence

from oslo_config import cfg
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tierce.db.tables import Allocation, ComputeNode, Container
from tierce.model.errors import ResourcesUnavailable
from tierce.placement.base import Candidate, Resources


class BuiltinPlacement:
    """Claims are checked and written in the transaction that inserts the container: none can leak."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf.compute

    def candidates(self, session: Session) -> Sequence[Candidate]:
        used = self._used(session)
        return [
            Candidate(node.hostname, self._capacity(node), used.get(node.hostname, Resources()))
            for node in session.scalars(
                select(ComputeNode).where(ComputeNode.cpus > 0).order_by(ComputeNode.hostname)
            )
        ]

    def claim(self, session: Session, consumer: str, host: str, asked: Resources) -> None:
        node = session.scalar(
            select(ComputeNode).where(ComputeNode.hostname == host).limit(1).with_for_update()
        )
        if node is None:
            raise ResourcesUnavailable(f"{host} offers nothing yet")
        used = self._used(session, host).get(host, Resources())
        shortage = Candidate(host, self._capacity(node), used).shortage(asked)
        if shortage is not None:
            raise ResourcesUnavailable(f"{host} has {shortage}")
        session.add(
            Allocation(
                consumer_uuid=consumer,
                host=host,
                vcpus=asked.vcpus,
                memory_mb=asked.memory_mb,
                disk_gb=asked.disk_gb,
            )
        )

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

    def _used(self, session: Session, host: str | None = None) -> dict[str, Resources]:
        statement = select(
            Allocation.host,
            func.sum(Allocation.vcpus),
            func.sum(Allocation.memory_mb),
            func.sum(Allocation.disk_gb),
        ).group_by(Allocation.host)
        if host is not None:
            statement = statement.where(Allocation.host == host)
        return {
            name: Resources(int(vcpus), int(memory), int(disk))
            for name, vcpus, memory, disk in session.execute(statement)
        }

    def _capacity(self, node: ComputeNode) -> Resources:
        conf = self._conf
        cpu_ratio = conf.cpu_allocation_ratio or conf.initial_cpu_allocation_ratio
        ram_ratio = conf.ram_allocation_ratio or conf.initial_ram_allocation_ratio
        disk_ratio = conf.disk_allocation_ratio or conf.initial_disk_allocation_ratio
        reserved_disk = -(-conf.reserved_host_disk_mb // 1024)
        return Resources(
            vcpus=max(0, int((node.cpus - conf.reserved_host_cpus) * cpu_ratio)),
            memory_mb=max(0, int((node.mem_total - conf.reserved_host_memory_mb) * ram_ratio)),
            disk_gb=max(0, int((node.disk_total - reserved_disk) * disk_ratio)),
        )
