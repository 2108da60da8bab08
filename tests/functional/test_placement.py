"""Which node takes a container, what it holds of it, and what is said when none can."""

import dataclasses
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import update

from tests.support.client import IMAGE, Client
from tests.support.cloud import FACTS, Cloud
from tests.support.threads import at_once
from tests.support.waiting import until
from tierce.db.tables import ComputeNode, Service

NewCloud = Callable[..., Cloud]
SMALL = dataclasses.replace(FACTS, cpus=1, memory_total=1024, disk_total=10)
RATIOS = {"initial_cpu_allocation_ratio": 4, "initial_ram_allocation_ratio": 1, "reserved_host_memory_mb": 0}


def reason(client: Client, **fields: object) -> str:
    """Why a container could not be placed."""
    container = client.call("POST /containers", {"image": IMAGE, **fields})
    assert container["status"] == "Error"
    return str(container["status_reason"])


def test_of_more_creates_at_once_than_fit_the_others_are_told_why(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"), facts=SMALL, compute=RATIOS)
    body = {"image": IMAGE, "command": ["sleep", "3600"], "cpu": 1, "memory": 128}
    answers = at_once([lambda: cloud.client.request("POST /containers?run=true", body)] * 20)

    assert [answer.status_code for answer in answers] == [202] * 20
    cloud.wait_idle()
    containers = cloud.client.call("GET /containers")["containers"]
    assert Counter(each["status"] for each in containers) == {"Running": 8, "Error": 12}
    assert Counter(each["host"] for each in containers) == {"node1": 4, "node2": 4, None: 12}
    assert len(cloud.claims()) == 8
    for each in containers:
        if each["status"] == "Error":
            assert each["status_reason"].startswith("There are not enough hosts available.")
            assert "node1 has 0 of 4 vCPU free, 1 asked" in each["status_reason"]
            assert "node2 has 0 of 4 vCPU free, 1 asked" in each["status_reason"]


def test_every_node_s_own_reason_is_told(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("n1", "n2", "n3", "n4"), facts=SMALL, compute=RATIOS)
    cloud.client.created(host="n1", memory=1000)
    cloud.lose_node("n2")
    cloud.database.write(
        lambda session: session.execute(update(Service).where(Service.host == "n3").values(disabled=True))
    )
    assert reason(cloud.client, cpu=16, memory=128) == (
        "There are not enough hosts available. "
        "n1 has 3 of 4 vCPU free, 16 asked; 24 of 1024 MiB memory free, 128 asked; "
        "n2 is down; n3 is disabled; n4 has 4 of 4 vCPU free, 16 asked."
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"availability_zone": "mars"}, "node1 is in zone nova, not mars"),
        ({"runtime": "kata"}, "node1 lacks runtime kata"),
        ({"cpu": 16, "memory": 8192}, "node1 has 4 of 4 vCPU free, 16 asked; 1024 of 1024 MiB memory free"),
    ],
)
def test_what_a_node_does_not_have_is_named(
    new_cloud: NewCloud, fields: dict[str, object], told: str
) -> None:
    cloud = new_cloud(facts=SMALL, compute=RATIOS)
    assert told in reason(cloud.client, **fields)


def test_what_a_failed_creation_gave_back_a_rebuild_takes_again_if_it_is_free(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL, compute=RATIOS, registry=())
    failed = cloud.client.create(image="nosuch/image:1", cpu=3, memory=128)
    cloud.client.wait(failed, "Error")
    rival = cloud.client.created(cpu=2, memory=128)

    assert cloud.client.error(f"POST /containers/{failed}/rebuild?image={IMAGE}") == (
        409,
        "container.resources-unavailable",
        "The container's node has 2 of 4 vCPU free, 3 asked.",
    )
    assert (cloud.client.actions(failed), set(cloud.claims())) == ([("create", "Error")], {rival})

    cloud.client.call(f"DELETE /containers/{rival}")
    cloud.client.wait_gone(rival)
    cloud.client.call(f"POST /containers/{failed}/rebuild?image={IMAGE}")
    cloud.client.wait(failed, "Created")
    assert set(cloud.claims()) == {failed}


def test_the_freest_node_is_taken(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2", "node3"), compute=RATIOS)
    hosts = [cloud.client.wait(cloud.client.create(), "Created")["host"] for _ in range(6)]
    assert hosts == ["node1", "node2", "node3"] * 2


def test_an_empty_default_zone_is_any_zone(new_cloud: NewCloud) -> None:
    cloud = new_cloud(DEFAULT={"default_schedule_zone": ""})
    assert cloud.client.wait(cloud.client.create(), "Created", "Error")["status"] == "Created"


def test_a_requested_host_is_taken_or_nothing(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"), facts=SMALL, compute=RATIOS)
    assert {cloud.client.wait(cloud.client.create(host="node2"), "Created")["host"] for _ in range(3)} == {
        "node2"
    }
    assert "node1 is not the requested host node2" in reason(cloud.client, host="node2", cpu=4)
    assert cloud.client.error("POST /containers", {"image": IMAGE, "host": "nowhere"}) == (
        404,
        "container.requested-host-not-found",
        "Requested host nowhere could not be found.",
    )


def test_a_claim_is_what_the_container_may_use(cloud: Cloud, client: Client) -> None:
    uuid = client.created(cpu=1.5, memory=100, disk=3)
    claim = cloud.claims()[uuid]
    assert (claim.host, claim.vcpus, claim.memory_mb, claim.disk_gb) == ("node1", 2, 100, 3)


def test_overcommit_reserve_and_images_share_count(new_cloud: NewCloud) -> None:
    cloud = new_cloud(
        facts=dataclasses.replace(FACTS, cpus=2, memory_total=1000, disk_total=100),
        compute={
            "cpu_allocation_ratio": 1.5,
            "ram_allocation_ratio": 2,
            "reserved_host_memory_mb": 100,
            "reserved_host_disk_mb": 1025,
            "reserve_disk_for_image": 0.1,
        },
    )
    told = reason(cloud.client, cpu=16, memory=8000, disk=160)
    assert "3 of 3 vCPU free" in told
    assert "1800 of 1800 MiB memory free" in told
    assert "88 of 88 GiB disk free" in told


def test_a_failed_create_gives_back_what_it_held(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    release = cloud.hold("images.pull")
    uuid = cloud.client.create(image="nosuch/image:1")
    assert uuid in cloud.claims()
    release.set()
    cloud.client.wait(uuid, "Error")
    assert cloud.claims() == {}


def test_a_delete_gives_back_what_the_container_held(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    assert uuid in cloud.claims()
    client.call(f"DELETE /containers/{uuid}")
    client.wait_gone(uuid)
    assert cloud.claims() == {}


def test_a_stopped_container_keeps_its_place(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    client.call(f"POST /containers/{uuid}/stop")
    client.wait(uuid, "Stopped")
    assert uuid in cloud.claims()


def test_a_node_that_has_never_been_able_to_ask_its_runtime_takes_nothing(
    cloud: Cloud, client: Client
) -> None:
    cloud.stop_node("node1")
    cloud.database.write(lambda session: session.execute(update(ComputeNode).values(cpus=0)))
    cloud.engine.go_down()
    cloud.start_node("node1")
    assert "node1 has not reported what it has" in reason(client)
    cloud.engine.come_back()
    until(lambda: client.call("GET /hosts")["hosts"][0]["cpus"])
    client.created()
