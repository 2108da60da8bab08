"""Limits of a project: they hold under concurrency, count what is really used, and say what was passed."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tests.support.threads import at_once
from tierce.db.tables import Quota, QuotaClass

NewCloud = Callable[..., Cloud]
RUN = "POST /containers?run=true"
FULL = {"reserved_host_memory_mb": 256 * 1024}
"""Nodes without room for anything."""


def body(**fields: Any) -> dict[str, Any]:
    return {"image": IMAGE, "command": ["sleep", "3600"], **fields}


def limit(cloud: Cloud, *rows: Quota | QuotaClass) -> None:
    cloud.database.write(lambda session: session.add_all(rows))


def over_quota(client: Client, **fields: Any) -> str:
    status, code, text = client.error(RUN, body(**fields))
    assert (status, code) == (403, "container.over-quota")
    return text


def test_of_many_at_once_exactly_as_many_as_the_limit_are_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 5})
    answers = at_once([lambda: cloud.client.request(RUN, body()).status_code] * 20)
    assert Counter(answers) == {202: 5, 403: 15}
    assert len(cloud.rows()) == 5


def test_of_many_at_once_that_no_node_can_take_no_more_than_the_limit_are_kept(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 3}, compute=FULL)
    answers = at_once([lambda: cloud.client.request(RUN, body()).status_code] * 12)
    assert Counter(answers) == {202: 3, 403: 9}
    assert len(cloud.rows()) == 3


def test_amounts_hold_under_concurrency_too(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"cpu": 1})
    answers = at_once([lambda: cloud.client.request(RUN, body(cpu=0.3)).status_code] * 10)
    assert Counter(answers) == {202: 3, 403: 7}


def test_what_is_deleted_at_the_same_time_is_not_counted_twice(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 3})
    full = [cloud.client.running() for _ in range(3)]

    def replace(uuid: str) -> int:
        cloud.client.call(f"DELETE /containers/{uuid}?force=true")
        cloud.client.wait_gone(uuid)
        return int(cloud.client.request(RUN, body()).status_code)

    assert at_once([lambda uuid=uuid: replace(uuid) for uuid in full]) == [202, 202, 202]
    over_quota(cloud.client)


def test_the_refusal_names_resource_limit_and_use(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 2, "cpu": 1, "memory": 300})
    cloud.client.created(cpu=0.5, memory=200)
    assert over_quota(cloud.client, cpu=0.75, memory=128) == (
        "Quota exceeded for resources: ['cpu', 'memory'] "
        "(cpu: limit 1, in use 0.5, asked 0.75; memory: limit 300, in use 200, asked 128)"
    )
    cloud.client.created(cpu=0.5, memory=100)
    assert "containers: limit 2, in use 2, asked 1" in over_quota(cloud.client, cpu=0.1, memory=6)


def test_a_refusal_leaves_nothing(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 0})
    over_quota(cloud.client)
    assert (cloud.rows(), cloud.claims()) == ([], {})


@pytest.mark.parametrize(("resource", "default"), [("cpu", "default_cpu"), ("memory", "default_memory")])
def test_what_a_request_leaves_out_counts_with_its_default(
    new_cloud: NewCloud, resource: str, default: str
) -> None:
    cloud = new_cloud(quota={resource: 64}, DEFAULT={default: 32})
    for _ in range(2):
        cloud.client.call("POST /containers", body())
    assert f"{resource}: limit 64, in use 64, asked 32" in over_quota(cloud.client)


def test_amounts_that_add_up_to_the_limit_fit(new_cloud: NewCloud) -> None:
    """0.1 three times is not quite 0.3 to a computer."""
    cloud = new_cloud(quota={"cpu": 3})
    for cpu in (2.7, 0.1, 0.1, 0.1):
        cloud.client.created(cpu=cpu)
    over_quota(cloud.client, cpu=0.1)


def test_disk_counts_as_asked(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"disk": 5})
    cloud.client.created(disk=3)
    assert "disk: limit 5, in use 3, asked 3" in over_quota(cloud.client, disk=3)


def test_minus_one_is_no_limit(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 0})
    limit(cloud, Quota(project_id="admin", resource="containers", hard_limit=-1))
    cloud.client.created()


def test_a_project_s_own_limit_wins_over_the_class_and_that_over_the_configuration(
    new_cloud: NewCloud,
) -> None:
    cloud = new_cloud(quota={"containers": 0})
    member = cloud.user("alice", project="p1")
    limit(cloud, QuotaClass(class_name="default", resource="containers", hard_limit=1))
    member.created()
    over_quota(member)
    limit(cloud, Quota(project_id="p1", resource="containers", hard_limit=2))
    member.created()
    over_quota(member)
    cloud.client.created()
    over_quota(cloud.client)


def test_a_limit_below_what_is_used_keeps_the_old_and_refuses_new(cloud: Cloud, client: Client) -> None:
    uuids = [client.running() for _ in range(3)]
    limit(cloud, Quota(project_id="admin", resource="containers", hard_limit=1))
    over_quota(client)
    assert [(client.show(uuid) or {})["status"] for uuid in uuids] == ["Running"] * 3
    client.call(f"POST /containers/{uuids[0]}/stop")


def test_projects_do_not_count_against_each_other(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 1})
    cloud.user("alice", project="p1").created()
    cloud.user("bob", project="p2").created()


def test_an_administrator_s_container_counts_in_its_own_project(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 1})
    cloud.client.created()
    over_quota(cloud.client)
    cloud.user("alice", project="p1").created()


def test_containers_in_error_count_until_they_are_deleted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 1}, registry=())
    failed = cloud.client.create(image="nosuch/image:1")
    cloud.client.wait(failed, "Error")
    over_quota(cloud.client)
    cloud.client.call(f"DELETE /containers/{failed}")
    cloud.client.wait_gone(failed)
    cloud.client.created()


def test_what_no_node_can_take_counts_until_it_is_deleted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 1}, compute=FULL)
    refused = cloud.client.create()
    assert (cloud.client.show(refused) or {})["status"] == "Error"
    over_quota(cloud.client)
    cloud.client.call(f"DELETE /containers/{refused}")
    assert cloud.rows() == []
