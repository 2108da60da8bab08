"""CPUs of a container's own: what a node's NUMA nodes have, who has which, and where the next one fits.

Pure. A NUMA node is called a cell here. The JSON forms are those of the columns `compute_node.numa_topology`
and `container.cpuset`.
"""

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tierce.model.errors import InvalidValue
from tierce.model.memory import mebibytes

_RANGE = re.compile("([0-9]{1,6})(?:-([0-9]{1,6}))?")


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """A NUMA node: its CPUs in the order in which they are given away, and its memory in MiB."""

    id: int
    cpus: Sequence[int]
    memory: int


@dataclasses.dataclass(frozen=True, slots=True)
class Pin:
    """What one container has for itself: CPUs of one cell, and so many MiB of its memory."""

    cell: int
    cpus: Sequence[int]
    memory: int

    @property
    def cpuset(self) -> dict[str, list[int]]:
        return {"cpuset_cpus": list(self.cpus), "cpuset_mems": [self.cell]}


def pin_of(cpuset: Mapping[str, Any] | None, memory: str | int | None) -> Pin | None:
    """The pin that a container's row tells of; None when it shares CPUs."""
    cpus, cells = (cpuset or {}).get("cpuset_cpus"), (cpuset or {}).get("cpuset_mems")
    if not cpus or not cells:
        return None
    return Pin(cells[0], cpus, mebibytes(memory) or 0)


def place(cells: Iterable[Cell], pins: Collection[Pin], cpus: int, memory: int) -> Pin | None:
    """`cpus` free CPUs of one cell that has `memory` MiB left; None when no cell has them.

    Of the cells that fit the fullest is taken, so that room for large containers stays.
    """
    fitting = [
        (len(free), cell)
        for cell in cells
        if len(free := free_cpus(cell, pins)) >= cpus and free_memory(cell, pins) >= memory
    ]
    if not fitting:
        return None
    _, cell = min(fitting, key=lambda each: (each[0], each[1].id))
    return Pin(cell.id, sorted(free_cpus(cell, pins)[:cpus]), memory)


def grow(cells: Iterable[Cell], others: Collection[Pin], held: Pin, cpus: int, memory: int) -> Pin | None:
    """At least `cpus` CPUs with `memory` MiB, all of them of the cell of `held`, which is part of them.

    None when the cell has not so much beside what `others` have.
    """
    more = cpus - len(held.cpus)
    cell = next((cell for cell in cells if cell.id == held.cell), None)
    free = free_cpus(cell, [*others, held]) if cell else []
    if more > len(free) or (memory > held.memory and (cell is None or free_memory(cell, others) < memory)):
        return None
    return Pin(held.cell, sorted([*held.cpus, *free[: max(0, more)]]), memory)


def shortage(cells: Iterable[Cell], pins: Collection[Pin], cpus: int, memory: int) -> str:
    """What is short where nothing was found: the most that one cell has."""
    rooms = [(len(free_cpus(cell, pins)), free_memory(cell, pins)) for cell in cells]
    most, left = max(rooms, default=(0, 0))
    return (
        f"at most {most} CPUs with {max(0, left)} MiB memory of one NUMA node to dedicate, "
        f"{cpus} with {memory} asked"
    )


def free_cpus(cell: Cell, pins: Iterable[Pin]) -> list[int]:
    """Those of the cell that nobody has, in its order."""
    taken = {cpu for pin in pins for cpu in pin.cpus}
    return [cpu for cpu in cell.cpus if cpu not in taken]


def free_memory(cell: Cell, pins: Iterable[Pin]) -> int:
    """MiB that no pin has; less than none when the cell has shrunk."""
    return cell.memory - sum(pin.memory for pin in pins if pin.cell == cell.id)


# --- as rows have it ----------------------------------------------------------------------------


def topology(cells: Iterable[Cell], pins: Collection[Pin]) -> dict[str, Any]:
    taken = {cpu for pin in pins for cpu in pin.cpus}
    nodes = [
        {
            "id": cell.id,
            "cpuset": list(cell.cpus),
            "pinned_cpus": sorted(taken.intersection(cell.cpus)),
            "mem_total": cell.memory,
            "mem_available": max(0, free_memory(cell, pins)),
        }
        for cell in cells
    ]
    return {"nodes": nodes}


def cells_of(topology: Mapping[str, Any] | None) -> list[Cell]:
    """The cells of a node's row; none of a node that has reported none."""
    nodes = (topology or {}).get("nodes") or ()
    return [Cell(node["id"], node["cpuset"], node["mem_total"]) for node in nodes]


def parse_cpus(text: str) -> list[int]:
    """CPUs of a list such as `0-3,8`, as the kernel writes them. Raises InvalidValue."""
    cpus: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise InvalidValue(f"{part!r} is no CPU and no range of CPUs; write a list such as 0-3,8.")
        cpus.extend(range(first, last + 1))
    return cpus
