"""Making a container anew: what it keeps, what a failure leaves; a kill at any step loses nothing."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import update

from tests.support.client import FOREVER, IMAGE, Client
from tests.support.cloud import Cloud, Death
from tests.support.waiting import until
from tierce.db.tables import Container
from tierce.model.container import ImageFacts
from tierce.model.errors import RuntimeFailure

NewCloud = Callable[..., Cloud]

STEPS = ("image", "volumes", "networks", "removed", "container", "started")
COMMITS = ("compute__do_image_pull", "compute__do_container_rebuild", "compute__do_container_start")


def engine_id(cloud: Cloud, uuid: str) -> str:
    return cloud.engine.container(f"zun-{uuid}").id


def rebuild(client: Client, uuid: str, **fields: Any) -> None:
    client.call(f"POST /containers/{uuid}/rebuild", fields or None)


def add_image(
    cloud: Cloud, name: str, command: Sequence[str] = (), entrypoint: Sequence[str] = ()
) -> ImageFacts:
    """An image on the node that says what to run."""
    facts = dataclasses.replace(cloud.engine.add_image(name), command=command, entrypoint=entrypoint)
    cloud.engine.images[name] = facts
    return facts


def events(client: Client, uuid: str) -> list[tuple[str, str | None]]:
    """Event and result of each stage of the last action, in their order."""
    (action, *_) = client.call(f"GET /containers/{uuid}/container_actions")["containerActions"]
    found = client.call(f"GET /containers/{uuid}/container_actions/{action['request_id']}")["events"]
    return [(each["event"], each["result"]) for each in reversed(found)]


# --- it works -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"), [("Created", "Created"), ("Running", "Running"), ("Stopped", "Created")]
)
def test_it_is_another_container_and_runs_if_it_did(
    cloud: Cloud, client: Client, before: str, after: str
) -> None:
    uuid = client.created() if before == "Created" else client.running()
    if before == "Stopped":
        client.call(f"POST /containers/{uuid}/stop")
        client.wait(uuid, before)
    old = engine_id(cloud, uuid)

    rebuild(client, uuid)

    client.wait(uuid, after)
    assert engine_id(cloud, uuid) == cloud.row(uuid).container_id != old
    assert client.actions(uuid)[-1] == ("rebuild", None)
    assert events(client, uuid) == [(name, "Success") for name in COMMITS[: 3 if after == "Running" else 2]]
    row = cloud.row(uuid)
    assert (row.started_at is not None, row.finished_at, row.exit_code) == (after == "Running", None, None)


def test_it_is_rebuilding_while_that_is_at_work(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("create")
    rebuild(client, uuid)
    shown = client.show(uuid) or {}
    assert (shown["status"], shown["task_state"]) == ("Rebuilding", "container_rebuilding")
    assert client.error(f"POST /containers/{uuid}/rebuild")[1] == "container.invalid-state-exception"
    release.set()
    client.wait(uuid, "Running")


def test_it_joins_no_network_again_that_it_has_left(cloud: Cloud, client: Client) -> None:
    """One that was cut off from all of them stays so."""
    uuid = client.running(nets=[{"network": "front"}])
    client.call(f"POST /containers/{uuid}/network_detach?network=front")
    cloud.wait_idle()
    client.call(f"POST /containers/{uuid}/rebuild")
    client.wait(uuid, "Running")
    assert (client.show(uuid) or {})["addresses"] == {}
    assert not cloud.engine.container(f"zun-{uuid}").spec.networks


def test_it_keeps_its_networks_volumes_names_and_limits(cloud: Cloud, client: Client) -> None:
    uuid = client.running(
        name="web",
        memory=128,
        environment={"A": "1"},
        nets=[{"network": "front"}, {"network": "back"}],
        mounts=[
            {"type": "volume", "source": "pages", "destination": "/pages"},
            {"type": "bind", "source": "aGVsbG8=", "destination": "/etc/motd"},
        ],
    )
    old, claim = cloud.engine.container(f"zun-{uuid}").spec, cloud.claims()[uuid]
    networks = set((client.show(uuid) or {})["addresses"])
    client.call(f"PATCH /containers/{uuid}", {"memory": 256})

    rebuild(client, uuid)

    shown = client.wait(uuid, "Running")
    new = cloud.engine.container(f"zun-{uuid}").spec
    assert [each.network for each in new.networks] == [each.network for each in old.networks]
    assert (new.mounts, new.environment, new.memory) == (old.mounts, {"A": "1"}, 256)
    assert set(shown["addresses"]) == networks
    assert all(shown["addresses"].values())
    assert cloud.claims()[uuid].host == claim.host
    assert cloud.claims()[uuid].memory_mb == 256


def test_another_image_is_used_and_remembered(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    client.call(f"POST /containers/{uuid}/rebuild?image=nginx:1.27&image_driver=docker&other=ignored")
    assert client.wait(uuid, "Running")["image"] == "nginx:1.27"
    assert cloud.engine.container(f"zun-{uuid}").spec.image == cloud.engine.images["nginx:1.27"].id


def test_what_was_left_to_the_old_image_is_left_to_the_new_one(cloud: Cloud, client: Client) -> None:
    add_image(cloud, "old:1", ["serve", "--old"], ["/old"])
    add_image(cloud, "new:1", ["serve", "--new"], ["/new"])
    uuid = client.running(image="old:1", command=None)
    assert (client.show(uuid) or {})["command"] == ["serve", "--old"]

    rebuild(client, uuid, image="new:1")

    shown = client.wait(uuid, "Running")
    assert (shown["command"], shown["entrypoint"]) == (["serve", "--new"], ["/new"])
    assert cloud.engine.container(f"zun-{uuid}").command == ["/new", "serve", "--new"]


def test_what_the_user_said_is_kept_with_another_image(cloud: Cloud, client: Client) -> None:
    add_image(cloud, "old:1", ["serve", "--old"], ["/old"])
    add_image(cloud, "new:1", ["serve", "--new"], ["/new"])
    uuid = client.running(image="old:1", command=["mine"])
    rebuild(client, uuid, image="new:1")
    shown = client.wait(uuid, "Running")
    assert (shown["command"], shown["entrypoint"]) == (["mine"], ["/new"])


def test_an_image_that_has_moved_under_its_name_counts_as_another(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    add_image(cloud, "app:1", ["serve", "--old"])
    uuid = cloud.client.running(image="app:1", command=None)
    moved = ImageFacts("sha256:" + "f" * 64, ("app:1",), command=("serve", "--new"))
    old = cloud.engine.images.pop("app:1")
    cloud.engine.images |= {old.id: dataclasses.replace(old, tags=()), "app:1": moved}
    rebuild(cloud.client, uuid)
    assert cloud.client.wait(uuid, "Running")["command"] == ["serve", "--new"]


# --- it may not -----------------------------------------------------------------------------------


def test_a_paused_one_cannot_be_rebuilt(client: Client) -> None:
    uuid = client.running()
    client.call(f"POST /containers/{uuid}/pause")
    client.wait(uuid, "Paused")
    assert client.error(f"POST /containers/{uuid}/rebuild") == (
        409,
        "container.invalid-state-exception",
        f"Cannot rebuild container {uuid} in Paused state",
    )


def test_one_whose_node_is_down_is_left_as_it_is(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.lose_node("node1")
    assert client.error(f"POST /containers/{uuid}/rebuild?image=nginx:1.27")[1] == (
        "container.container-host-not-up"
    )
    assert (cloud.row(uuid).status, cloud.row(uuid).image) == ("Running", IMAGE)


# --- it fails -------------------------------------------------------------------------------------


def test_an_image_that_cannot_be_had_costs_nothing(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.running()
    old = engine_id(cloud, uuid)

    rebuild(cloud.client, uuid, image="nosuch/image:1")

    failed = cloud.client.wait(uuid, "Error")
    assert "nosuch/image:1" in failed["status_reason"]
    assert (failed["image"], failed["command"]) == (IMAGE, FOREVER)
    assert cloud.client.actions(uuid)[-1] == ("rebuild", "Error")
    assert (engine_id(cloud, uuid), uuid in cloud.claims()) == (old, True)
    cloud.client.call(f"POST /containers/{uuid}/start")
    assert cloud.client.wait(uuid, "Running")["status_reason"] is None
    assert engine_id(cloud, uuid) == old


def test_a_creation_that_fails_keeps_what_a_second_try_needs(cloud: Cloud, client: Client) -> None:
    uuid = client.running(
        nets=[{"network": "front"}], mounts=[{"type": "volume", "size": 1, "destination": "/data"}]
    )
    (network,) = (client.show(uuid) or {})["addresses"]
    (mount,) = cloud.engine.container(f"zun-{uuid}").spec.mounts
    cloud.engine.script("create", error=RuntimeFailure("no space left"))

    rebuild(client, uuid, image="nginx:1.27")

    failed = client.wait(uuid, "Error")
    assert (failed["status_reason"], failed["host"]) == ("no space left", "node1")
    assert (list(failed["addresses"]), uuid in cloud.claims()) == ([network], True)
    assert not cloud.has_container(uuid)
    rebuild(client, uuid)
    client.wait(uuid, "Created")
    spec = cloud.engine.container(f"zun-{uuid}").spec
    assert ([each.network for each in spec.networks], list(spec.mounts)) == ([network], [mount])


def test_a_start_that_fails_keeps_the_new_container(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.script("start", error=RuntimeFailure("out of pids"))
    rebuild(client, uuid)
    assert client.wait(uuid, "Error")["status_reason"] == "out of pids"
    assert engine_id(cloud, uuid) == cloud.row(uuid).container_id
    client.call(f"POST /containers/{uuid}/start")
    client.wait(uuid, "Running")


def test_one_that_was_never_made_is_made(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.create(image="nosuch/image:1", nets=[{"network": "front"}])
    cloud.client.wait(uuid, "Error")
    assert cloud.claims() == {}
    rebuild(cloud.client, uuid, image=IMAGE)
    shown = cloud.client.wait(uuid, "Created")
    assert [name.rpartition("-")[2] for name in shown["addresses"]] == ["front"]
    assert uuid in cloud.claims()


# --- it dies on the way ----------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_rebuild_that_was_cut_short_is_finished_at_the_next_start(
    cloud: Cloud, client: Client, step: str, moment: str
) -> None:
    check_cut_short(cloud, client, step, moment)


@pytest.mark.parametrize("stage", COMMITS)
def test_a_rebuild_that_was_cut_short_between_its_stages_is_finished(
    cloud: Cloud, client: Client, stage: str
) -> None:
    check_cut_short(cloud, client, stage, "committed")


def check_cut_short(cloud: Cloud, client: Client, step: str, moment: str) -> None:
    add_image(cloud, "old:1", ["serve", "--old"])
    add_image(cloud, "new:1", ["serve", "--new"])
    mounts = [{"type": "volume", "size": 1, "destination": "/data"}]
    uuid = client.running(image="old:1", command=None, mounts=mounts)
    old = engine_id(cloud, uuid)
    cloud.observer = death = Death("rebuild", step, moment)
    rebuild(client, uuid, image="new:1")
    until(lambda: death.count)
    cloud.restart()
    shown = client.wait(uuid, "Running")
    assert (shown["command"], shown["status_reason"]) == (["serve", "--new"], None)
    assert engine_id(cloud, uuid) != old
    assert len(cloud.engine.containers) == 1
    assert client.actions(uuid) == [("create", None), ("rebuild", None)]


def test_one_that_removes_itself_is_not_run_twice(cloud: Cloud, client: Client) -> None:
    uuid = client.running(auto_remove=True)
    cloud.observer = death = Death("rebuild", "started", "after")
    rebuild(client, uuid)
    until(lambda: death.count)
    cloud.engine.exit(f"zun-{uuid}", 0)
    cloud.restart()
    client.wait_gone(uuid)
    assert cloud.claims() == {}


def test_one_whose_memory_an_old_cloud_wrote_with_a_unit_is_rebuilt_with_as_much(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running(memory=128)
    old = update(Container).where(Container.uuid == uuid).values(memory="128m")
    cloud.database.write(lambda session: session.execute(old))
    rebuild(client, uuid)
    client.wait(uuid, "Running")
    assert cloud.engine.container(f"zun-{uuid}").spec.memory == 128
    assert cloud.claims()[uuid].memory_mb == 128
