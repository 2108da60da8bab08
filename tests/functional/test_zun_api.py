"""The API is the reference implementation's still: what it asks of a node of Tierce."""

import base64
import dataclasses
import logging
import pathlib
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from tests.support.client import Client
from tests.support.cloud import ADMIN, FACTS, Cloud
from tests.support.threads import Gate
from tests.support.waiting import until
from tests.support.zun import captured, zun_asks, zun_creates, zun_records, zun_sends
from tierce.db.tables import Container, Image, Volume
from tierce.model.context import service_context
from tierce.model.errors import RuntimeFailure
from tierce.model.lifecycle import ContainerType

NewCloud = Callable[..., Cloud]

SMALL = dataclasses.replace(FACTS, cpus=4, memory_total=1024, disk_total=10)
EXACT = {"initial_cpu_allocation_ratio": 1, "initial_ram_allocation_ratio": 1, "reserved_host_memory_mb": 0}


def ended(client: Client, ident: str, request: str) -> tuple[str | None, list[str]]:
    """The message of an action that has ended, and the results of its events."""
    path = f"GET /containers/{ident}/container_actions/{request}"
    until(lambda: client.call(path)["finish_time"] is not None)
    told = client.call(path)
    return told["message"], [each["result"] for each in told["events"]]


def test_what_a_zun_api_creates_belongs_to_its_node_and_stays(cloud: Cloud, client: Client) -> None:
    ident = zun_creates(cloud, cpu=1.5, disk=3)
    assert client.wait(ident, "Running")["host"] == "node1"
    claim = cloud.claims()[ident]
    assert (claim.host, claim.vcpus, claim.memory_mb, claim.disk_gb) == ("node1", 2, 512, 3)

    cloud.compare("node1")

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


def test_a_capsule_does_not_run_as_if_it_were_a_container(cloud: Cloud) -> None:
    ident = zun_creates(cloud, container_type=ContainerType.CAPSULE)
    until(lambda: cloud.row(ident).status == "Error")
    row = cloud.row(ident)
    assert (row.status_reason, row.host) == ("Its node runs containers, and no capsules.", None)
    assert (cloud.claims(), cloud.has_container(ident)) == ({}, False)


@pytest.mark.parametrize(
    ("networks", "reason"),
    [
        (None, "The requested networks are no list."),
        ({"network": "n"}, "The requested networks are no list."),
        (["n"], "A requested network is no object."),
        ([{"port": "p"}], "A requested network does not say which one it is."),
        ([{"network": ""}], "A requested network does not say which one it is."),
        ([{"network": 7}], "The network of a requested network is no text."),
        ([{"network": "\ud800"}], "The network of a requested network is no text."),
        ([{"network": "n", "fixed_ip": ["10.0.0.1"]}], "The fixed_ip of a requested network is no text."),
    ],
)
def test_a_creation_with_networks_that_are_none_fails_with_the_reason_and_disturbs_no_other(
    cloud: Cloud, client: Client, networks: object, reason: str
) -> None:
    ident = zun_creates(cloud, networks=networks)
    assert client.wait(ident, "Error")["status_reason"] == reason
    assert ident not in cloud.claims()
    other = client.running()
    client.call(f"DELETE /containers/{other}?stop=true")
    client.wait_gone(other)


def becomes(cloud: Cloud, ident: str, **values: object) -> None:
    """Have the container's row say so."""
    row = update(Container).where(Container.uuid == ident).values(**values)
    cloud.database.write(lambda session: session.execute(row))


def test_a_capsule_that_a_zun_agent_made_does_not_lose_its_members_in_a_delete(
    cloud: Cloud, client: Client
) -> None:
    sandbox, member = client.running(), client.running()
    cloud.wait_idle()
    becomes(cloud, sandbox, container_type=ContainerType.CAPSULE)
    of_it = {"container_type": ContainerType.CAPSULE_CONTAINER, "capsule_id": cloud.row(sandbox).id}
    becomes(cloud, member, **of_it)
    zun_asks(cloud, sandbox, "delete", force=False)
    until(lambda: cloud.row(sandbox).status == "Error")
    assert cloud.row(sandbox).status_reason == "Its node runs containers, and no capsules."
    assert [cloud.has_container(ident) for ident in (sandbox, member)] == [True, True]
    for ident in (sandbox, member):  # as the look at the end knows them
        becomes(cloud, ident, container_type=ContainerType.CONTAINER, capsule_id=None)


