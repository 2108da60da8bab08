"""Reading and setting limits, of projects and by class."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from tests.support.client import IMAGE, Client
from tests.support.cloud import FACTS, Cloud
from tests.support.threads import at_once
from tierce.db.tables import Quota, QuotaClass

NewCloud = Callable[..., Cloud]
CONFIGURED = {"containers": 40, "memory": 51200, "disk": 100, "cpu": 20}


@pytest.fixture
def cloud(new_cloud: NewCloud) -> Cloud:
    return new_cloud(quota=CONFIGURED)


def rows(cloud: Cloud, table: type[Quota | QuotaClass]) -> list[int | None]:
    return cloud.database.read(lambda session: [row.hard_limit for row in session.scalars(select(table))])


def test_what_is_not_set_comes_from_the_configuration(client: Client) -> None:
    for line in ("quotas/p1", "quotas/p1/defaults", "quota_classes/default", "quota_classes/nosuch"):
        assert client.call(f"GET /{line}") == CONFIGURED


def test_limits_are_set_where_the_client_puts_them(client: Client) -> None:
    assert client.call("PUT /quotas/p1?cpu=3", {"memory": "100"}) == {**CONFIGURED, "cpu": 3, "memory": 100}
    assert client.call("PUT /quotas/p1", {"cpu": -1}) == {**CONFIGURED, "cpu": -1, "memory": 100}
    assert client.call("PUT /quotas/p1") == {**CONFIGURED, "cpu": -1, "memory": 100}
    assert client.call("GET /quotas/p2") == CONFIGURED


def test_limits_go_back_to_the_defaults(cloud: Cloud, client: Client) -> None:
    client.call("PUT /quotas/p1", {"cpu": 3})
    for _ in range(2):
        answer = client.request("DELETE /quotas/p1")
        assert (answer.status_code, answer.text) == (200, "null")
        assert client.call("GET /quotas/p1") == CONFIGURED


def test_the_class_default_is_what_projects_have_without_their_own(cloud: Cloud, client: Client) -> None:
    client.call("PUT /quota_classes/other", {"containers": 9})
    assert client.call("PUT /quota_classes/default", {"containers": 1}) == {**CONFIGURED, "containers": 1}
    assert client.call("GET /quota_classes/other")["containers"] == 9
    assert client.call("GET /quotas/p1/defaults")["containers"] == 1
    assert client.call("GET /quotas/p1")["containers"] == 1
    client.call("PUT /quotas/p1", {"containers": 2})
    assert client.call("GET /quotas/p1")["containers"] == 2
    assert client.call("GET /quotas/p1/defaults")["containers"] == 1
    alice = cloud.user("alice", project="p2")
    alice.created()
    assert alice.error("POST /containers", {"image": IMAGE})[:2] == (403, "container.over-quota")


@pytest.mark.parametrize("query", ["?usages", "?usages=True", "?usages=1", "?usages=please"])
def test_usages_tell_what_is_taken(client: Client, query: str) -> None:
    client.created(cpu=0.5, memory=64, disk=3)
    usages = client.call(f"GET /quotas/admin{query}")
    assert usages == {
        "containers": {"limit": 40, "in_use": 1},
        "memory": {"limit": 51200, "in_use": 64},
        "disk": {"limit": 100, "in_use": 3},
        "cpu": {"limit": 20, "in_use": 0.5},
    }
    assert [type(usages[name]["in_use"]) for name in ("containers", "memory", "disk")] == [int] * 3


@pytest.mark.parametrize("query", ["", "?usages=False", "?usages=0", "?usages=no"])
def test_without_usages_limits_are_numbers(client: Client, query: str) -> None:
    assert client.call(f"GET /quotas/admin{query}") == CONFIGURED


def test_a_limit_is_one_row_however_often_it_is_set(cloud: Cloud, client: Client) -> None:
    for limit in (1, 2, 3):
        client.call("PUT /quotas/p1", {"cpu": limit})
        client.call("PUT /quota_classes/default", {"cpu": limit})
    assert (rows(cloud, Quota), rows(cloud, QuotaClass)) == ([3], [3])


def test_rows_that_another_program_doubled_are_set_and_dropped_together(cloud: Cloud, client: Client) -> None:
    for limit in (7, 8):
        row = Quota(project_id="p1", resource="cpu", hard_limit=limit)
        cloud.database.write(lambda session, row=row: session.add(row))
    assert client.call("GET /quotas/p1")["cpu"] == 8
    assert client.call("PUT /quotas/p1", {"cpu": 5})["cpu"] == 5
    assert rows(cloud, Quota) == [5, 5]
    client.call("DELETE /quotas/p1")
    assert rows(cloud, Quota) == []


def test_of_changes_at_once_one_stays(cloud: Cloud, client: Client) -> None:
    at_once([lambda limit=limit: client.call("PUT /quotas/p1", {"cpu": limit}) for limit in range(8)])
    assert client.call("GET /quotas/p1")["cpu"] in range(8)
    assert client.call("PUT /quotas/p1", {"cpu": 9})["cpu"] == 9


def test_a_project_sees_its_own_limits_alone(cloud: Cloud) -> None:
    alice = cloud.user("alice", project="p1")
    assert alice.call("GET /quotas/p1?usages")["cpu"] == {"limit": 20, "in_use": 0}
    alice.call("GET /quotas/p1/defaults")
    for line in ("GET /quotas/p2", "GET /quotas/p2/defaults", "PUT /quotas/p1", "DELETE /quotas/p1"):
        assert alice.error(line)[:2] == (403, "container.policy-not-authorized")


@pytest.mark.parametrize("line", ["PUT /quotas/{name}", "PUT /quota_classes/{name}"])
def test_a_name_that_cannot_be_stored_is_refused(client: Client, line: str) -> None:
    assert client.error(line.format(name="x" * 256), {"cpu": 1})[:2] == (400, "container.invalid-value")
    client.call(line.format(name="x" * 255), {"cpu": 1})


def test_with_the_no_op_driver_nothing_is_limited_or_counted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={**CONFIGURED, "containers": 0, "driver": "zun.common.quota.NoopQuotaDriver"})
    cloud.client.created()
    assert set(cloud.client.call("PUT /quotas/admin", {"cpu": 0}).values()) == {-1}
    cloud.client.created()
    assert set(cloud.client.call("GET /quotas/admin/defaults").values()) == {-1}
    usages = cloud.client.call("GET /quotas/admin?usages")
    assert usages == {name: {"limit": -1, "in_use": -1} for name in CONFIGURED}


# --- disk that a request leaves out ---------------------------------------------------------------


def limiting(**changes: Any) -> dict[str, Any]:
    """A node that can limit disk, and limits it to 4 GiB."""
    facts = {field: getattr(FACTS, field) for field in FACTS.__dataclass_fields__}
    return {
        "facts": type(FACTS)(**{**facts, "disk_quota_supported": True, **changes}),
        "DEFAULT": {"default_disk": 4},
    }


def test_disk_that_the_node_will_limit_counts_when_it_is_left_out(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={**CONFIGURED, "disk": 9}, **limiting())
    uuid = cloud.client.created()
    assert (cloud.client.show(uuid) or {})["disk"] == 4
    assert cloud.claims()[uuid].disk_gb == 4
    cloud.client.created()
    status, code, text = cloud.client.error("POST /containers", {"image": IMAGE})
    assert (status, code) == (403, "container.over-quota")
    assert "disk: limit 9, in use 8, asked 4" in text
    assert len(cloud.rows()) == 2
    cloud.client.created(disk=1)


def test_disk_that_the_node_has_not_left_is_no_valid_host(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**limiting(disk_total=6), compute={"reserve_disk_for_image": 0})
    cloud.client.created()
    refused = cloud.client.show(cloud.client.create()) or {}
    assert (refused["status"], "disk" in refused["status_reason"]) == ("Error", True)


def test_disk_that_the_node_cannot_limit_does_not_count(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={**CONFIGURED, "disk": 0}, DEFAULT={"default_disk": 4})
    assert (cloud.client.show(cloud.client.created()) or {})["disk"] == 0
