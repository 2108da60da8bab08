"""A node's agent was the reference implementation's, or is still."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from tests.support.client import IMAGE, Client
from tests.support.cloud import FACTS, Cloud
from tests.support.waiting import until
from tests.support.zun import zun_records
from tierce.db.tables import Container, ContainerAction
from tierce.model.errors import RuntimeFailure

NewCloud = Callable[..., Cloud]

SMALL = dataclasses.replace(FACTS, cpus=4, memory_total=1024, disk_total=10)
EXACT = {"initial_cpu_allocation_ratio": 1, "initial_ram_allocation_ratio": 1, "reserved_host_memory_mb": 0}


def zun_does_all(cloud: Cloud, ident: str) -> None:
    """What a Zun agent writes at the end of what it was told: nothing of our columns."""
    now = cloud.clock.now()
    for statement in (
        update(ContainerAction).where(ContainerAction.finish_time.is_(None)).values(finish_time=now),
        update(Container).where(Container.uuid == ident).values(status="Running", task_state=None),
    ):
        cloud.database.write(lambda session, statement=statement: session.execute(statement))


def test_what_a_zun_agent_has_done_is_not_done_again_and_stands_in_nobody_s_way(
    cloud: Cloud, client: Client
) -> None:
    ident = client.running(cpu=1, memory=128)
    started = cloud.engine.container(f"zun-{ident}").started_at
    cloud.stop_node("node1")
    for action in ("stop", "start", "kill"):
        client.call(f"POST /containers/{ident}/{action}")
        zun_does_all(cloud, ident)
        if action == "stop":
            cloud.database.write(lambda session: session.execute(update(Container).values(status="Stopped")))
    client.call(f"POST /containers/{ident}/resize_container", {"memory": "256"})

    cloud.start_node("node1")

    assert client.wait(ident, "Running")["memory"] == "256"
    cloud.wait_idle()
    assert cloud.engine.container(f"zun-{ident}").started_at == started
    rows = cloud.database.read(
        lambda session: session.execute(
            select(ContainerAction.action, ContainerAction.state, ContainerAction.attempts).order_by(
                ContainerAction.id
            )
        ).all()
    )
    assert [(*row,) for row in rows] == [
        ("create", "finished", 1),
        ("stop", "finished", 0),
        ("start", "finished", 0),
        ("kill", "finished", 0),
        ("resize", "finished", 1),
    ]


def test_what_a_zun_agent_has_made_is_looked_at_by_the_comparison_alone_as_its_labels_are_not_ours(
    cloud: Cloud, client: Client
) -> None:
    ident = client.running()
    made = cloud.engine.container(f"zun-{ident}")
    ours, made.spec = made.spec, dataclasses.replace(made.spec, owner_labels={})
    cloud.engine.exit(f"zun-{ident}", 3)
    cloud.compare("node1")
    assert client.wait(ident, "Stopped")["status_detail"].startswith("Exited(3)")
    made.spec = ours  # or the look at the end does not find it


@pytest.mark.parametrize("made", [True, False])
def test_what_a_zun_agent_was_in_the_middle_of_holds_the_container_no_longer(
    cloud: Cloud, client: Client, made: bool
) -> None:
    if not made:
        cloud.engine.script("create", error=RuntimeFailure("no space left on device"))
    ident = client.create()
    status = client.wait(ident, "Created", "Error")["status"]
    cloud.stop_node("node1")
    starting = update(Container).values(task_state="container_starting")
    cloud.database.write(lambda session: session.execute(starting))
    cloud.start_node("node1")
    assert client.wait(ident, status)
    client.call(f"POST /containers/{ident}/rebuild")
    client.wait(ident, "Created")


def test_a_creation_that_a_zun_agent_was_in_the_middle_of_has_failed_and_leaves_nothing(
    cloud: Cloud, client: Client
) -> None:
    ident = client.created()
    cloud.stop_node("node1")
    made = cloud.engine.container(f"zun-{ident}")
    made.spec = dataclasses.replace(made.spec, owner_labels={})  # so no event tells of its end
    creating = {"status": "Creating", "task_state": "container_creating", "container_id": None}
    cloud.database.write(lambda session: session.execute(update(Container).values(**creating)))
    cloud.start_node("node1")
    assert "interrupted" in client.wait(ident, "Error")["status_reason"]
    assert not cloud.has_container(ident)


@pytest.mark.parametrize("made", [True, False])
def test_a_delete_that_a_zun_agent_had_begun_is_finished_when_its_node_is_taken_over(
    cloud: Cloud, client: Client, made: bool
) -> None:
    ident = client.running()
    cloud.stop_node("node1")
    if not made:
        cloud.engine.containers.pop(f"zun-{ident}")
    zun_records(cloud, ident, "delete", "req-1")
    deleting = {"status": "Deleting", "task_state": "container_deleting"}
    cloud.database.write(lambda session: session.execute(update(Container).values(**deleting)))
    cloud.start_node("node1")
    client.wait_gone(ident)
    assert not cloud.has_container(ident)


@pytest.mark.parametrize(
    ("status", "messages"),
    [("Running", [("delete", False), ("stop", "10")]), ("Stopped", [("delete", False)])],
)
def test_a_zun_agent_is_told_to_stop_what_runs_and_is_to_be_deleted_then(
    cloud: Cloud, client: Client, status: str, messages: list[tuple[str, object]]
) -> None:
    ident = client.running()
    if status == "Stopped":
        client.call(f"POST /containers/{ident}/stop")
        client.wait(ident, status)
    cloud.stop_node("node1")
    told: list[tuple[str, object]] = []

    class ZunAgent:
        def container_stop(self, _context: object, container: Any, timeout: object) -> None:
            told.append(("stop", timeout))

        def container_delete(self, _context: object, container: Any, force: object) -> None:
            told.append(("delete", force))

    agent = cloud.serve("node1", ZunAgent())
    client.call(f"DELETE /containers/{ident}?stop=true")
    until(lambda: len(told) >= len(messages))
    agent.stop()
    assert sorted(told) == messages

    cloud.start_node("node1")
    client.wait_gone(ident)


def test_a_node_is_not_oversold_beside_what_zun_placed_there(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL, compute=EXACT)
    cloud.stop_node("node1")
    fields = {"uuid": "of-zun", "status": "Running", "container_id": "f00d", "memory": "1000", "cpu": 1}
    cloud.database.write(lambda session: session.add(Container(host="node1", **fields)))
    body = {"image": IMAGE, "host": "node1", "memory": 100, "cpu": 1}
    told = cloud.client.call("POST /containers", body)["status_reason"]
    assert "node1 has 24 of 1024 MiB memory free, 100 asked" in told

    cloud.database.write(lambda session: session.execute(delete(Container).where(Container.uuid == "of-zun")))

    created = cloud.client.call("POST /containers", body)
    assert (created["status"], created["host"]) == ("Creating", "node1")
    cloud.start_node("node1")
    cloud.client.wait(created["uuid"], "Created")