def test_an_image_of_glance_is_not_taken_from_a_registry_that_has_one_of_its_name(
    cloud: Cloud, client: Client
) -> None:
    ident = zun_creates(cloud, image_driver="glance")
    reason = "The container's node cannot have images of glance. Use docker."
    assert client.wait(ident, "Error", "Running")["status_reason"] == reason


def test_a_container_that_asks_for_a_device_is_not_made_without_it_nor_made_anew_so(
    cloud: Cloud, client: Client
) -> None:
    ident = zun_creates(cloud, devices=captured("pci_requests"))
    reason = "The container's node hands out no devices, and a network asks for one."
    assert client.wait(ident, "Error", "Running")["status_reason"] == reason

    client.call(f"POST /containers/{ident}/rebuild")
    cloud.wait_sound()
    assert client.actions(ident) == [("create", "Error"), ("rebuild", "Error")]
    assert client.wait(ident, "Error", "Created")["status_reason"] == reason
    assert not cloud.has_container(ident)


def test_a_network_to_join_that_is_none_leaves_the_container_as_it_was(cloud: Cloud, client: Client) -> None:
    ident = client.running()
    addresses = client.call(f"GET /containers/{ident}")["addresses"]
    wrong = {"net": "misnamed"}
    request = zun_asks(cloud, ident, "network_attach", "network_attach", requested_network=wrong)
    assert ended(client, ident, request) == ("Error", ["Error"])
    shown = client.call(f"GET /containers/{ident}")
    assert (shown["status"], shown["addresses"]) == ("Running", addresses)
    assert shown["status_reason"] == "A requested network does not say which one it is."


@pytest.mark.parametrize("action", ["stop", "reboot"])
def test_a_time_of_grace_that_is_none_ends_the_action_with_the_reason(
    cloud: Cloud, client: Client, action: str
) -> None:
    """A Zun API checks those of queries, and not those of bodies."""
    ident = client.running()
    request = zun_asks(cloud, ident, action, timeout="soon")
    assert ended(client, ident, request) == ("Error", ["Error"])
    shown = client.call(f"GET /containers/{ident}")
    assert (shown["status"], shown["task_state"]) == ("Running", None)
    assert shown["status_reason"] == "The timeout is no number of seconds."


def test_a_commit_to_glance_ends_with_the_reason_and_stands_in_nobody_s_way(
    cloud: Cloud, client: Client
) -> None:
    ident, other = client.running(), client.running()
    release = cloud.hold("stop")
    client.call(f"POST /containers/{ident}/stop")  # so that the commit waits
    request = zun_asks(cloud, ident, "commit", repository="web", tag="1")
    until(lambda: len(cloud.unfinished()) == 2)
    client.call(f"POST /containers/{other}/commit?repository=web&tag=1")
    release.set()
    assert ended(client, ident, request) == ("Error", ["Error"])
    shown = client.call(f"GET /containers/{ident}")
    assert (shown["status"], "not in Glance" in shown["status_reason"]) == ("Stopped", True)


def test_what_a_zun_api_has_made_anew_after_its_creation_failed_is_in_the_networks_asked_for_then(
    cloud: Cloud, client: Client
) -> None:
    cloud.engine.script("create", error=RuntimeFailure("no space left on device"))
    ident = client.create(nets=[{"network": "web"}])
    assert client.wait(ident, "Error")["addresses"] == {}
    rebuilding = update(Container).values(status="Rebuilding")
    cloud.database.write(lambda session: session.execute(rebuilding))
    zun_asks(cloud, ident, "rebuild", run=True)
    (network,) = client.wait(ident, "Running")["addresses"]
    assert network.endswith("-web")


def test_what_a_zun_api_has_made_anew_where_there_is_no_room_any_more_says_so(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL, compute=EXACT)
    client = cloud.client
    cloud.engine.script("create", error=RuntimeFailure("no space left on device"))
    ident = client.create(cpu=1, memory=600)
    client.wait(ident, "Error")
    other = client.created(cpu=1, memory=600)
    request = zun_asks(cloud, ident, "rebuild", run=True)
    assert ended(client, ident, request) == ("Error", ["Error"])
    reason = "The container's node has 424 of 1024 MiB memory free, 600 asked."
    shown = client.wait(ident, "Error")
    assert (shown["status_reason"], shown["host"]) == (reason, "node1")
    assert (cloud.claims().keys(), cloud.has_container(ident)) == ({other}, False)


