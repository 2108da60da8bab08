"""Filters as a table: a node, a demand, and the few words of the refusal."""

import dataclasses

import pytest

from tierce.model.numa import Cell, Pin
from tierce.placement.base import Candidate, Resources
from tierce.scheduler.filters import FILTERS, SUMMARIES, Demand, Node, requested_host, room

NODE = Node(
    host="node1",
    up=True,
    disabled=False,
    availability_zone="nova",
    runtimes=["runc", "kata"],
    labels={"disk": "ssd"},
    has=Resources(4, 1000, 10),
)
PINNING = dataclasses.replace(NODE, dedicates=True, cells=[Cell(0, [0, 1, 2, 3], 1000)])
FULL = dataclasses.replace(
    NODE, candidate=Candidate("node1", Resources(64, 1500, 10), used=Resources(3, 1050, 6))
)
ASKED = Resources(2, 100)


def node(**changes: object) -> Node:
    return dataclasses.replace(NODE, **changes)  # type: ignore[arg-type]  # of the fields' types


CASES = [
    ("AvailabilityZoneFilter", NODE, Demand(), None),
    ("AvailabilityZoneFilter", NODE, Demand(availability_zone="nova"), None),
    ("AvailabilityZoneFilter", NODE, Demand(availability_zone="Nova"), "is in zone nova, not Nova"),
    (
        "AvailabilityZoneFilter",
        node(availability_zone=""),
        Demand(availability_zone="a"),
        "is in zone , not a",
    ),
    ("ComputeFilter", NODE, Demand(), None),
    ("ComputeFilter", node(up=False), Demand(), "is down"),
    ("ComputeFilter", node(disabled=True), Demand(), "is disabled"),
    ("ComputeFilter", node(up=False, disabled=True), Demand(), "is down"),
    ("RuntimeFilter", NODE, Demand(), None),
    ("RuntimeFilter", NODE, Demand(runtime="kata"), None),
    ("RuntimeFilter", NODE, Demand(runtime="runsc"), "lacks runtime runsc"),
    ("RuntimeFilter", node(runtimes=[]), Demand(runtime="runc"), "lacks runtime runc"),
    ("RuntimeFilter", node(runtimes=[]), Demand(), None),
    ("LabelFilter", NODE, Demand(), None),
    ("LabelFilter", NODE, Demand(hints={"group": "a", "label:disk": "ssd"}), None),
    ("LabelFilter", NODE, Demand(hints={"label:disk": "hdd"}), "has no label disk=hdd"),
    ("LabelFilter", NODE, Demand(hints={"label:gpu": "yes"}), "has no label gpu=yes"),
    ("LabelFilter", NODE, Demand(hints={"label:disk": 1}), "has no label disk=1"),
    ("PciPassthroughFilter", NODE, Demand(), None),
    ("CpuSetFilter", NODE, Demand(asked=ASKED), None),
    ("CpuSetFilter", NODE, Demand(asked=ASKED, dedicated=True), "dedicates no CPUs"),
    ("CpuSetFilter", PINNING, Demand(asked=ASKED, dedicated=True), None),
    (
        "CpuSetFilter",
        PINNING,
        Demand(asked=ASKED),
        "keeps its CPUs for containers that have them dedicated",
    ),
    (
        "CpuSetFilter",
        dataclasses.replace(PINNING, pins=[Pin(0, [0, 1, 2], 200)]),
        Demand(asked=ASKED, dedicated=True),
        "has at most 1 CPUs with 800 MiB memory of one NUMA node to dedicate, 2 with 100 asked",
    ),
    (
        "CpuSetFilter",
        dataclasses.replace(PINNING, cells=()),
        Demand(asked=ASKED, dedicated=True),
        "has at most 0 CPUs with 0 MiB memory of one NUMA node to dedicate, 2 with 100 asked",
    ),
    ("CPUFilter", NODE, Demand(asked=ASKED), None),
    ("CPUFilter", FULL, Demand(asked=ASKED), "has 1 of its own 4 vCPU free, 2 asked"),
    ("RamFilter", NODE, Demand(asked=ASKED), None),
    ("RamFilter", FULL, Demand(asked=ASKED), "has -50 of its own 1000 MiB memory free, 100 asked"),
    ("DiskFilter", NODE, Demand(asked=ASKED), None),
    ("DiskFilter", NODE, Demand(asked=Resources(1, 1, 5)), "cannot limit the disk of a container"),
    ("DiskFilter", node(limits_disk=True), Demand(asked=Resources(1, 1, 5)), None),
    (
        "DiskFilter",
        dataclasses.replace(FULL, limits_disk=True),
        Demand(asked=Resources(1, 1, 5)),
        "has 4 of its own 10 GiB disk free, 5 asked",
    ),
]


@pytest.mark.parametrize(("name", "where", "demand", "refusal"), CASES)
def test_a_filter_accepts_or_says_why_not(
    name: str, where: Node, demand: Demand, refusal: str | None
) -> None:
    assert FILTERS[name](where, demand) == refusal


def test_every_filter_is_in_the_table() -> None:
    assert {name for name, *_ in CASES} == set(FILTERS)


def test_every_refusal_can_be_told_to_everybody() -> None:
    refusing = {FILTERS[name] for name, _, _, refusal in CASES if refusal is not None}
    assert refusing | {requested_host, room} <= set(SUMMARIES)


@pytest.mark.parametrize(
    ("host", "refusal"), [(None, None), ("node1", None), ("node2", "is not the requested host node2")]
)
def test_a_requested_host_is_the_only_one(host: str | None, refusal: str | None) -> None:
    assert requested_host(NODE, Demand(host=host)) == refusal
