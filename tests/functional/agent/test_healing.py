"""Containers that the engine loses, and that are to be healed."""

from collections.abc import Callable

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.waiting import until
from tierce.model.errors import RuntimeFailure

NewCloud = Callable[..., Cloud]


def lose(cloud: Cloud, uuid: str) -> None:
    """Somebody removes the container, past us."""
    with cloud.engine.lock:
        cloud.engine.discard(cloud.engine.container(f"zun-{uuid}"))


def in_state(client: Client, state: str) -> str:
    if state == "Created":
        return client.created(auto_heal=True)
    uuid = client.running(auto_heal=True)
    if state == "Stopped":
        client.call(f"POST /containers/{uuid}/stop")
        client.wait(uuid, state)
    return uuid


@pytest.mark.parametrize(("state", "after"), [("Running", "Running"), ("Created", "Created")])
def test_one_that_is_lost_is_made_anew_and_runs_if_it_did(
    cloud: Cloud, client: Client, state: str, after: str
) -> None:
    uuid = in_state(client, state)
    lost = cloud.row(uuid).container_id
    lose(cloud, uuid)
    until(lambda: cloud.has_container(uuid))
    client.wait(uuid, after)
    assert cloud.row(uuid).container_id != lost
    assert client.actions(uuid)[1:] == [("rebuild", None)]


@pytest.mark.parametrize("action", ["start", "reboot"])
def test_who_starts_one_that_is_lost_gets_one_that_runs(cloud: Cloud, client: Client, action: str) -> None:
    uuid = client.running(auto_heal=True) if action == "reboot" else client.created(auto_heal=True)
    cloud.wait_idle()
    with cloud.engine.lock:  # no event tells of it
        del cloud.engine.containers[f"zun-{uuid}"]
    client.call(f"POST /containers/{uuid}/{action}")
    client.wait(uuid, "Running")
    assert client.actions(uuid) == [("create", None), (action, "Error"), ("rebuild", None)]


def test_one_that_was_stopped_is_not_started(cloud: Cloud, client: Client) -> None:
    uuid = in_state(client, "Stopped")
    lose(cloud, uuid)
    until(lambda: cloud.has_container(uuid))
    client.wait(uuid, "Created")


@pytest.mark.parametrize(
    ("code", "action", "earlier", "after"),
    [
        (137, None, 0, "Running"),
        (0, None, 0, "Created"),
        (137, "kill", 0, "Created"),
        (137, None, 10, "Created"),
    ],
)
def test_one_that_a_removal_killed_first_ran_and_one_that_ended_otherwise_did_not(
    cloud: Cloud, client: Client, code: int, action: str | None, earlier: int, after: str
) -> None:
    uuid = client.running(auto_heal=True)
    if action:
        client.call(f"POST /containers/{uuid}/{action}")
    else:
        cloud.engine.exit(f"zun-{uuid}", code)
    client.wait(uuid, "Stopped")
    cloud.clock.advance(earlier)
    lose(cloud, uuid)
    until(lambda: cloud.has_container(uuid))
    cloud.wait_idle()
    assert (client.show(uuid) or {})["status"] == after


def test_one_that_was_lost_while_nobody_looked_is_healed_at_the_next_look(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running(auto_heal=True)
    cloud.stop()
    lose(cloud, uuid)
    cloud.start()
    until(lambda: cloud.has_container(uuid))
    client.wait(uuid, "Running")


def test_healing_is_asked_for_by_a_change_too(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    client.call(f"PATCH /containers/{uuid}", {"auto_heal": True})
    lose(cloud, uuid)
    until(lambda: cloud.has_container(uuid))
    client.wait(uuid, "Running")


def test_what_heals_belongs_to_the_container_s_project(cloud: Cloud) -> None:
    alice = cloud.user("alice", project="p1")
    uuid = alice.running(auto_heal=True)
    lose(cloud, uuid)
    until(lambda: cloud.has_container(uuid))
    (healed, _) = alice.call(f"GET /containers/{uuid}/container_actions")["containerActions"]
    assert (healed["project_id"], healed["user_id"]) == ("p1", None)


def test_one_that_was_never_made_is_left_alone(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.create(image="nosuch/image:1", auto_heal=True)
    cloud.client.wait(uuid, "Error")
    cloud.restart()
    cloud.wait_sound()
    assert cloud.client.actions(uuid) == [("create", "Error")]


def test_one_that_is_deleted_is_not_healed(cloud: Cloud, client: Client) -> None:
    uuid = client.running(auto_heal=True)
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)
    assert cloud.engine.containers == {}


def test_a_failed_healing_is_tried_again_after_ever_longer_pauses(new_cloud: NewCloud) -> None:
    cloud = new_cloud(DEFAULT={"sync_container_state_interval": 1})
    client = cloud.client
    uuid = client.running(auto_heal=True)
    cloud.engine.script("create", error=RuntimeFailure("no space left"), times=3)

    def heal_again(failures: int, pause: float) -> None:
        """Nothing happens for almost that many seconds, and then it does."""
        until(lambda: client.actions(uuid)[1:] == [("rebuild", "Error")] * failures)
        cloud.restart()
        cloud.clock.advance(pause - 10)
        cloud.restart()
        cloud.wait_idle()
        assert len(client.actions(uuid)) == 1 + failures
        cloud.clock.advance(10)

    lose(cloud, uuid)
    assert client.wait(uuid, "Error")["status_reason"] == "no space left"
    heal_again(1, 60)
    heal_again(2, 120)
    heal_again(3, 240)
    client.wait(uuid, "Running")
    assert client.actions(uuid)[1:] == [("rebuild", "Error")] * 3 + [("rebuild", None)]
