"""Filters: pure functions that accept a node, or say in a few words why not."""

import dataclasses
from collections.abc import Callable, Collection


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A node as filters see it."""

    host: str
    up: bool
    disabled: bool
    availability_zone: str
    runtimes: Collection[str]
    limits_disk: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Demand:
    """What a container demands of its node, beside amounts."""

    availability_zone: str | None = None
    runtime: str | None = None
    host: str | None = None


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


def requested_host(node: Node, demand: Demand) -> str | None:
    return None if demand.host in (None, node.host) else f"is not the requested host {demand.host}"


FILTERS: dict[str, Filter] = {
    "AvailabilityZoneFilter": availability_zone,
    "ComputeFilter": compute,
    "RuntimeFilter": runtime,
}
"""By the names that `[scheduler] enabled_filters` has."""
