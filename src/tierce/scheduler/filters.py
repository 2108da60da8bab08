"""Filters: pure functions that accept a node, or say in a few words why not.

The words go after the node's name, and are for operators. What everybody may read is in `SUMMARIES`.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tierce.model import numa
from tierce.model.numa import Cell, Pin
from tierce.placement.base import Candidate, Resources

_LABEL = "label:"
_NOTHING = Resources()


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A node as filters see it.

    `has` is what its machine has; `candidate` what it offers, overcommit included, and what is claimed of
    that. Of the CPUs in `cells`, which it can dedicate if `dedicates`, those in `pins` are taken.
    """

    host: str
    up: bool
    disabled: bool
    availability_zone: str
    runtimes: Collection[str]
    limits_disk: bool = False
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    has: Resources = _NOTHING
    candidate: Candidate | None = None
    dedicates: bool = False
    cells: Sequence[Cell] = ()
    pins: Collection[Pin] = ()
    runtime_away: bool = False

    @property
    def claimed(self) -> Resources:
        return self.candidate.used if self.candidate else _NOTHING


@dataclasses.dataclass(frozen=True, slots=True)
class Demand:
    """What a container demands of its node. `dedicated`: the CPUs of `asked` for itself alone."""

    availability_zone: str | None = None
    runtime: str | None = None
    host: str | None = None
    hints: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    asked: Resources = _NOTHING
    dedicated: bool = False


Filter = Callable[[Node, Demand], str | None]


def availability_zone(node: Node, demand: Demand) -> str | None:
    if demand.availability_zone in (None, node.availability_zone):
        return None
    return f"is in zone {node.availability_zone}, not {demand.availability_zone}"


def compute(node: Node, _demand: Demand) -> str | None:
    if not node.up:
        return "is down"
    return "is disabled" if node.disabled else None


def runtime(node: Node, demand: Demand) -> str | None:
    if demand.runtime is None or demand.runtime in node.runtimes:
        return None
    return f"lacks runtime {demand.runtime}"


def label(node: Node, demand: Demand) -> str | None:
    """The hints `label:<name>` ask for the value of a label of the node."""
    for hint, value in demand.hints.items():
        name = hint.removeprefix(_LABEL)
        if hint.startswith(_LABEL) and node.labels.get(name) != value:
            return f"has no label {name}={value}"
    return None


def cpu_set(node: Node, demand: Demand) -> str | None:
    """A node that dedicates CPUs takes no container that would share them."""
    if demand.dedicated:
        return dedicated_cpus(node, demand)
    return "keeps its CPUs for containers that have them dedicated" if node.dedicates else None


def pci_passthrough(_node: Node, _demand: Demand) -> str | None:
    """Every node passes: no network of ours asks for a device. The name is one that configurations have."""
    return None


def cpu(node: Node, demand: Demand) -> str | None:
    return _without_overcommit("vCPU", node.has.vcpus, node.claimed.vcpus, demand.asked.vcpus)


def ram(node: Node, demand: Demand) -> str | None:
    return _without_overcommit(
        "MiB memory", node.has.memory_mb, node.claimed.memory_mb, demand.asked.memory_mb
    )


def disk(node: Node, demand: Demand) -> str | None:
    if demand.asked.disk_gb and not node.limits_disk:
        return "cannot limit the disk of a container"
    return _without_overcommit("GiB disk", node.has.disk_gb, node.claimed.disk_gb, demand.asked.disk_gb)


def requested_host(node: Node, demand: Demand) -> str | None:
    return None if demand.host in (None, node.host) else f"is not the requested host {demand.host}"


def dedicated_cpus(node: Node, demand: Demand) -> str | None:
    if not demand.dedicated:
        return None
    if not node.dedicates:
        return "dedicates no CPUs"
    amounts = demand.asked.vcpus, demand.asked.memory_mb
    if numa.place(node.cells, node.pins, *amounts) is not None:
        return None
    return f"has {numa.shortage(node.cells, node.pins, *amounts)}"


def reported(node: Node, _demand: Demand) -> str | None:
    """Whether it has ever said what it has, which it asks its runtime."""
    if node.candidate is not None:
        return None
    return "has not reported what it has: is its container runtime (Docker) running?"


def room(node: Node, demand: Demand) -> str | None:
    """Whether what it offers, overcommit included, is enough."""
    shortage = None if node.candidate is None else node.candidate.shortage(demand.asked)
    return f"has {shortage}" if shortage else None


def _without_overcommit(unit: str, has: int, claimed: int, asked: int) -> str | None:
    if not asked or has - claimed >= asked:
        return None
    return f"has {has - claimed} of its own {has} {unit} free, {asked} asked"


FILTERS: dict[str, Filter] = {
    "AvailabilityZoneFilter": availability_zone,
    "ComputeFilter": compute,
    "RuntimeFilter": runtime,
    "LabelFilter": label,
    "PciPassthroughFilter": pci_passthrough,
    "CpuSetFilter": cpu_set,
    "CPUFilter": cpu,
    "RamFilter": ram,
    "DiskFilter": disk,
}
"""By the names that `[scheduler] enabled_filters` has."""

NO_ROOM = "without enough vCPU, memory or disk free"
UNSUITABLE = "unsuitable"
"""What nodes are that an operator's own filter refuses."""

SUMMARIES: dict[Filter, str] = {
    availability_zone: "in another availability zone",
    compute: "down or disabled",
    runtime: "without that runtime",
    label: "without those labels",
    cpu_set: "without CPUs of that policy free",
    dedicated_cpus: "without CPUs of that policy free",
    requested_host: "not the requested host",
    reported: "never reported what they have (is Docker running there?)",
    cpu: NO_ROOM,
    ram: NO_ROOM,
    disk: NO_ROOM,
    room: NO_ROOM,
}
"""What refused nodes are, for those who may not know nodes."""
