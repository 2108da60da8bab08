"""Several nodes: which takes a container, what everybody is told, and one of them gone and back."""

import base64
import dataclasses
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import select, update

from tests.support.client import IMAGE, Client
from tests.support.cloud import FACTS, Cloud
from tests.support.counts import counted
from tests.support.tars import tar
from tests.support.threads import at_once
from tests.support.waiting import until
from tierce.db.tables import Allocation, ComputeNode, Service

NewCloud = Callable[..., Cloud]

SMALL = dataclasses.replace(FACTS, cpus=4, memory_total=1024, disk_total=10)
EXACT = {
    "initial_cpu_allocation_ratio": 1,
    "initial_ram_allocation_ratio": 1,
    "reserved_host_memory_mb": 0,
    "reserve_disk_for_image": 0,
}


def host_of(client: Client, **fields: object) -> str | None:
    """Where a new container is placed; None, and it is in Error, when nowhere."""
    container = client.call("POST /containers", {"image": IMAGE, "memory": 64, "cpu": 1, **fields})
    assert (container["status"] == "Error") == (container["host"] is None)
    return str(container["host"]) if container["host"] else None


def reason(client: Client, **fields: object) -> str:
    container = client.call("POST /containers", {"image": IMAGE, **fields})
    assert container["status"] == "Error"
    return str(container["status_reason"])


def set_node(cloud: Cloud, host: str, **values: object) -> None:
    cloud.database.write(
        lambda session: session.execute(
            update(ComputeNode).where(ComputeNode.hostname == host).values(**values)
        )
    )


def away(cloud: Cloud, host: str) -> bool:
    """Whether the node has said that its engine does not answer."""
    look = select(ComputeNode.runtime_away).where(ComputeNode.hostname == host)
    return bool(cloud.database.read(lambda session: session.scalar(look)))


# --- which one --------------------------------------------------------------------------------------


