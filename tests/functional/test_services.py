"""Node agents in an operator's hands: disabled, forced down, forgotten; and the zones that they are in."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tierce.db.tables import Service

NewCloud = Callable[..., Cloud]
NODE1 = "host=node1&binary=zun-compute"


def service(client: Client, host: str = "node1") -> dict[str, Any]:
    (found,) = [each for each in client.call("GET /services")["services"] if each["host"] == host]
    return dict(found)


def columns(cloud: Cloud, **values: object) -> None:
    """Write columns of every service."""
    cloud.database.write(lambda session: session.execute(update(Service).values(**values)))


def test_a_disabled_node_gets_no_new_containers_and_keeps_its_own(cloud: Cloud, client: Client) -> None:
    kept = client.running()
    answer = client.call(f"PUT /services/disable?{NODE1}&disabled_reason=new+disks")
    assert answer == {
        "service": {
            "host": "node1",
            "binary": "zun-compute",
            "disabled": True,
            "disabled_reason": "new disks",
        }
    }
    assert (service(client)["state"], service(client)["disabled_reason"]) == ("up", "new disks")
    refused = client.create()
    shown = client.show(refused) or {}
    assert (shown["status"], "node1 is disabled" in shown["status_reason"]) == ("Error", True)

    client.call(f"POST /containers/{kept}/stop")
    client.wait(kept, "Stopped")

    assert client.call(f"PUT /services/enable?{NODE1}")["service"]["disabled_reason"] is None
    client.created()


def test_a_node_that_is_forced_down_is_down_until_that_is_taken_back(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    answer = client.call(
        "PUT /services/force_down", {"host": "node1", "binary": "zun-compute", "forced_down": True}
    )
    assert answer == {"service": {"host": "node1", "binary": "zun-compute", "forced_down": True}}
    assert service(client)["state"] == "down"
    assert client.error(f"GET /containers/{uuid}/logs")[:2] == (409, "container.container-host-not-up")
    assert "node1 is down" in (client.show(client.create()) or {})["status_reason"]
    assert client.error("POST /images", {"repo": "nginx", "host": "node1"})[1] == "container.host-not-up"

    client.call(f"PUT /services/force_down?{NODE1}&forced_down=False")
    assert service(client)["state"] == "up"
    client.call(f"GET /containers/{uuid}/logs")


@pytest.mark.parametrize("last_seen_up", [None, datetime.datetime.fromisoformat("2020-01-01")])
def test_a_change_of_flags_does_not_make_a_dead_node_look_alive(
    cloud: Cloud, client: Client, last_seen_up: datetime.datetime | None
) -> None:
    cloud.stop_node("node1")
    columns(cloud, last_seen_up=last_seen_up, created_at=datetime.datetime.fromisoformat("2020-01-01"))
    for line in ("disable?", "enable?", "force_down?forced_down=true&", "force_down?forced_down=false&"):
        client.call(f"PUT /services/{line}{NODE1}")
        assert service(client)["state"] == "down"
    cloud.start_node("node1")


def test_what_changes_nothing_is_a_success(client: Client) -> None:
    for _ in range(2):
        assert client.call(f"PUT /services/enable?{NODE1}")["service"]["disabled"] is False


def test_a_deleted_service_is_gone_until_its_agent_reports_again(cloud: Cloud, client: Client) -> None:
    client.call(f"PUT /services/disable?{NODE1}")
    cloud.stop_node("node1")
    answer = client.request(f"DELETE /services?{NODE1}")
    assert (answer.status_code, answer.text) == (200, "null")
    assert client.call("GET /services") == {"services": []}
    assert client.error(f"DELETE /services?{NODE1}")[:2] == (404, "container.zun-service-not-found")
    cloud.start_node("node1")
    assert (service(client)["state"], service(client)["disabled"]) == ("up", False)


@pytest.mark.parametrize("change", ["enable", "disable", "force_down?forced_down=1"])
def test_only_what_exists_can_be_changed(client: Client, change: str) -> None:
    query = "&" if "?" in change else "?"
    for name in ("host=node9&binary=zun-compute", "host=node1&binary=zun-api"):
        assert client.error(f"PUT /services/{change}{query}{name}")[0] == 404


# --- zones ----------------------------------------------------------------------------------------


def zones(client: Client, query: str = "") -> list[str]:
    document = client.call(f"GET /availability_zones{query}")
    assert document["next"] is None
    return [each["availability_zone"] for each in document["availability_zones"]]


@pytest.fixture
def three_zones(new_cloud: NewCloud) -> Cloud:
    """a: node2, node4; b: node1; and node3 in that of a node which names none."""
    cloud = new_cloud(
        hosts=("node1", "node2", "node3", "node4"), DEFAULT={"default_availability_zone": "nova"}
    )
    for host, zone in (("node1", "b"), ("node2", "a"), ("node3", None), ("node4", "a")):
        cloud.database.write(
            lambda session, host=host, zone=zone: session.execute(
                update(Service).where(Service.host == host).values(availability_zone=zone, disabled=True)
            )
        )
    return cloud


def test_each_zone_is_listed_once_and_that_of_nodes_without_one_by_its_name(three_zones: Cloud) -> None:
    assert zones(three_zones.client) == ["a", "b", "nova"]
    assert zones(three_zones.client, "?sort_dir=desc") == ["nova", "b", "a"]
    assert zones(three_zones.client, "?sort_key=host") == ["b", "nova", "a"]


def test_pages_count_zones_and_continue_after_one(three_zones: Cloud) -> None:
    assert zones(three_zones.client, "?limit=2") == ["a", "b"]
    assert zones(three_zones.client, "?limit=3") == ["a", "b", "nova"]
    assert zones(three_zones.client, "?limit=2&marker=b") == ["nova"]
    assert three_zones.client.error("GET /availability_zones?marker=c")[0] == 400
    assert three_zones.client.error("GET /availability_zones?sort_key=nosuch")[:2] == (
        400,
        "container.invalid-parameter-value",
    )


def test_a_container_goes_where_its_zone_is(three_zones: Cloud) -> None:
    columns(three_zones, disabled=False)
    body = {"image": IMAGE, "availability_zone": "b"}
    uuid = three_zones.client.call("POST /containers", body)["uuid"]
    assert three_zones.row(uuid).host == "node1"
