"""What the engine does by itself: the database follows it, by events and without them."""

import dataclasses
from collections.abc import Callable

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.threads import Gate
from tests.support.waiting import until
from tierce.model.container import RuntimeSpec, RuntimeState
from tierce.model.errors import ImagePullFailed

NewCloud = Callable[..., Cloud]


def name(uuid: str) -> str:
    return f"zun-{uuid}"


def vanish(cloud: Cloud, uuid: str) -> None:
    """Somebody removes the container, past us."""
    with cloud.engine.lock:
        cloud.engine.discard(cloud.engine.container(name(uuid)))


# --- by events ------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 3, 137])
def test_a_container_that_ends_is_stopped_with_its_exit_code(cloud: Cloud, client: Client, code: int) -> None:
    uuid = client.running()
    cloud.engine.exit(name(uuid), code)
    stopped = client.wait(uuid, "Stopped")
    assert stopped["status_detail"].startswith(f"Exited({code}) ")
    assert stopped["status_reason"] is None
    row = cloud.row(uuid)
    assert (row.exit_code, row.finished_at is not None) == (code, True)
    assert client.actions(uuid) == [("create", None)]


def test_one_that_was_out_of_memory_says_so(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.exit(name(uuid), 137, oom=True)
    assert "used more memory than its limit" in client.wait(uuid, "Stopped")["status_reason"]


def test_one_whose_command_ends_at_once_has_run(client: Client) -> None:
    uuid = client.create(run=True, command=["sh", "-c", "echo hello; exit 4"])
    assert client.wait(uuid, "Stopped")["status_detail"].startswith("Exited(4)")
    assert client.call(f"GET /containers/{uuid}/logs") == "hello\n"


def test_one_that_its_policy_starts_again_runs(cloud: Cloud, client: Client) -> None:
    uuid = client.running(restart_policy={"Name": "always"})
    cloud.engine.exit(name(uuid), 1)
    assert cloud.engine.container(name(uuid)).restarts == 1
    cloud.wait_sound()
    assert (client.show(uuid) or {})["status"] == "Running"


def test_why_one_ended_is_over_when_its_policy_has_started_it_again(cloud: Cloud, client: Client) -> None:
    uuid = client.running(restart_policy={"Name": "always"})
    container = cloud.engine.container(name(uuid))
    container.spec = dataclasses.replace(container.spec, command=["false"])
    cloud.engine.exit(name(uuid), 137, oom=True)
    assert "used more memory than its limit" in client.wait(uuid, "Restarting")["status_reason"]
    cloud.wait_idle()
    with cloud.engine.lock:
        container.spec = dataclasses.replace(container.spec, command=["sleep", "3600"])
        cloud.engine.run(container)
    assert client.wait(uuid, "Running")["status_reason"] is None


def test_one_that_never_stays_up_is_restarting_and_can_be_deleted(cloud: Cloud, client: Client) -> None:
    uuid = client.create(run=True, command=["false"], restart_policy={"Name": "always"})
    client.wait(uuid, "Restarting")
    client.call(f"DELETE /containers/{uuid}?force=true")
    client.wait_gone(uuid)


def test_one_that_somebody_removed_is_in_error(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    vanish(cloud, uuid)
    reason = client.wait(uuid, "Error")["status_reason"]
    assert reason.startswith("No such container: ")
    assert reason.endswith(" in the fake engine")
    client.call(f"DELETE /containers/{uuid}")
    client.wait_gone(uuid)


def test_one_that_somebody_paused_is_paused(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    with cloud.engine.lock:
        cloud.engine.pause(cloud.engine.container(name(uuid)), True)
    client.wait(uuid, "Paused")
    client.call(f"POST /containers/{uuid}/unpause")
    client.wait(uuid, "Running")


def test_one_that_somebody_started_runs(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    with cloud.engine.lock:
        cloud.engine.run(cloud.engine.container(name(uuid)))
    assert client.wait(uuid, "Running")["addresses"]


@pytest.mark.parametrize("command", [["true"], ["sleep", "3600"]])
def test_auto_remove_leaves_nothing(cloud: Cloud, client: Client, command: list[str]) -> None:
    volume = {"type": "volume", "size": 1, "destination": "/data"}
    uuid = client.create(run=True, auto_remove=True, command=command, mounts=[volume])
    if command[0] == "sleep":
        client.wait(uuid, "Running")
        cloud.engine.exit(name(uuid), 0)
    client.wait_gone(uuid)
    cloud.wait_idle()
    assert (cloud.engine.containers, set(cloud.engine.networks), cloud.claims()) == ({}, {"bridge"}, {})
    assert not list((cloud.database_file.parent / "mnt").glob("*-*"))


def test_one_that_failed_to_be_made_is_shown_although_it_was_to_remove_itself(
    cloud: Cloud, client: Client
) -> None:
    cloud.engine.script("images.pull", error=ImagePullFailed("toomanyrequests: slow down"))
    uuid = client.create(run=True, image="nginx", auto_remove=True)
    client.wait(uuid, "Error")
    cloud.restart()
    cloud.wait_sound()
    assert client.wait(uuid, "Error")["status_reason"] == "toomanyrequests: slow down"


def test_a_stop_of_one_with_auto_remove_leaves_nothing(cloud: Cloud, client: Client) -> None:
    uuid = client.running(auto_remove=True)
    client.call(f"POST /containers/{uuid}/stop")
    client.wait_gone(uuid)
    assert cloud.claims() == {}


def test_a_rebuild_of_one_that_has_just_removed_itself_is_not_undone(cloud: Cloud, client: Client) -> None:
    uuid, gate = client.running(auto_remove=True), Gate()
    cloud.wait_idle()
    cloud.engine.script("inspect", until=gate)
    cloud.engine.exit(name(uuid), 0)
    assert gate.reached.wait(20)
    client.call(f"POST /containers/{uuid}/rebuild")  # it was seen running last
    gate.set()
    cloud.wait_idle()
    assert client.wait(uuid, "Running")
    assert cloud.has_container(uuid)


# --- without events ---------------------------------------------------------------------------------


def test_what_happened_while_no_event_came_is_made_up_for(cloud: Cloud, client: Client) -> None:
    ended, removed, paused, kept = (client.running() for _ in range(4))
    cloud.engine.go_down()
    with cloud.engine.lock:
        cloud.engine.end(cloud.engine.container(name(ended)), 5)
        cloud.engine.discard(cloud.engine.container(name(removed)))
        cloud.engine.pause(cloud.engine.container(name(paused)), True)
    cloud.engine.come_back()
    assert client.wait(ended, "Stopped")["status_detail"].startswith("Exited(5)")
    client.wait(removed, "Error")
    client.wait(paused, "Paused")
    assert (client.show(kept) or {})["status"] == "Running"


def test_an_engine_that_is_away_does_not_make_containers_fail(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.go_down()
    until(lambda: client.request(f"GET /containers/{uuid}/logs").status_code == 503)
    assert (client.show(uuid) or {})["status"] == "Running"
    cloud.restart()
    assert (client.show(uuid) or {})["status"] == "Running"
    cloud.engine.come_back()


@pytest.mark.parametrize("agent_too", [False, True])
def test_what_runs_through_an_outage_of_the_engine_is_neither_touched_nor_made_again(
    cloud: Cloud, client: Client, agent_too: bool
) -> None:
    """An engine whose containers outlive it; and the agent restarted while it was away."""
    uuids = [client.running() for _ in range(3)]
    with cloud.engine.lock:
        before = [dataclasses.replace(each) for each in cloud.engine.containers.values()]
    cloud.engine.go_down()
    if agent_too:
        cloud.restart()
    until(lambda: client.request(f"GET /containers/{uuids[0]}/logs").status_code == 503)
    assert [(client.show(uuid) or {})["status"] for uuid in uuids] == ["Running"] * 3
    cloud.engine.come_back()
    until(lambda: client.request(f"GET /containers/{uuids[0]}/logs").status_code == 200)
    cloud.wait_sound()
    assert list(cloud.engine.containers.values()) == before
    assert [client.actions(uuid) for uuid in uuids] == [[("create", None)]] * 3


def test_the_regular_comparison_finds_what_events_missed(new_cloud: NewCloud) -> None:
    cloud = new_cloud(DEFAULT={"sync_container_state_interval": 1})
    uuid = cloud.client.running()
    cloud.wait_idle()
    with cloud.engine.lock:
        container = cloud.engine.container(name(uuid))
        container.state, container.exit_code = RuntimeState.EXITED, 9
    assert cloud.client.wait(uuid, "Stopped")["status_detail"] == "Exited(9)"


def test_what_is_ours_and_stands_for_nothing_is_removed_and_what_is_not_is_left_alone(
    cloud: Cloud, client: Client
) -> None:
    kept = client.running()
    (own,) = cloud.engine.containers.values()
    labels = own.spec.owner_labels
    stranger = "0" * 8 + "-0000-4000-8000-" + "0" * 12
    for leftover, owner in (
        (name(stranger), labels),
        (f"{name(stranger)}1", {"tierce.node": "another node's"}),
        (f"{name(stranger)}2", {}),
        ("web", {}),
        ("sidecar", labels),
    ):
        with cloud.engine.lock:
            cloud.engine.add_container(RuntimeSpec(leftover, own.spec.image, owner_labels=owner))
    foreign = cloud.engine.containers.keys() - {name(stranger)}
    cloud.engine.add_network("tierce-000000000000-old", labels)
    cloud.engine.add_network("theirs", {})

    cloud.restart()

    until(lambda: name(stranger) not in cloud.engine.containers)
    until(lambda: "tierce-000000000000-old" not in cloud.engine.networks)
    assert cloud.engine.containers.keys() == foreign
    assert "theirs" in cloud.engine.networks
    assert (client.show(kept) or {})["status"] == "Running"
    with cloud.engine.lock:
        for each in foreign - {name(kept)}:
            del cloud.engine.containers[each]
