"""Claims of dedicated CPUs: made in the transaction that writes them on the container's row.

The rows are the account: a CPU is taken while a row of its node says so, and free when the row is gone or
says so no more. Whoever takes one holds the lock of the node's row until its own row is committed.
"""

from sqlalchemy.orm import Session

from tierce.db import cores
from tierce.db.tables import Container
from tierce.model import numa
from tierce.model.errors import InvalidValue, ResourcesUnavailable
from tierce.model.numa import Pin
from tierce.placement.base import Resources


def is_dedicated(container: Container) -> bool:
    return container.cpu_policy == "dedicated"


def lacks(container: Container) -> bool:
    """Whether it is to have CPUs of its own, and has none (any more)."""
    return is_dedicated(container) and numa.pin_of(container.cpuset, container.memory) is None


def require_whole(cpu: float | None) -> None:
    """Raises InvalidValue for a part of a CPU: nobody has that for himself."""
    if cpu is not None and not float(cpu).is_integer():
        raise InvalidValue("A container with dedicated CPUs takes whole ones: `cpu` must be an integer.")


def take(session: Session, container: Container, host: str) -> dict[str, list[int]]:
    """A `cpuset` for the container, which is to be written in this transaction.

    Raises ResourcesUnavailable.
    """
    return _have(session, container, host, Resources.of(container.cpu, container.memory, None)).cpuset


def widen(session: Session, container: Container, cpu: float | None, memory: int | None) -> Pin:
    """What the container has, with so many vCPUs and MiB at least; to be written in this transaction.

    Raises ResourcesUnavailable: CPUs of another NUMA node are no substitute.
    """
    return _have(session, container, container.host or "", Resources.of(cpu, memory, None))


def _have(session: Session, container: Container, host: str, asked: Resources) -> Pin:
    cells, pins = cores.lock_cells(session, host), cores.pins_on(session, host)
    held = pins.pop(container.uuid, None)
    others, amounts = [*pins.values()], (asked.vcpus, asked.memory_mb)
    if held is None:
        pin = numa.place(cells, others, *amounts)
    else:
        cells = [cell for cell in cells if cell.id == held.cell]
        pin = numa.grow(cells, others, held, *amounts)
    if pin is None:
        raise ResourcesUnavailable.of(f"has {numa.shortage(cells, others, *amounts)}")
    return pin
