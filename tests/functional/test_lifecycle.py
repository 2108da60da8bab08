"""Which action each state allows, row by row through the API."""

from typing import Any

import pytest
from sqlalchemy import update

from tests.support.client import Client
from tests.support.cloud import Cloud
from tierce.db.tables import Container
from tierce.model.lifecycle import ACCEPTANCE, Status

REQUESTS = {
    "start": "POST /containers/{}/start",
    "stop": "POST /containers/{}/stop",
    "pause": "POST /containers/{}/pause",
    "unpause": "POST /containers/{}/unpause",
    "kill": "POST /containers/{}/kill",
    "reboot": "POST /containers/{}/reboot",
    "execute": "POST /containers/{}/execute?command=true",
    "top": "GET /containers/{}/top",
    "stats": "GET /containers/{}/stats",
    "logs": "GET /containers/{}/logs",
    "delete": "DELETE /containers/{}",
    "delete_force": "DELETE /containers/{}?force=true",
    "delete_after_stop": "DELETE /containers/{}?stop=true",
}

TABLE = """
start: Created Stopped Error
stop, pause, kill, execute, top, stats: Running
unpause: Paused
reboot: Created Running Stopped Error
logs: Created Running Stopped Paused Error Unknown
delete: Created Stopped Error Dead Deleted
delete_force: any
delete_after_stop: Created Running Stopped Error Dead Deleted
"""
"""The documented table. A paused container can be deleted by force: the engine thaws it."""

ALLOWED = {
    action: list(Status) if states == "any" else states.split()
    for actions, states in (line.split(": ") for line in TABLE.strip().splitlines())
    for action in actions.split(", ")
}
SYNCHRONOUS = ("execute", "top", "stats", "logs")


def force_status(cloud: Cloud, uuid: str, status: str) -> None:
    cloud.database.write(
        lambda session: session.execute(update(Container).where(Container.uuid == uuid).values(status=status))
    )


def shown(client: Client, uuid: str) -> dict[str, Any]:
    """All but for how long the container has been in its state."""
    return {field: value for field, value in (client.show(uuid) or {}).items() if field != "status_detail"}


def test_the_table_names_every_action() -> None:
    assert ALLOWED.keys() == REQUESTS.keys()


@pytest.mark.parametrize("action", REQUESTS)
def test_an_action_that_the_state_forbids_is_refused_and_changes_nothing(
    cloud: Cloud, client: Client, action: str
) -> None:
    uuid = client.running()
    cloud.stop_node("node1")  # so that nothing corrects the status meanwhile
    for status in set(Status) - set(ALLOWED[action]):
        force_status(cloud, uuid, status)
        before = shown(client, uuid)

        assert client.error(REQUESTS[action].format(uuid)) == (
            409,
            "container.invalid-state-exception",
            f"Cannot {action} container {uuid} in {status} state",
        )

        assert shown(client, uuid) == before
    assert client.actions(uuid) == [("create", None)]
    force_status(cloud, uuid, "Running")


@pytest.mark.parametrize("action", [action for action in REQUESTS if action not in SYNCHRONOUS])
def test_an_action_that_the_state_allows_is_queued_and_seen_at_once(
    cloud: Cloud, client: Client, action: str
) -> None:
    containers = {status: client.running() for status in ALLOWED[action]}
    cloud.stop_node("node1")
    accepted = ACCEPTANCE[action]
    for status, uuid in containers.items():
        force_status(cloud, uuid, status)

        answer = client.request(REQUESTS[action].format(uuid))

        assert (answer.status_code, answer.content) == ((204, b"") if "delete" in action else (202, b"null"))
        shown = client.show(uuid)
        assert shown is not None
        assert (shown["status"], shown["task_state"]) == (accepted.status or status, accepted.task_state)
        assert [name for name, _ in client.actions(uuid)] == ["create", action.partition("_")[0]]
    cloud.start_node("node1")
    cloud.wait_idle()
    for uuid in containers.values():
        assert (client.show(uuid) is None) == action.startswith("delete")


@pytest.mark.parametrize("action", SYNCHRONOUS)
def test_a_look_inside_is_answered_in_the_states_that_allow_it(
    cloud: Cloud, client: Client, action: str
) -> None:
    uuid = client.running()
    for status in ALLOWED[action]:
        force_status(cloud, uuid, status)
        client.call(REQUESTS[action].format(uuid))
    cloud.restart()


def test_a_status_that_is_not_true_is_corrected_when_the_agent_starts(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    for status in Status:
        cloud.stop_node("node1")
        force_status(cloud, uuid, status)
        cloud.start_node("node1")
        client.wait(uuid, "Running")
