"""A node that is gone: what is refused at once, what waits for it, and what it does when it is back."""

import dataclasses
import re
from typing import Any

import pytest

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tests.support.counts import counted
from tests.support.waiting import until
from tierce.db import actions
from tierce.db.tables import ContainerAction

ACTIONS = [
    *(f"POST /containers/{{}}/{name}" for name in ("stop", "pause", "kill", "reboot")),
    "POST /containers/{}/execute?command=true",
    *(f"GET /containers/{{}}/{name}" for name in ("logs", "top", "stats")),
    "DELETE /containers/{}?stop=true",
]


def snapshot(cloud: Cloud) -> tuple[Any, ...]:
    """All that a refused request must leave as it was."""
    rows = [{name: value for name, value in vars(row).items() if name[0] != "_"} for row in cloud.rows()]
    claims = {
        uuid: (claim.host, claim.vcpus, claim.memory_mb, claim.disk_gb)
        for uuid, claim in cloud.claims().items()
    }
    return rows, claims, cloud.unfinished()


@pytest.mark.parametrize("line", ACTIONS)
def test_what_needs_the_node_is_refused_at_once_and_changes_nothing(
    cloud: Cloud, client: Client, line: str
) -> None:
    uuid = client.running()
    cloud.lose_node("node1")
    before = snapshot(cloud)

    with counted(cloud.database.engine) as asked:
        refused = client.error(line.format(uuid))

    assert refused == (
        409,
        "container.container-host-not-up",
        f"Container {uuid} host node1 is not up.",
    )
    assert asked.messages == 0, "an answer is waited for that cannot come"
    assert snapshot(cloud) == before
    assert client.actions(uuid) == [("create", None)]


@pytest.mark.parametrize("line", [*ACTIONS, "PATCH /containers/{}?memory=128"])
def test_a_member_is_not_told_which_node_is_down(cloud: Cloud, line: str) -> None:
    member = cloud.user("bob", project="p1")
    uuid = member.running()
    cloud.lose_node("node1")
    assert member.error(line.format(uuid)) == (
        409,
        "container.container-host-not-up",
        f"The node of container {uuid} is not up.",
    )


def test_which_node_does_not_reply_is_told_to_those_who_may_know_nodes(new_cloud: Any) -> None:
    cloud = new_cloud(DEFAULT={"rpc_response_timeout": 1})
    member = cloud.user("bob", project="p1")
    uuid = member.running()
    for client, node in ((member, "the node"), (cloud.client, "node1")):
        cloud.hold("logs")
        assert client.error(f"GET /containers/{uuid}/logs") == (
            504,
            "container.rpc-timeout",
            f"No reply from {node} to container_logs within 1 s; whether it was done is unknown.",
        )


def test_a_member_whose_change_of_size_takes_long_is_not_told_where(new_cloud: Any) -> None:
    cloud = new_cloud(DEFAULT={"rpc_response_timeout": 1})
    member = cloud.user("bob", project="p1")
    uuid = member.running(memory=128)
    cloud.hold("resize")
    status, code, text = member.error(f"PATCH /containers/{uuid}", {"memory": 256})
    assert (status, code) == (504, "container.rpc-timeout")
    assert "is not changed yet" in text
    assert "node1" not in text


def test_start_and_unpause_are_refused_too(cloud: Cloud, client: Client) -> None:
    created, paused = client.created(), client.running()
    client.call(f"POST /containers/{paused}/pause")
    client.wait(paused, "Paused")
    cloud.lose_node("node1")
    for line in (f"POST /containers/{created}/start", f"POST /containers/{paused}/unpause"):
        assert client.error(line)[:2] == (409, "container.container-host-not-up")


def test_what_is_known_is_shown_all_the_same(cloud: Cloud, client: Client) -> None:
    uuid = client.running(name="web")
    cloud.lose_node("node1")
    with counted(cloud.database.engine) as asked:
        shown = client.show(uuid) or {}
        changed = client.call(f"PATCH /containers/{uuid}", {"name": "shop"})
        renamed = client.call(f"POST /containers/{uuid}/rename?name=web", version="1.13")
        (listed,) = client.call("GET /containers")["containers"]
    assert asked.messages == 0, "an answer is waited for that cannot come"
    assert shown["status"] == "Running"
    assert shown["status_detail"].startswith("Up ")
    assert shown["status_detail"].endswith(", when its node was last heard of")
    assert listed["name"] == "web"
    for answered in (changed, renamed, listed):
        assert answered["status_detail"].endswith(", when its node was last heard of")
    assert client.actions(uuid) == [("create", None)]
    (service,) = client.call("GET /services")["services"]
    assert (service["host"], service["state"]) == ("node1", "down")


