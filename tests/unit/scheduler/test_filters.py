"""Filters as a table: a node, a demand, and the few words of the refusal."""

import dataclasses

import pytest

from tierce.scheduler.filters import FILTERS, Demand, Node, requested_host

NODE = Node(host="node1", up=True, disabled=False, availability_zone="nova", runtimes=["runc", "kata"])


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
]


@pytest.mark.parametrize(("name", "where", "demand", "refusal"), CASES)
def test_a_filter_accepts_or_says_why_not(
    name: str, where: Node, demand: Demand, refusal: str | None
) -> None:
    assert FILTERS[name](where, demand) == refusal


def test_every_filter_is_in_the_table() -> None:
    assert {name for name, *_ in CASES} == set(FILTERS)


@pytest.mark.parametrize(
    ("host", "refusal"), [(None, None), ("node1", None), ("node2", "is not the requested host node2")]
)
def test_a_requested_host_is_the_only_one(host: str | None, refusal: str | None) -> None:
    assert requested_host(NODE, Demand(host=host)) == refusal