@pytest.mark.parametrize("first", ["container_stop", "container_delete"])
def test_what_a_zun_api_has_stopped_and_then_deleted_has_its_time_of_grace_and_goes(
    cloud: Cloud, client: Client, first: str
) -> None:
    """It sends two messages of one request, which may come in any order."""
    ident = client.running()
    steps: list[tuple[str, ...]] = []
    cloud.observer = lambda *where: steps.append(where)
    messages = {"container_stop": {"timeout": 10}, "container_delete": {"force": False}}
    for action in ("stop", "delete"):
        zun_records(cloud, ident, action, "req-1")
    release = cloud.hold("stop")
    zun_sends(cloud, ident, first, "req-1", **messages.pop(first))
    until(cloud.unfinished)
    (second,) = messages
    zun_sends(cloud, ident, second, "req-1", **messages[second])
    release.set()
    client.wait_gone(ident)
    before = steps[: steps.index(("delete", "container", "before"))]
    assert {("stop", "stop", "after"), ("delete", "stopped", "after")} & set(before)


def test_a_zun_api_may_ask_for_logs_since_a_date(cloud: Cloud, client: Client) -> None:
    ident = client.running()
    how = {"stdout": True, "stderr": True, "timestamps": False, "tail": "all", "since": 1514764800.5}
    text = cloud.compute.container_logs(service_context(), "node1", cloud.row(ident), **how)
    assert text == client.call(f"GET /containers/{ident}/logs")


def test_what_a_zun_api_has_accepted_is_seen_while_it_is_done(cloud: Cloud, client: Client) -> None:
    ident = client.created()
    release = cloud.hold("start")
    zun_asks(cloud, ident, "start")
    until(lambda: cloud.row(ident).task_state == "container_starting")
    release.set()
    client.wait(ident, "Running")

    release = cloud.hold("remove")
    zun_asks(cloud, ident, "delete", force=True)
    until(lambda: cloud.row(ident).task_state == "container_deleting")
    assert cloud.row(ident).status == "Deleting"
    release.set()
    client.wait_gone(ident)


def test_a_zun_api_that_shows_a_container_gets_it_as_its_node_has_it_now(
    cloud: Cloud, client: Client
) -> None:
    ident = client.running()
    cloud.database.write(lambda session: session.execute(update(Container).values(status="Stopped")))
    shown = cloud.compute.container_show(service_context(), "node1", cloud.row(ident))
    assert (shown["uuid"], shown["status"]) == (ident, "Running")
    assert cloud.row(ident).status == "Running"


def test_a_zun_api_that_shows_a_container_gets_what_is_known_while_the_engine_is_away(
    cloud: Cloud, client: Client
) -> None:
    ident = client.running()
    cloud.engine.go_down()
    shown = cloud.compute.container_show(service_context(), "node1", cloud.row(ident))
    cloud.engine.come_back()
    assert (shown["uuid"], shown["status"]) == (ident, "Running")


def test_why_the_last_action_failed_stays_readable_when_a_zun_api_shows_a_container(
    cloud: Cloud, client: Client
) -> None:
    ident = client.running()
    cloud.engine.script("stop", error=RuntimeFailure("device is busy"))
    client.call(f"POST /containers/{ident}/stop")
    cloud.wait_idle()
    shown = cloud.compute.container_show(service_context(), "node1", cloud.row(ident))
    assert (shown["status"], shown["status_reason"]) == ("Running", "device is busy")


def test_a_container_that_is_made_anew_while_a_zun_api_shows_it_stays(cloud: Cloud, client: Client) -> None:
    cloud.engine.script("create", error=RuntimeFailure("no space left on device"))
    ident, gate = client.create(), Gate()
    client.wait(ident, "Error")
    cloud.wait_idle()
    cloud.engine.script("inspect", until=gate)
    row = cloud.row(ident)
    with ThreadPoolExecutor(1) as zun:
        shown = zun.submit(cloud.compute.container_show, service_context(), "node1", row)
        assert gate.reached.wait(20)
        client.call(f"POST /containers/{ident}/rebuild")
        client.wait(ident, "Created")
        gate.set()
        assert shown.result()["status"] == "Created"
    cloud.wait_idle()
    assert (client.wait(ident, "Created")["uuid"], cloud.has_container(ident)) == (ident, True)


def test_a_pull_that_comes_after_its_record_was_deleted_is_left(
    cloud: Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    late = Image(id=1, uuid=str(uuid.uuid4()), repo="late", tag="1", host="node1")
    cloud.compute.image_pull(service_context(), "node1", late)
    until(lambda: "late:1" in caplog.text)
    assert "late:1" not in cloud.engine.images
