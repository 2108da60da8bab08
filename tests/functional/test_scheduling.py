"""Any nodes, any containers: the right node by a simpler reckoning, and none gives more than it has."""

import dataclasses
import datetime
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from tests.support.client import IMAGE
from tests.support.cloud import Cloud
from tierce.db import containers
from tierce.db.tables import Allocation, ComputeNode, Container, ContainerAction, Service

FILTERS = "AvailabilityZoneFilter,ComputeFilter,RuntimeFilter,LabelFilter,CpuSetFilter"


@dataclasses.dataclass(frozen=True)
class Machine:
    """A node: its memory is as many times 64 MiB, its CPUs are those of its two cells."""

    cells: tuple[tuple[int, ...], tuple[int, ...]]
    memory: int
    up: bool
    disabled: bool
    zone: str
    kata: bool
    disk: str
    dedicates: bool

    @property
    def cpus(self) -> int:
        return sum(map(len, self.cells))


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    first, second = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    return Machine(
        cells=(tuple(range(first)), tuple(range(first, first + second))),
        memory=draw(st.integers(1, 8)),
        up=draw(st.sampled_from([True, True, True, False])),
        disabled=draw(st.sampled_from([False, False, False, True])),
        zone=draw(st.sampled_from(["nova", "nova", "mars"])),
        kata=draw(st.booleans()),
        disk=draw(st.sampled_from(["ssd", "hdd"])),
        dedicates=draw(st.booleans()),
    )


REQUESTS = st.fixed_dictionaries(
    {
        "cpu": st.integers(1, 3),
        "memory": st.sampled_from([64, 64, 128, 256]),
        "cpu_policy": st.sampled_from(["shared", "dedicated"]),
    },
    optional={
        "availability_zone": st.sampled_from(["nova", "mars"]),
        "runtime": st.sampled_from(["runc", "kata"]),
        "hints": st.sampled_from([{}, {"label:disk": "ssd"}, {"label:disk": "hdd", "group": "a"}]),
        "host": st.sampled_from(["n0", "n1"]),
    },
)
STEPS = st.lists(st.one_of(REQUESTS, st.none()), min_size=1, max_size=12)
"""Creates, and None for the removal of the oldest container."""


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """An API, and nobody else."""
    directory: pathlib.Path = tmp_path_factory.mktemp("scheduling")
    exact = {
        "initial_cpu_allocation_ratio": 1,
        "initial_ram_allocation_ratio": 1,
        "reserved_host_memory_mb": 0,
    }
    cloud = Cloud(directory, compute=exact, scheduler={"enabled_filters": FILTERS})
    cloud.stop_node("node1")
    yield cloud
    cloud.close()


def furnish(cloud: Cloud, nodes: Sequence[Machine]) -> None:
    """Nothing but these nodes, n0 and so on."""
    now = cloud.clock.now()

    def write(session: Any) -> None:
        for table in (ContainerAction, Allocation, Container, ComputeNode, Service):
            session.execute(delete(table))
        for number, node in enumerate(nodes):
            seen = now if node.up else now - datetime.timedelta(hours=1)
            session.add(
                Service(
                    host=f"n{number}",
                    binary="zun-compute",
                    disabled=node.disabled,
                    availability_zone=node.zone,
                    last_seen_up=seen,
                )
            )
            cells = [
                {"id": cell, "cpuset": [*cpus], "pinned_cpus": [], "mem_total": 192, "mem_available": 192}
                for cell, cpus in enumerate(node.cells)
            ]
            session.add(
                ComputeNode(
                    uuid=f"uuid{number}",
                    rp_uuid=f"uuid{number}",
                    hostname=f"n{number}",
                    cpus=node.cpus,
                    mem_total=64 * node.memory,
                    disk_total=10,
                    runtimes=["runc", "kata"] if node.kata else ["runc"],
                    labels={"disk": node.disk},
                    enable_cpu_pinning=node.dedicates,
                    numa_topology={"nodes": cells},
                )
            )

    cloud.database.write(write)


def expected(nodes: Sequence[Machine], rows: Sequence[Container], asked: dict[str, Any]) -> str | None:
    """The node that is to take it, by the letter of the manual."""
    fitting = []
    for number, node in enumerate(nodes):
        host = f"n{number}"
        own = [row for row in rows if row.host == host]
        vcpus = sum(int(row.cpu or 0) for row in own)
        memory = sum(int(row.memory or 0) for row in own)
        dedicated = asked["cpu_policy"] == "dedicated"
        wanted = (asked.get("hints") or {}).get("label:disk")
        if (
            node.up
            and not node.disabled
            and node.dedicates == dedicated
            and asked.get("host") in (None, host)
            and asked.get("availability_zone") in (None, node.zone)
            and (node.kata or asked.get("runtime") != "kata")
            and wanted in (None, node.disk)
            and vcpus + asked["cpu"] <= node.cpus
            and memory + asked["memory"] <= 64 * node.memory
            and (
                not dedicated or any(has_room(own, cell, cpus, asked) for cell, cpus in enumerate(node.cells))
            )
        ):
            fitting.append((memory / (64 * node.memory), vcpus / node.cpus, host))
    return min(fitting)[2] if fitting else None


def has_room(own: Sequence[Container], cell: int, cpus: Sequence[int], asked: dict[str, Any]) -> bool:
    there = [row for row in own if row.cpuset["cpuset_mems"] == [cell]]
    taken = sum(len(row.cpuset["cpuset_cpus"]) for row in there)
    memory = sum(int(row.memory or 0) for row in there)
    return taken + asked["cpu"] <= len(cpus) and memory + asked["memory"] <= 192


@given(st.lists(machines(), min_size=1, max_size=4), STEPS)
@settings(max_examples=60)
def test_every_container_is_where_it_belongs_or_nowhere(
    cloud: Cloud, nodes: list[Machine], steps: list[dict[str, Any] | None]
) -> None:
    furnish(cloud, nodes)
    placed: list[Container] = []
    for asked in steps:
        if asked is None:
            if placed:
                gone = placed.pop(0)
                cloud.database.write(lambda session, gone=gone: containers.destroy(session, gone))
            continue
        answer = cloud.client.request("POST /containers", {"image": IMAGE, **asked})
        if asked.get("host") and int(asked["host"][1]) >= len(nodes):
            assert answer.status_code == 404
            continue
        host = expected(nodes, placed, asked)
        assert (answer.status_code, answer.json["host"]) == (202, host), answer.json["status_reason"]
        if host is not None:
            placed.append(cloud.row(answer.json["uuid"]))
    assert cloud.claims().keys() == {row.uuid for row in placed}
    for number, node in enumerate(nodes):
        shares = [row.cpuset for row in placed if row.host == f"n{number}" and row.cpu_policy == "dedicated"]
        taken = [cpu for share in shares for cpu in share["cpuset_cpus"]]
        assert len(taken) == len(set(taken))
        for share in shares:
            (cell,) = share["cpuset_mems"]
            assert set(share["cpuset_cpus"]) <= set(node.cells[cell])
