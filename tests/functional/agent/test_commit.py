"""Images made of containers: what they are called, who may use them, and what a failure leaves."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Death
from tests.support.threads import at_once
from tests.support.waiting import until
from tierce.images import committed
from tierce.model.container import RuntimeState
from tierce.model.errors import RuntimeFailure

NewCloud = Callable[..., Cloud]


def commit(client: Client, uuid: str, query: str = "repository=copy&tag=1") -> str:
    return str(client.call(f"POST /containers/{uuid}/commit?{query}")["uuid"])


def made(cloud: Cloud) -> list[str]:
    """Names of the images that were made of containers."""
    return [name for name in cloud.engine.images if name.startswith(committed.DOMAIN)]


def record(client: Client, image: str) -> dict[str, Any]:
    return dict(client.call(f"GET /images/{image}"))


# --- it works -------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["Running", "Paused", "Stopped"])
def test_an_image_is_made_and_the_container_is_as_it_was(cloud: Cloud, client: Client, state: str) -> None:
    uuid = client.running()
    if state != "Running":
        client.call(f"POST /containers/{uuid}/{'pause' if state == 'Paused' else 'stop'}")
        client.wait(uuid, state)

    answer = client.request(f"POST /containers/{uuid}/commit?repository=copy&tag=1")

    assert (answer.status_code, set(answer.json)) == (202, {"uuid"})
    cloud.wait_idle()
    assert client.actions(uuid)[-1] == ("commit", None)
    assert (client.show(uuid) or {})["status"] == state
    (name,) = made(cloud)
    assert name.endswith("/copy:1")
    assert record(client, answer.json["uuid"])["image_id"] == cloud.engine.images[name].id


def test_parameters_may_be_in_the_body_and_the_tag_may_be_left_out(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    client.call(f"POST /containers/{uuid}/commit", {"repository": "copy"})
    cloud.wait_idle()
    (name,) = made(cloud)
    assert name.endswith("/copy:latest")


def test_a_container_can_be_made_of_it(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=(), DEFAULT={"default_image_pull_policy": "always"})
    with cloud.engine.lock:
        cloud.engine.registry = {"tierce-test/busybox:1"}
    uuid = cloud.client.running(command=["sleep", "60"])
    commit(cloud.client, uuid)
    cloud.wait_idle()
    other = cloud.client.running(image="copy:1", command=None)
    shown = cloud.client.show(other) or {}
    assert (shown["image"], shown["command"]) == ("copy:1", ["sleep", "60"])


def test_another_project_has_no_use_of_it(new_cloud: NewCloud) -> None:
    cloud = new_cloud(
        registry={"tierce-test/busybox:1"}, DEFAULT={"default_image_pull_policy": "ifnotpresent"}
    )
    alice, bob = cloud.user("alice", project="p1"), cloud.user("bob", project="p2")
    commit(alice, alice.running())
    cloud.wait_idle()
    (name,) = made(cloud)
    for image in ("copy:1", name, name.upper()[: len(committed.DOMAIN)] + name[len(committed.DOMAIN) :]):
        uuid = bob.create(image=image)
        assert bob.wait(uuid, "Error")["status_reason"]
    owner, _, image = name.removeprefix(f"{committed.DOMAIN}/").partition("/")
    for domain, path in ((committed.DOMAIN, f"{owner}/{image}"), (f"{committed.DOMAIN}/{owner}", image)):
        registry = bob.call("POST /registries", {"registry": {"domain": domain}})["registry"]["uuid"]
        assert bob.wait(bob.create(image=path, registry=registry), "Error")["status_reason"]


def test_it_does_not_take_the_place_of_an_image_that_others_know_by_that_name(cloud: Cloud) -> None:
    alice, bob = cloud.user("alice", project="p1"), cloud.user("bob", project="p2")
    commit(alice, alice.running(), "repository=tierce-test/busybox&tag=1")
    cloud.wait_idle()
    known = cloud.engine.images["tierce-test/busybox:1"].id
    assert cloud.engine.container(f"zun-{bob.running()}").spec.image == known
    assert cloud.engine.container(f"zun-{alice.running()}").spec.image != known


def test_a_second_one_of_the_same_name_replaces_the_first(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    first = commit(client, uuid)
    cloud.wait_idle()
    old = record(client, first)["image_id"]
    assert commit(client, uuid) == first
    cloud.wait_idle()
    assert record(client, first)["image_id"] != old
    assert old not in [facts.id for facts in cloud.engine.images.values()]


def test_one_that_a_container_still_needs_stays(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    commit(client, uuid)
    cloud.wait_idle()
    user = client.running(image="copy:1")
    commit(client, uuid)
    cloud.wait_idle()
    assert client.actions(uuid)[-1] == ("commit", None)
    assert cloud.engine.container(f"zun-{user}").spec.image in [
        facts.id for facts in cloud.engine.images.values()
    ]


# --- it may not -----------------------------------------------------------------------------------


def test_one_that_has_never_run_cannot_be_committed(client: Client) -> None:
    uuid = client.created()
    assert client.error(f"POST /containers/{uuid}/commit?repository=copy") == (
        409,
        "container.invalid-state-exception",
        f"Cannot commit container {uuid} in Created state",
    )


def test_a_node_that_is_down_is_named(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.lose_node("node1")
    assert client.error(f"POST /containers/{uuid}/commit?repository=copy")[1] == (
        "container.container-host-not-up"
    )


def test_only_one_at_a_time(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("commit")
    commit(client, uuid)
    status, _, text = client.error(f"POST /containers/{uuid}/commit?repository=copy")
    assert (status, text.endswith("while commit is in progress")) == (409, True)
    release.set()


# --- how many -------------------------------------------------------------------------------------


@pytest.fixture
def bounded(new_cloud: NewCloud) -> Cloud:
    """A cloud of two nodes, on each of which a project may keep two images."""
    return new_cloud(hosts=("node1", "node2"), quota={"committed_images": 2})


def committing(client: Client, uuid: str, name: str) -> int:
    return int(client.request(f"POST /containers/{uuid}/commit?repository={name}").status_code)


def test_a_project_keeps_no_more_images_on_a_node_than_it_may(bounded: Cloud) -> None:
    client = bounded.client
    alice = bounded.user("alice", project="p1")
    uuid, elsewhere = (client.running(host=host) for host in ("node1", "node2"))
    for name in ("one", "two"):
        commit(client, uuid, f"repository={name}")
        bounded.wait_idle()

    status, code, text = client.error(f"POST /containers/{uuid}/commit?repository=three")

    assert (status, code) == (403, "container.over-quota")
    assert "limit 2 on a node, in use 2" in text
    assert committing(client, uuid, "two") == 202
    assert committing(client, elsewhere, "three") == 202
    assert committing(alice, alice.running(), "one") == 202


def test_images_that_are_being_made_count(bounded: Cloud) -> None:
    client = bounded.client
    uuids = [client.running(host="node1") for _ in range(3)]
    release = bounded.hold("commit")
    statuses = at_once(
        [
            lambda uuid=uuid, name=name: committing(client, uuid, name)
            for name, uuid in zip("abc", uuids, strict=True)
        ]
    )
    assert sorted(statuses) == [202, 202, 403]
    release.set()


def test_an_image_that_is_deleted_makes_room(bounded: Cloud) -> None:
    """Members delete their own, where the operator lets them."""
    rules = ("image:get_all", "image:delete")
    bounded.policy_file.write_text("".join(f'"{rule}": "rule:admin_or_owner"\n' for rule in rules))
    bounded.clock.advance(2)
    alice, bob = bounded.user("alice", project="p1"), bounded.user("bob", project="p2")
    uuid = alice.running(name="web")
    for name in ("one", "two"):
        commit(alice, uuid, f"repository={name}")
        bounded.wait_idle()
    (first, _) = alice.call("GET /images")["images"]
    assert committing(alice, uuid, "three") == 403
    assert bob.call("GET /images")["images"] == []
    assert bob.request(f"DELETE /images/{first['uuid']}").status_code == 404

    alice.call(f"DELETE /images/{first['uuid']}")

    assert committing(alice, uuid, "three") == 202


@pytest.mark.parametrize(
    "quota", [{"committed_images": -1}, {"committed_images": 0, "driver": "zun.common.quota.NoopQuotaDriver"}]
)
def test_without_a_limit_all_are_kept(new_cloud: NewCloud, quota: dict[str, object]) -> None:
    cloud = new_cloud(quota=quota)
    uuid = cloud.client.running()
    for name in ("one", "two"):
        commit(cloud.client, uuid, f"repository={name}")
        cloud.wait_idle()
    assert len(made(cloud)) == 2


# --- it fails -------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["Running", "Paused"])
def test_a_failure_leaves_the_container_as_it_was_and_no_image(
    cloud: Cloud, client: Client, state: str
) -> None:
    uuid = client.running()
    if state == "Paused":
        client.call(f"POST /containers/{uuid}/pause")
        client.wait(uuid, state)
    cloud.engine.script("commit", error=RuntimeFailure("no space left"))
    image = commit(client, uuid)
    cloud.wait_idle()
    shown = client.show(uuid) or {}
    assert (shown["status"], shown["status_reason"]) == (state, "no space left")
    assert client.actions(uuid)[-1] == ("commit", "Error")
    assert (made(cloud), client.error(f"GET /images/{image}")[0]) == ([], 404)


def test_one_that_the_engine_left_frozen_is_thawed(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("commit", RuntimeFailure("no space left"))
    commit(client, uuid)
    with cloud.engine.lock:
        cloud.engine.pause(cloud.engine.container(f"zun-{uuid}"), True)
    release.set()
    until(lambda: client.actions(uuid)[-1] == ("commit", "Error"))
    assert cloud.engine.container(f"zun-{uuid}").state == RuntimeState.RUNNING
    assert client.wait(uuid, "Running")["status_reason"] == "no space left"


# --- it dies on the way ----------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", ["image", "thawed", "record"])
def test_a_commit_that_was_cut_short_is_finished_at_the_next_start(
    cloud: Cloud, client: Client, step: str, moment: str
) -> None:
    uuid = client.running()
    cloud.observer = death = Death("commit", step, moment)
    image = commit(client, uuid)
    until(lambda: death.count)
    with cloud.engine.lock:
        cloud.engine.pause(cloud.engine.container(f"zun-{uuid}"), True)
    cloud.restart()
    cloud.wait_idle()
    client.wait(uuid, "Running")
    (name,) = made(cloud)
    assert record(client, image)["image_id"] == cloud.engine.images[name].id
    assert len(cloud.engine.images) == 2
    assert client.actions(uuid)[-1] == ("commit", None)
