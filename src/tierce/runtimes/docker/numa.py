"""The machine's NUMA nodes, as Linux shows them under /sys/devices/system; no program is run for it."""

import pathlib
import re

from tierce.model.numa import Cell, parse_cpus

_SYSTEM = pathlib.Path("/sys/devices/system")
_TOTAL = re.compile(r"MemTotal:\s*([0-9]+) kB")


def read(total_memory: int, system: pathlib.Path = _SYSTEM) -> list[Cell]:
    """NUMA nodes that have CPUs online, by id. A kernel without them has one, with `total_memory` MiB."""
    cells = []
    for directory in system.glob("node/node[0-9]*"):
        cpus = parse_cpus(_text(directory / "cpulist"))
        memory = _TOTAL.search(_text(directory / "meminfo"))
        if cpus:
            size = int(memory[1]) // 1024 if memory else 0
            cells.append(Cell(int(directory.name.removeprefix("node")), _by_core(system, cpus), size))
    if not cells and (cpus := parse_cpus(_text(system / "cpu/online"))):
        cells = [Cell(0, _by_core(system, cpus), total_memory)]
    return sorted(cells, key=lambda cell: cell.id)


def _by_core(system: pathlib.Path, cpus: list[int]) -> list[int]:
    """Hyper-threads of one core side by side, so that they mostly go to one container."""

    def key(cpu: int) -> tuple[int, int]:
        siblings = parse_cpus(_text(system / f"cpu/cpu{cpu}/topology/thread_siblings_list"))
        return min(siblings, default=cpu), cpu

    return sorted(cpus, key=key)


def _text(file: pathlib.Path) -> str:
    """What a file says; nothing when it is not there, as on other kernels and in some containers."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""
