"""Requests for one container at the same time: one is accepted, the others are told why not."""

import threading
from collections import Counter
from collections.abc import Callable

import pytest
from oslo_db import exception as db_exception
from sqlalchemy import event

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.threads import Gate, at_once
from tests.support.waiting import until

NewCloud = Callable[..., Cloud]


@pytest.mark.parametrize("action", ["stop", "pause", "reboot"])
def test_of_two_at_once_one_is_accepted(cloud: Cloud, client: Client, action: str) -> None:
    for _ in range(5):
        uuid = client.running()
        release = cloud.hold(action.replace("reboot", "restart"))

        line = f"POST /containers/{uuid}/{action}"
        answers = at_once([lambda line=line: client.request(line).status_code] * 2)

        release.set()
        assert Counter(answers) == {202: 1, 409: 1}
        cloud.wait_idle()
        assert client.actions(uuid) == [("create", None), (action, None)]


def test_of_many_different_at_once_one_is_accepted(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.stop_node("node1")
    lines = [f"POST /containers/{uuid}/{action}" for action in ("stop", "pause", "reboot")] * 4
    answers = at_once([lambda line=line: client.request(line).status_code for line in lines])
    assert Counter(answers) == {202: 1, 409: 11}
    assert len(client.actions(uuid)) == 2
    cloud.start_node("node1")


def test_the_refused_one_hears_which_action_is_in_the_way(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.stop_node("node1")
    client.call(f"POST /containers/{uuid}/stop")
    assert client.error(f"POST /containers/{uuid}/pause") == (
        409,
        "container.invalid-state-exception",
        f"Cannot pause container {uuid} in Running state while container_stopping is in progress",
    )
    cloud.start_node("node1")


def test_a_kill_is_accepted_while_another_action_holds_the_container(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("stop")
    client.call(f"POST /containers/{uuid}/stop")
    client.call(f"POST /containers/{uuid}/kill")
    assert (client.show(uuid) or {})["task_state"] == "container_killing"
    release.set()
    cloud.wait_idle()
    assert client.actions(uuid) == [("create", None), ("stop", None), ("kill", None)]
    assert client.wait(uuid, "Stopped")["status_reason"] is None


def test_a_container_is_held_until_the_last_of_its_actions_has_ended(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.stop_node("node1")
    for action in ("stop", "kill?signal=HUP"):
        client.call(f"POST /containers/{uuid}/{action}")
    release = cloud.hold("kill")
    cloud.start_node("node1")

    until(
        lambda: client.actions(uuid)[1] == ("stop", None) and (client.show(uuid) or {})["status"] == "Stopped"
    )
    status, _, text = client.error(f"POST /containers/{uuid}/start")
    assert (status, text.endswith("while container_killing is in progress")) == (409, True)

    release.set()
    client.wait(uuid, "Stopped")


def meet_deadlocks_while(cloud: Cloud, *requests: threading.Thread) -> None:
    """Have the end of an action be written only after these were made, one after the other, in between."""

    def deadlock(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("UPDATE container_actions SET finish_time"):
            return
        for request in requests:
            if request.ident is None:
                request.start()
            if request.is_alive():
                raise db_exception.DBDeadlock

    event.listen(cloud.database.engine, "before_cursor_execute", deadlock)


def test_what_is_accepted_between_two_attempts_of_a_write_holds_the_container(
    cloud: Cloud, client: Client
) -> None:
    """The end of a stop meets deadlocks until a kill is accepted, and is written then."""
    uuid = client.running()
    release = cloud.hold("kill")
    kill = threading.Thread(target=client.call, args=[f"POST /containers/{uuid}/kill?signal=HUP"])
    meet_deadlocks_while(cloud, kill)
    client.call(f"POST /containers/{uuid}/stop")
    until(lambda: client.actions(uuid)[1:] == [("stop", None), ("kill", None)])
    kill.join()
    until(lambda: (client.show(uuid) or {})["status"] == "Stopped")
    status, _, text = client.error(f"POST /containers/{uuid}/start")
    assert (status, text.endswith("while container_killing is in progress")) == (409, True)

    release.set()
    client.wait(uuid, "Stopped")


def test_what_another_attempt_of_a_write_saw_is_forgotten(cloud: Cloud, client: Client) -> None:
    """The end of a stop meets a new name, and nobody who waits; then, after a deadlock, a kill that does."""
    uuid = client.running()
    release = cloud.hold("kill")
    requests = [
        threading.Thread(target=client.call, args=arguments)
        for arguments in (
            (f"PATCH /containers/{uuid}", {"name": "other"}),
            (f"POST /containers/{uuid}/kill?signal=HUP",),
        )
    ]

    meet_deadlocks_while(cloud, *requests)
    client.call(f"POST /containers/{uuid}/stop")
    until(lambda: client.actions(uuid)[1:] == [("stop", None), ("kill", None)])
    for request in requests:
        request.join()
    until(lambda: (client.show(uuid) or {})["status"] == "Stopped")
    assert (client.show(uuid) or {})["task_state"] == "container_killing"

    release.set()
    client.wait(uuid, "Stopped")


def test_a_delete_while_creating_comes_next_and_leaves_nothing(cloud: Cloud, client: Client) -> None:
    release = cloud.hold("create")
    uuid = client.create(run=True)
    until(lambda: cloud.unfinished() == [(uuid, "create", "running")])

    assert client.error(f"DELETE /containers/{uuid}")[0] == 409
    client.call(f"DELETE /containers/{uuid}?force=true")
    assert (client.show(uuid) or {})["status"] == "Deleting"

    release.set()
    client.wait_gone(uuid)
    cloud.wait_idle()
    assert (cloud.engine.containers, cloud.claims(), cloud.rows()) == ({}, {}, [])


def test_a_delete_by_force_does_not_wait_for_an_image(cloud: Cloud, client: Client) -> None:
    """A registry may send a byte now and then, for ever. The pull goes on for whoever else waits for it."""
    pull = Gate()
    cloud.engine.script("images.pull", until=pull)
    uuid, other = client.create(image="slow:1"), client.create(image="slow:1")
    assert pull.reached.wait(30)
    client.call(f"DELETE /containers/{uuid}?force=true")
    client.wait_gone(uuid)
    pull.set()
    client.wait(other, "Created")


def test_a_delete_by_force_comes_before_a_pull_that_is_about_to_begin(cloud: Cloud, client: Client) -> None:
    look = Gate()
    cloud.engine.script("images.find", until=look)
    cloud.hold("images.pull")
    uuid = client.create(image="slow:1")
    assert look.reached.wait(30)
    client.call(f"DELETE /containers/{uuid}?force=true")
    look.set()
    client.wait_gone(uuid)


def test_a_delete_by_force_does_not_wait_for_the_image_of_a_rebuild(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.hold("images.pull")
    client.call(f"POST /containers/{uuid}/rebuild?image=slow:1")
    until(lambda: cloud.unfinished() == [(uuid, "rebuild", "running")])
    client.call(f"DELETE /containers/{uuid}?force=true")
    client.wait_gone(uuid)
    cloud.wait_idle()
    assert (cloud.engine.containers, cloud.claims()) == ({}, {})


def test_a_create_that_is_to_be_deleted_is_not_even_begun(cloud: Cloud, client: Client) -> None:
    cloud.stop_node("node1")
    uuid = client.create(run=True)
    client.call(f"DELETE /containers/{uuid}?force=true")
    cloud.engine.script("create", error=AssertionError("it was created"))
    cloud.start_node("node1")
    client.wait_gone(uuid)


def test_a_second_delete_is_refused_and_a_forced_one_is_not(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    cloud.stop_node("node1")
    client.call(f"DELETE /containers/{uuid}")
    assert client.error(f"DELETE /containers/{uuid}") == (
        409,
        "container.invalid-state-exception",
        f"Cannot delete container {uuid} in Deleting state",
    )
    client.call(f"DELETE /containers/{uuid}?force=true")
    cloud.start_node("node1")
    client.wait_gone(uuid)


def test_of_many_deletes_at_once_one_is_accepted(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    answers = at_once([lambda: client.request(f"DELETE /containers/{uuid}").status_code] * 8)
    assert Counter(answers)[204] == 1
    assert set(answers) <= {204, 404, 409}
    client.wait_gone(uuid)


def test_a_delete_that_stops_first_is_one_action(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.stop_node("node1")
    client.call(f"DELETE /containers/{uuid}?stop=true")
    assert client.actions(uuid) == [("create", None), ("delete", None)]
    cloud.start_node("node1")
    client.wait_gone(uuid)


def test_actions_of_one_container_run_in_the_order_they_were_accepted(
    new_cloud: NewCloud,
) -> None:
    seen: list[str] = []
    cloud = new_cloud(
        observer=lambda action, step, moment: seen.append(action) if moment == "before" else None
    )
    uuid = cloud.client.running()
    cloud.stop_node("node1")
    seen.clear()
    for action in ("stop", "kill", "kill"):
        cloud.client.call(f"POST /containers/{uuid}/{action}")
    cloud.client.call(f"DELETE /containers/{uuid}?stop=true")
    # What is about to be deleted need not be stopped or killed first.
    cloud.start_node("node1")
    cloud.client.wait_gone(uuid)
    assert set(seen) == {"delete"}
