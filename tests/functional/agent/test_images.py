"""Images that an administrator has pulled to a node, and removed from it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tests.support.threads import Gate, refused
from tests.support.waiting import until
from tierce.db.tables import Image
from tierce.model.errors import ImageSearchFailed, RuntimeTimeout, RuntimeUnreachable

NewCloud = Callable[..., Cloud]


def pull(client: Client, repo: str) -> str:
    return str(client.call("POST /images", {"repo": repo, "host": "node1"})["uuid"])


def image(client: Client, uuid: str) -> dict[str, Any] | None:
    found = [each for each in client.call("GET /images")["images"] if each["uuid"] == uuid]
    return dict(found[0]) if found else None


def test_a_pull_that_succeeds_has_its_image_id_and_size(cloud: Cloud, client: Client) -> None:
    uuid = pull(client, "nginx:1.27")
    found = until(lambda: (image(client, uuid) or {}).get("image_id") and image(client, uuid))
    assert found is not None
    assert found["image_id"] == cloud.engine.images["nginx:1.27"].id
    assert found["size"] == "1000000"


def test_the_record_of_a_pull_that_failed_goes_and_the_pull_can_be_tried_again(new_cloud: NewCloud) -> None:
    registry: set[str] = set()
    cloud = new_cloud(registry=registry)
    uuid = pull(cloud.client, "nginx:1.27")
    until(lambda: image(cloud.client, uuid) is None)
    registry.add("nginx:1.27")
    again = pull(cloud.client, "nginx:1.27")
    until(lambda: (image(cloud.client, again) or {}).get("image_id"))


def test_an_image_that_the_node_has_is_not_pulled_twice(cloud: Cloud, client: Client) -> None:
    uuid = pull(client, "nginx:1.27")
    until(lambda: (image(client, uuid) or {}).get("image_id"))
    body = {"repo": "nginx:1.27", "host": "node1"}
    assert client.error("POST /images", body)[:2] == (409, "container.image-already-exists")


def test_a_pull_neither_holds_up_the_end_of_the_agent_nor_is_lost_by_it(cloud: Cloud, client: Client) -> None:
    gate = Gate()
    cloud.engine.script("images.pull", until=gate)
    uuid = pull(client, "nginx:1.27")
    assert gate.reached.wait(20)
    cloud.restart()
    until(lambda: (image(cloud.client, uuid) or {}).get("image_id"))
    gate.set()


# --- removing -------------------------------------------------------------------------------------


def pulled(client: Client, repo: str) -> str:
    """The record of an image that the node has."""
    uuid = pull(client, repo)
    until(lambda: (image(client, uuid) or {}).get("image_id"))
    return uuid


def test_a_deleted_image_is_gone_from_node_and_list(cloud: Cloud, client: Client) -> None:
    uuid = pulled(client, "nginx:1.27")
    client.call(f"DELETE /images/{uuid}")
    assert image(client, uuid) is None
    assert "nginx:1.27" not in cloud.engine.images
    assert client.error(f"DELETE /images/{uuid}")[:2] == (404, "container.image-not-found")
    pulled(client, "nginx:1.27")


def test_an_administrator_deletes_the_images_of_every_project(cloud: Cloud, client: Client) -> None:
    uuid = pulled(cloud.user("anna", project="p1", role="admin"), "nginx:1.27")
    assert image(client, uuid) is None
    client.call(f"DELETE /images/{uuid}")
    assert "nginx:1.27" not in cloud.engine.images


def test_an_image_that_a_container_has_stays_and_the_answer_says_so(cloud: Cloud, client: Client) -> None:
    uuid = pulled(client, "nginx:1.27")
    user = client.created(image="nginx:1.27")
    status, code, text = client.error(f"DELETE /images/{uuid}")
    assert (status, code, "used" in text) == (409, "container.conflict", True)
    assert image(client, uuid)
    client.call(f"DELETE /containers/{user}")
    client.wait_gone(user)
    client.call(f"DELETE /images/{uuid}")


def test_an_image_that_is_being_pulled_cannot_be_deleted(cloud: Cloud, client: Client) -> None:
    gate = Gate()
    cloud.engine.script("images.pull", until=gate)
    uuid = pull(client, "nginx:1.27")
    assert gate.reached.wait(20)
    status, code, text = client.error(f"DELETE /images/{uuid}")
    assert (status, code, "being pulled" in text) == (409, "container.conflict", True)
    gate.set()
    until(lambda: (image(client, uuid) or {}).get("image_id"))
    client.call(f"DELETE /images/{uuid}")


def test_a_record_whose_image_never_came_goes_alone(cloud: Cloud, client: Client) -> None:
    """Another program left it: its pull failed, and the node has the image from somewhere else."""
    row = Image(
        uuid="0c6b0000-0000-4000-8000-000000000001",
        repo="tierce-test/busybox",
        tag="1",
        host="node1",
        project_id="admin",
    )
    cloud.database.write(lambda session: session.add(row))
    client.call("DELETE /images/0c6b0000-0000-4000-8000-000000000001")
    assert client.call("GET /images")["images"] == []
    assert IMAGE in cloud.engine.images


def test_nothing_is_asked_of_a_node_that_is_down(cloud: Cloud, client: Client) -> None:
    uuid = pulled(client, "nginx:1.27")
    cloud.lose_node("node1")
    assert client.error(f"DELETE /images/{uuid}")[:2] == (409, "container.host-not-up")
    assert client.error("POST /images", {"repo": "nginx", "host": "node1"})[:2] == (
        409,
        "container.host-not-up",
    )
    cloud.start_node("node1")
    client.call(f"DELETE /images/{uuid}")


def test_an_engine_that_is_away_is_told_and_the_image_stays(cloud: Cloud, client: Client) -> None:
    uuid = pulled(client, "nginx:1.27")
    cloud.engine.script("images.remove", error=RuntimeUnreachable("The engine cannot be reached."))
    assert client.error(f"DELETE /images/{uuid}")[:2] == (503, "container.runtime-unreachable")
    client.call(f"DELETE /images/{uuid}")


def test_a_pull_whose_message_is_lost_is_found_at_the_next_look(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"upkeep_interval": 1})
    row = Image(uuid="0c6b0000-0000-4000-8000-000000000002", repo="nginx", tag="1.27", host="node1")
    row.project_id = "admin"
    cloud.database.write(lambda session: session.add(row))
    cloud.clock.advance(2)
    until(lambda: (image(cloud.client, "0c6b0000-0000-4000-8000-000000000002") or {}).get("image_id"))


def test_a_pull_that_found_no_thread_is_begun_at_the_next_look(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"upkeep_interval": 1})
    with refused("tierce-pull") as tried:
        uuid = pull(cloud.client, "nginx:1.27")
        assert tried.wait(30)
    cloud.clock.advance(2)
    until(lambda: (image(cloud.client, uuid) or {}).get("image_id"))


# --- searching ------------------------------------------------------------------------------------


@pytest.fixture
def library(new_cloud: NewCloud) -> Cloud:
    """A cloud whose public registry has three images."""
    return new_cloud(registry=("nginx:1", "nginx:2", "bitnami/nginx:1", "redis:7"))


def search(client: Client, target: str) -> list[str]:
    return [each["name"] for each in client.call(f"GET /images/{target}")]


def test_images_are_found_by_a_part_of_their_name(library: Cloud) -> None:
    alice = library.user("alice", project="p1")
    assert search(alice, "nginx/search") == ["bitnami/nginx", "nginx"]
    assert search(alice, "bitnami/nginx/search") == ["bitnami/nginx"]
    assert search(alice, "docker.io/redis:7/search?image_driver=docker") == ["redis"]
    assert search(alice, "nosuch/search") == []


@pytest.mark.parametrize(
    ("name", "found"),
    [("nginx", ["nginx"]), ("library/nginx", ["nginx"]), ("bitnami/nginx", ["bitnami/nginx"]), ("ngin", [])],
)
def test_with_exact_match_the_whole_name_counts(library: Cloud, name: str, found: list[str]) -> None:
    assert search(library.client, f"{name}/search?exact_match=True") == found


def test_an_image_that_is_found_has_its_documented_fields(library: Cloud) -> None:
    assert library.client.call("GET /images/redis/search") == [
        {
            "name": "redis",
            "description": "",
            "is_automated": False,
            "metadata": {"is_official": False, "star_count": 0},
        }
    ]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("quay.io/team/app", "container.operation-not-supported"),
        ("localhost:5000/app", "container.operation-not-supported"),
        ("NGINX", "container.invalid-value"),
        ("nginx@sha256:00", "container.invalid-value"),
        ("a//b", "container.invalid-value"),
        ("a" * 256, "container.invalid-value"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(library: Cloud, name: str, code: str) -> None:
    assert library.client.error(f"GET /images/{name}/search")[:2] == (400, code)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ImageSearchFailed("The registry does not answer."), 503, "container.image-search-failed"),
        (RuntimeTimeout("Docker did not answer in time."), 504, "container.runtime-timeout"),
        (RuntimeUnreachable("The engine cannot be reached."), 503, "container.runtime-unreachable"),
    ],
)
def test_a_registry_that_cannot_be_asked_is_told_as_it_is(
    library: Cloud, error: Exception, status: int, code: str
) -> None:
    library.engine.script("images.search", error=error)
    assert library.client.error("GET /images/redis/search") == (status, code, str(error))


def test_a_search_needs_a_node_that_is_up(library: Cloud) -> None:
    library.lose_node("node1")
    assert library.client.error("GET /images/redis/search")[:2] == (503, "container.no-node-up")


def test_a_node_that_searches_for_ever_is_not_waited_for_for_ever(new_cloud: NewCloud) -> None:
    cloud = new_cloud(DEFAULT={"rpc_response_timeout": 1})
    release = cloud.hold("images.search")
    assert cloud.client.error("GET /images/redis/search")[:2] == (504, "container.rpc-timeout")
    release.set()
