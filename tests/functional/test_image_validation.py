"""Images that are searched for before a container of them is accepted."""

from collections.abc import Callable

import pytest

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tierce.model.errors import ImageSearchFailed

NewCloud = Callable[..., Cloud]


@pytest.fixture
def strict(new_cloud: NewCloud) -> Cloud:
    return new_cloud(
        registry=("nginx:1", "team/app:2"),
        api={"enable_image_validation": True},
        DEFAULT={"default_image_pull_policy": "always"},
    )


def container_of(client: Client, image: str, **fields: object) -> tuple[int, str]:
    """Status and code (if it is refused) of a create."""
    answer = client.request("POST /containers", {"image": image, "memory": 64, **fields})
    return answer.status_code, answer.json["errors"][0]["code"] if answer.status_code >= 400 else ""


@pytest.mark.parametrize("image", ["nginx:1", "nginx", "library/nginx", "docker.io/nginx", "team/app:2"])
def test_what_is_found_is_accepted(strict: Cloud, image: str) -> None:
    assert container_of(strict.client, image) == (202, "")


def test_what_is_not_found_is_refused_and_leaves_nothing(strict: Cloud) -> None:
    for image in ("nosuch:1", "ngin", "team/nginx"):
        assert container_of(strict.client, image) == (400, "container.image-not-found")
    assert strict.client.error("POST /containers", {"image": "nosuch:1"})[2] == (
        "Image nosuch:1 could not be found."
    )
    assert (strict.rows(), strict.claims()) == ([], {})


def test_what_may_come_from_elsewhere_is_not_searched_for(strict: Cloud) -> None:
    client = strict.client
    client.call("POST /registries", {"registry": {"name": "ours", "domain": "reg.example.com"}})
    for image, fields in (
        ("reg.example.com/nosuch", {}),
        ("nosuch", {"registry": "ours"}),
        (IMAGE, {"image_pull_policy": "never"}),
        (IMAGE, {"image_pull_policy": "ifnotpresent"}),
    ):
        assert container_of(client, image, **fields) == (202, "")


def test_an_image_that_was_made_of_a_container_is_accepted(strict: Cloud) -> None:
    client = strict.client
    uuid = client.running(image_pull_policy="never")
    assert container_of(client, "mine:1") == (400, "container.image-not-found")
    client.call(f"POST /containers/{uuid}/commit?repository=mine&tag=1")
    strict.wait_idle()
    assert container_of(client, "mine:1") == (202, "")
    assert container_of(strict.user("bob", project="p2"), "mine:1")[0] == 400


def test_a_search_that_fails_refuses_nobody(strict: Cloud) -> None:
    strict.engine.script("images.search", error=ImageSearchFailed("The registry does not answer."))
    assert container_of(strict.client, "nosuch:1") == (202, "")
    strict.lose_node("node1")
    assert container_of(strict.client, "nosuch:1") == (202, "")


def test_it_is_off_unless_the_operator_wants_it(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=(), DEFAULT={"default_image_pull_policy": "always"})
    assert container_of(cloud.client, "nosuch:1") == (202, "")
