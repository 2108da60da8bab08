"""Queries of CPUs that containers have for themselves: what a node can give, and who has what of it."""

from collections import defaultdict

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from tierce.db.tables import ComputeNode, Container
from tierce.model.numa import Cell, Pin, cells_of, pin_of

_PINNED = select(Container.host, Container.uuid, Container.cpuset, Container.memory).where(
    Container.cpu_policy == "dedicated", Container.host.is_not(None)
)
_PINNED_ON = _PINNED.where(Container.host == bindparam("host"))
_CELLS_LOCKED = (
    select(ComputeNode.numa_topology)
    .where(ComputeNode.hostname == bindparam("host"), ComputeNode.enable_cpu_pinning.is_(True))
    .limit(1)
    .with_for_update()
)


def pins(session: Session) -> dict[str, list[Pin]]:
    """What containers have for themselves, by node."""
    found: dict[str, list[Pin]] = defaultdict(list)
    for host, _, cpuset, memory in session.execute(_PINNED):
        if pin := pin_of(cpuset, memory):
            found[host].append(pin)
    return found


def pins_on(session: Session, host: str) -> dict[str, Pin]:
    """What the node's containers have for themselves, by container.

    A container that is being deleted has it until it is gone, also when its claim was freed by force.
    """
    rows = session.execute(_PINNED_ON, {"host": host})
    return {uuid: pin for _, uuid, cpuset, memory in rows if (pin := pin_of(cpuset, memory))}


def lock_cells(session: Session, host: str) -> list[Cell]:
    """The node's cells, locked so that nobody else takes of them until the transaction ends.

    There are none where the node dedicates no CPUs.
    """
    return cells_of(session.scalar(_CELLS_LOCKED, {"host": host}))
