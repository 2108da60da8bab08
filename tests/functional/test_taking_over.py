"""A cloud of which a part is the reference implementation's still: its API, or the agent of a node."""

import base64
import dataclasses
import json
import pathlib
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from tests.support.client import IMAGE, Client
from tests.support.cloud import ADMIN, FACTS, Cloud
from tests.support.waiting import until
from tierce.db.tables import Allocation, Container, ContainerAction, Volume

NewCloud = Callable[..., Cloud]

_CREATE = pathlib.Path(__file__).parents[1] / "wire" / "frames" / "container_create.json"
SMALL = dataclasses.replace(FACTS, cpus=4, memory_total=1024, disk_total=10)
EXACT = {"initial_cpu_allocation_ratio": 1, "initial_ram_allocation_ratio": 1, "reserved_host_memory_mb": 0}


def zun_creates(cloud: Cloud, *, to: str = "node1", volumes: Sequence[Volume] = (), **fields: Any) -> str:
    """What a Zun API does for a creation that it has placed: rows without our columns, and its message."""
    frame = json.loads(_CREATE.read_text())
    sent = frame["args"]["container"]["zun_object.data"]
    ident, now = str(uuid.uuid4()), cloud.clock.now()
    values: dict[str, Any] = {
        "uuid": ident,
        "name": sent["name"],
        "project_id": ADMIN,
        "image": IMAGE,
        "image_driver": "docker",
        "cpu": sent["cpu"],
        "memory": sent["memory"],
        "status": sent["status"],
        "host": sent["host"],
        "created_at": now,
        **fields,
    }
    action = ContainerAction(
        action="create", container_uuid=ident, request_id=frame["_context_request_id"], start_time=now
    )
    cloud.database.write(lambda session: session.add(Container(**values)))
    cloud.database.write(lambda session: session.add(action))
    sent |= {"uuid": ident, "image": IMAGE, "host": values["host"], "registry_id": None}
    (mount,) = frame["args"]["requested_volumes"].popitem()[1]
    mounts = [
        mount | {"zun_object.data": mount["zun_object.data"] | {"volume_id": stored(cloud, volume)}}
        for volume in volumes
    ]
    frame["args"] |= {"requested_networks": [], "requested_volumes": {ident: mounts}}
    cloud.send(to, frame)
    return ident


def stored(cloud: Cloud, volume: Volume) -> int:
    def write(session: Session) -> int:
        session.add(volume)
        session.flush()
        return volume.id

    return cloud.database.write(write)


def compare(cloud: Cloud) -> None:
    """Have the node compare all that it has with the database, which ends with claims of nobody."""
    claim = Allocation(consumer_uuid="nobody", host="node1", vcpus=1, memory_mb=1, disk_gb=0)
    cloud.stop_node("node1")
    cloud.database.write(lambda session: session.add(claim))
    cloud.start_node("node1")
    until(lambda: "nobody" not in cloud.claims())


# --- the API is Zun's -----------------------------------------------------------------------------


def test_what_a_zun_api_creates_belongs_to_its_node_and_stays(cloud: Cloud, client: Client) -> None:
    ident = zun_creates(cloud, cpu=1.5, disk=3)
    assert client.wait(ident, "Running")["host"] == "node1"
    claim = cloud.claims()[ident]
    assert (claim.host, claim.vcpus, claim.memory_mb, claim.disk_gb) == ("node1", 2, 512, 3)

    compare(cloud)

    assert client.show(ident)["status"] == "Running"
    assert cloud.has_container(ident)
    client.call(f"POST /containers/{ident}/stop")
    client.wait(ident, "Stopped")


def test_it_has_the_volumes_that_the_message_alone_tells_of(cloud: Cloud, client: Client) -> None:
    contents = base64.b64encode(b"injected").decode()
    volume = Volume(uuid=str(uuid.uuid4()), project_id=ADMIN, volume_provider="local", contents=contents)
    ident = zun_creates(cloud, volumes=[volume])
    client.wait(ident, "Running")
    (bind,) = cloud.engine.containers[f"zun-{ident}"].spec.mounts
    assert bind.target == "/data"
    assert pathlib.Path(bind.source).read_bytes() == b"injected"


def test_one_with_a_volume_that_nodes_cannot_mount_does_not_run_without_it(
    cloud: Cloud, client: Client
) -> None:
    volume = Volume(uuid=str(uuid.uuid4()), project_id=ADMIN, volume_provider="cinder")
    ident = zun_creates(cloud, volumes=[volume])
    assert "is one of cinder" in client.wait(ident, "Error")["status_reason"]
    client.call(f"DELETE /containers/{ident}?force=true")
    client.wait_gone(ident)


def test_what_a_zun_api_creates_where_there_is_no_room_says_so(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL, compute=EXACT)
    client = cloud.client
    first = client.created(cpu=1, memory=600)
    ident = zun_creates(cloud)
    refused = client.wait(ident, "Error")
    reason = "The container's node has 424 of 1024 MiB memory free, 512 asked."
    assert (refused["status_reason"], refused["host"]) == (reason, None)
    (action,) = client.call(f"GET /containers/{ident}/container_actions")["containerActions"]
    told = client.call(f"GET /containers/{ident}/container_actions/{action['request_id']}")
    assert (action["message"], [each["result"] for each in told["events"]]) == ("Error", ["Error"])
    assert (cloud.claims().keys(), cloud.has_container(ident)) == ({first}, False)
    client.call(f"DELETE /containers/{ident}")
    client.wait_gone(ident)


def test_a_creation_that_names_its_node_already_is_done(cloud: Cloud, client: Client) -> None:
    ident = zun_creates(cloud, host="node1")
    client.wait(ident, "Running")
    assert cloud.claims()[ident].host == "node1"


def test_a_creation_of_another_node_s_container_is_left_to_that(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"))
    ident = zun_creates(cloud, to="node1", host="node2")
    cloud.client.running(host="node1")  # its message came later
    cloud.wait_idle()
    assert (cloud.row(ident).status, cloud.has_container(ident)) == ("Creating", False)
    cloud.database.write(lambda session: session.execute(update(Container).values(status="Error")))


# --- the agent is Zun's ---------------------------------------------------------------------------


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