def test_what_cannot_have_changed_on_a_node_that_is_down_is_shown_as_ever(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.created()
    cloud.lose_node("node1")
    assert (client.show(uuid) or {})["status_detail"] == "Created"
    cloud.start_node("node1")
    detail = (client.show(client.running()) or {})["status_detail"]
    assert re.fullmatch(r"Up \d+ seconds?", detail)


def test_a_node_counts_as_down_once_its_heartbeat_is_old(cloud: Cloud, client: Client) -> None:
    cloud.stop_node("node1")
    for seconds, state in ((0, "up"), (170, "up"), (20, "down")):
        cloud.clock.advance(seconds)
        (service,) = client.call("GET /services")["services"]
        assert service["state"] == state


def test_an_image_cannot_be_pulled_there(cloud: Cloud, client: Client) -> None:
    cloud.lose_node("node1")
    assert client.error("POST /images", {"repo": "nginx", "host": "node1"})[:2] == (
        409,
        "container.host-not-up",
    )


def test_a_delete_needs_force(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    cloud.lose_node("node1")
    assert client.error(f"DELETE /containers/{uuid}")[:2] == (409, "container.container-host-not-up")


def test_a_forced_delete_frees_the_claim_at_once_and_the_node_finishes_when_it_is_back(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running()
    cloud.lose_node("node1")

    client.call(f"DELETE /containers/{uuid}?force=true")

    assert cloud.claims() == {}
    assert (client.show(uuid) or {})["status"] == "Deleting"
    assert cloud.has_container(uuid)
    cloud.start_node("node1")
    client.wait_gone(uuid)
    assert not cloud.has_container(uuid)
    assert cloud.engine.networks.keys() == {"bridge"}


def test_the_freed_place_can_be_taken_at_once(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.lose_node("node1")
    client.call(f"DELETE /containers/{uuid}?force=true")
    client.call(f"DELETE /containers/{uuid}?force=true")
    assert cloud.claims() == {}
    cloud.start_node("node1")
    client.running()


def test_a_container_whose_creation_died_with_its_node_is_deleted_without_being_made(
    cloud: Cloud, client: Client
) -> None:
    cloud.stop_node("node1")
    uuid = client.create(run=True)
    cloud.lose_node("node1")
    client.call(f"DELETE /containers/{uuid}?force=true")
    cloud.start_node("node1")
    client.wait_gone(uuid)
    assert cloud.engine.containers == {}


def test_what_was_accepted_before_anybody_knew_is_done_when_the_node_is_back(
    cloud: Cloud, client: Client
) -> None:
    running, created = client.running(), client.created()
    cloud.stop_node("node1")
    fresh = client.create(run=True)
    client.call(f"POST /containers/{running}/stop")
    client.call(f"POST /containers/{created}/start")
    cloud.lose_node("node1")

    cloud.start_node("node1")

    client.wait(running, "Stopped")
    client.wait(created, "Running")
    client.wait(fresh, "Running")


def test_a_dead_node_takes_no_new_container(cloud: Cloud, client: Client) -> None:
    cloud.lose_node("node1")
    refused = client.call("POST /containers", {"image": IMAGE})
    assert (refused["status"], refused["host"]) == ("Error", None)
    assert refused["status_reason"] == "There are not enough hosts available. node1 is down."
    assert cloud.claims() == {}


def test_a_container_without_a_node_is_deleted_at_once(cloud: Cloud, client: Client) -> None:
    cloud.lose_node("node1")
    uuid = client.create()
    assert client.error(f"POST /containers/{uuid}/start") == (
        409,
        "container.conflict",
        f"Container {uuid} is not scheduled to a host.",
    )
    client.call(f"DELETE /containers/{uuid}")
    assert cloud.rows() == []


def test_other_nodes_are_not_touched_by_it(new_cloud: Any) -> None:
    cloud = new_cloud(hosts=("node1", "node2"))
    uuids = {host: cloud.client.running(host=host) for host in cloud.nodes}
    cloud.lose_node("node1")
    cloud.client.call(f"POST /containers/{uuids['node2']}/stop")
    cloud.client.wait(uuids["node2"], "Stopped")
    assert cloud.client.wait(cloud.client.create(run=True), "Running")["host"] == "node2"
    assert cloud.client.error(f"POST /containers/{uuids['node1']}/stop")[0] == 409


def test_an_agent_that_returns_keeps_what_runs(cloud: Cloud, client: Client) -> None:
    uuids = [client.running() for _ in range(3)]
    before = [dataclasses.replace(each) for each in cloud.engine.containers.values()]
    cloud.lose_node("node1")
    cloud.start_node("node1")
    cloud.wait_sound()
    assert list(cloud.engine.containers.values()) == before
    assert [client.actions(uuid) for uuid in uuids] == [[("create", None)]] * 3


def test_an_action_that_this_version_does_not_know_holds_up_no_other(cloud: Cloud, client: Client) -> None:
    """As a newer API may have queued it."""
    odd, other = client.running(), client.running()
    cloud.stop_node("node1")
    client.call(f"POST /containers/{other}/stop")
    unknown = ContainerAction(
        action="hibernate",
        container_uuid=odd,
        request_id="req-1",
        project_id="admin",
        created_at=cloud.clock.now(),
        start_time=cloud.clock.now(),
        state=actions.State.QUEUED,
        host="node1",
        arguments={},
    )
    cloud.database.write(lambda session: session.add(unknown))
    cloud.start_node("node1")
    client.wait(other, "Stopped")
    cloud.wait_idle()
    assert client.actions(odd) == [("create", None), ("hibernate", "Error")]
    client.call(f"POST /containers/{odd}/stop")
    client.wait(odd, "Stopped")


def test_what_ended_while_the_agent_was_away_is_noticed(cloud: Cloud, client: Client) -> None:
    ended, removed, kept = (client.running() for _ in range(3))
    cloud.lose_node("node1")
    cloud.engine.exit(f"zun-{ended}", 3)
    with cloud.engine.lock:
        cloud.engine.discard(cloud.engine.container(f"zun-{removed}"))
    cloud.start_node("node1")
    assert client.wait(ended, "Stopped")["status_detail"].startswith("Exited(3)")
    assert "No such container" in client.wait(removed, "Error")["status_reason"]
    assert (client.show(kept) or {})["status"] == "Running"
    until(lambda: not cloud.unfinished())