def test_the_larger_share_of_memory_and_then_of_cpus_decides_and_then_the_name(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2", "node3"), facts=SMALL, compute=EXACT)
    set_node(cloud, "node3", mem_total=4096)
    client = cloud.client
    hosts = [host_of(client, memory=256) for _ in range(7)]
    # One of four, one of four, one of sixteen; then node3 is the freest until it is as full as they are.
    assert hosts == ["node1", "node2", "node3", "node3", "node3", "node3", "node1"]


@pytest.mark.parametrize("driver", ["filter_scheduler", "chance_scheduler"])
def test_a_node_whose_engine_is_away_is_the_last_to_be_taken(new_cloud: NewCloud, driver: str) -> None:
    cloud = new_cloud(
        hosts=("node1", "node2"),
        facts=SMALL,
        compute=EXACT,
        scheduler={"driver": driver},
        DEFAULT={"periodic_interval_max": 1},
    )
    client = cloud.client
    kept = client.running(host="node1", cpu=1)
    cloud.engine.go_down()
    until(lambda: away(cloud, "node1"))
    assert [host_of(client) for _ in range(4)] == ["node2"] * 4
    late = client.call("POST /containers", {"image": IMAGE, "memory": 64, "cpu": 1})
    assert late["host"] == "node1"
    assert "cannot be reached" in client.wait(late["uuid"], "Error")["status_reason"]
    assert (client.show(kept) or {})["status"] == "Running"

    cloud.engine.come_back()
    until(lambda: not away(cloud, "node1"))
    assert client.wait(client.create(run=True, host="node1"), "Running")
    assert host_of(client) == "node1"


def test_labels_of_nodes_are_asked_for_by_hints(new_cloud: NewCloud) -> None:
    cloud = new_cloud(
        hosts=("node1", "node2"), scheduler={"enabled_filters": "ComputeFilter,LabelFilter,CPUFilter"}
    )
    set_node(cloud, "node2", labels={"disk": "ssd", "rack": "7"})
    client = cloud.client
    assert host_of(client, hints={"label:disk": "ssd", "label:rack": "7", "same_host": "x"}) == "node2"
    assert host_of(client, hints={}) == "node1"
    assert reason(client, hints={"label:disk": "hdd"}) == (
        "There are not enough hosts available. node1 has no label disk=hdd; node2 has no label disk=hdd."
    )


def test_hints_are_not_looked_at_where_the_operator_does_not_want_it(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"))
    assert host_of(cloud.client, hints={"label:disk": "ssd"}) == "node1"


def test_filters_without_overcommit_count_what_is_claimed(new_cloud: NewCloud) -> None:
    cloud = new_cloud(
        hosts=("node1", "node2"),
        facts=SMALL,
        compute={**EXACT, "initial_cpu_allocation_ratio": 16, "initial_ram_allocation_ratio": 2},
        scheduler={"enabled_filters": "ComputeFilter,CPUFilter,RamFilter"},
    )
    client = cloud.client
    assert [host_of(client, cpu=4, memory=64), host_of(client, cpu=1, memory=1000)] == ["node1", "node2"]
    assert reason(client, cpu=1, memory=64) == (
        "There are not enough hosts available. node1 has 0 of its own 4 vCPU free, 1 asked; "
        "node2 has 24 of its own 1024 MiB memory free, 64 asked."
    )


def test_by_chance_every_node_that_is_up_gets_some(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2", "node3"), scheduler={"driver": "chance_scheduler"})
    cloud.lose_node("node3")
    hosts = Counter(host_of(cloud.client, availability_zone="mars") for _ in range(40))
    assert hosts.keys() == {"node1", "node2"}


def test_by_chance_too_a_node_is_not_filled_beyond_what_it_has(new_cloud: NewCloud) -> None:
    cloud = new_cloud(
        hosts=("node1", "node2"), facts=SMALL, compute=EXACT, scheduler={"driver": "chance_scheduler"}
    )
    hosts = Counter(host_of(cloud.client) for _ in range(10))
    assert hosts == {"node1": 4, "node2": 4, None: 2}


def test_of_more_at_once_than_fit_each_node_gets_what_it_has(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2", "node3"), facts=SMALL, compute=EXACT)
    hosts = Counter(at_once([lambda: host_of(cloud.client)] * 24))
    assert hosts == {"node1": 4, "node2": 4, "node3": 4, None: 12}


# --- what is told -----------------------------------------------------------------------------------


def test_who_may_not_know_nodes_is_told_how_many_lack_what(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2", "node3", "node4"), facts=SMALL, compute=EXACT)
    cloud.policy_file.write_text('"container:create:runtime": ""\n')
    cloud.restart()
    cloud.lose_node("node2")
    set_node(cloud, "node4", runtimes=["runc", "kata"])
    member = cloud.user("joe", project="p")
    assert reason(member, cpu=16, runtime="kata") == (
        "There are not enough hosts available. Of all nodes: 2 without that runtime, 1 down or disabled, "
        "1 without enough vCPU, memory or disk free."
    )


def test_who_may_not_know_nodes_is_not_told_the_node_that_a_change_does_not_fit(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL, compute=EXACT)
    member = cloud.user("joe", project="p")
    uuid = member.created(cpu=1)
    told = member.error(f"PATCH /containers/{uuid}", {"cpu": 16})
    assert told == (
        409,
        "container.resources-unavailable",
        "The container's node has 3 of 4 vCPU free, 15 asked.",
    )


def test_of_very_many_nodes_some_are_told_and_the_others_counted(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    cloud.database.write(
        lambda session: session.add_all(
            Service(host=f"old{number}", binary="zun-compute", created_at=cloud.clock.now(), forced_down=True)
            for number in range(30)
        )
    )
    told = reason(cloud.client, runtime="kata")
    assert told.count("is down") == 19
    assert told.endswith("; 11 more were refused.")


def test_a_cloud_without_nodes_says_so(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    cloud.stop_node("node1")
    cloud.client.call("DELETE /services?host=node1&binary=zun-compute")
    assert reason(cloud.client) == "There are not enough hosts available. No node is registered."


# --- gone, and back ---------------------------------------------------------------------------------

NEED_THE_NODE: list[tuple[str, object]] = [
    *((f"POST /containers/{{}}/{name}", None) for name in ("stop", "pause", "kill", "reboot", "rebuild")),
    ("POST /containers/{}/execute?command=true", None),
    ("POST /containers/{}/resize?h=24&w=80", None),
    ("POST /containers/{}/resize_container", {"cpu": 2}),
    ("PATCH /containers/{}", {"memory": 128}),
    ("POST /containers/{}/commit?repository=copy&tag=1", None),
    ("POST /containers/{}/put_archive?path=/", {"data": base64.b64encode(tar(a=b"a")).decode()}),
    *((f"GET /containers/{{}}/{name}", None) for name in ("logs", "top", "stats", "get_archive?path=/")),
    ("DELETE /containers/{}?stop=true", None),
]


def test_one_dead_node_of_two_refuses_everything_and_is_not_asked(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"))
    client = cloud.client
    dead, alive = client.running(host="node1"), client.running(host="node2")
    cloud.lose_node("node1")
    with counted(cloud.database.engine) as asked:
        for line, body in NEED_THE_NODE:
            assert client.error(line.format(dead), body)[:2] == (409, "container.container-host-not-up"), line
    assert asked.messages == 0, "an answer is waited for that cannot come"
    assert client.call(f"GET /containers/{alive}/logs") is not None
    assert client.actions(dead) == [("create", None)]
    assert client.wait(client.create(run=True), "Running")["host"] == "node2"


def test_a_node_that_was_taken_out_gets_nothing_and_back_again_it_has_what_it_had(
    new_cloud: NewCloud,
) -> None:
    cloud = new_cloud(hosts=("node1", "node2"), facts=SMALL, compute=EXACT)
    client = cloud.client
    kept = client.running(host="node1", cpu=3)
    cloud.stop_node("node1")
    client.call("DELETE /services?host=node1&binary=zun-compute")

    assert [host_of(client) for _ in range(4)] == ["node2"] * 4
    assert host_of(client) is None
    assert client.error(f"POST /containers/{kept}/stop")[:2] == (409, "container.container-host-not-up")
    assert reason(client, host="node1") == (
        "There are not enough hosts available. node2 is not the requested host node1."
    )

    cloud.start_node("node1")
    client.call(f"POST /containers/{kept}/stop")
    client.wait(kept, "Stopped")
    assert [host_of(client), host_of(client)] == ["node1", None]


def test_what_was_freed_by_force_is_not_freed_again_by_the_node_that_returns(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"), facts=SMALL, compute=EXACT)
    client = cloud.client
    lost = [client.running(host="node1", cpu=2) for _ in range(2)]
    cloud.lose_node("node1")
    for uuid in lost:
        client.call(f"DELETE /containers/{uuid}?force=true")
    assert cloud.claims() == {}
    cloud.start_node("node1")
    fresh = [client.running(host="node1", cpu=2) for _ in range(2)]
    for uuid in lost:
        client.wait_gone(uuid)
    cloud.wait_sound()
    assert cloud.claims().keys() == set(fresh)
    assert cloud.nodes["node1"].engine.containers.keys() == {f"zun-{uuid}" for uuid in fresh}


def test_a_claim_of_nobody_is_found_by_the_node_it_is_of_and_others_are_left_alone(
    new_cloud: NewCloud,
) -> None:
    cloud = new_cloud(hosts=("node1", "node2"))
    mine = cloud.client.running(host="node1")
    cloud.stop_node("node2")
    for host in ("node1", "node2"):
        claim = Allocation(consumer_uuid=f"nobody on {host}", host=host, vcpus=1, memory_mb=1, disk_gb=0)
        cloud.database.write(lambda session, claim=claim: session.add(claim))
    cloud.stop_node("node1")
    cloud.start_node("node1")
    until(lambda: cloud.claims().keys() == {mine, "nobody on node2"})
    cloud.start_node("node2")
    until(lambda: cloud.claims().keys() == {mine})


def test_each_node_s_record_has_what_its_own_containers_may_use(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"), facts=SMALL, compute=EXACT)
    client = cloud.client
    for host, cpu in (("node1", 0.5), ("node1", 1), ("node2", 2)):
        client.created(host=host, cpu=cpu, memory=100)
    cloud.restart()
    hosts = {each["hostname"]: each for each in client.call("GET /hosts")["hosts"]}
    used = {host: (each["cpu_used"], each["mem_used"], each["disk_used"]) for host, each in hosts.items()}
    assert used == {"node1": (1.5, 200, 0), "node2": (2, 100, 0)}
