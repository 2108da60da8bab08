"""Pulls that an administrator asks for."""

import threading
from collections.abc import Callable
from typing import Any

from tests.support.client import Client, until
from tests.support.cloud import Cloud

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


class Gate(threading.Event):
    """An event that tells when somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.reached.set()
        return super().wait(timeout)


def test_a_pull_neither_holds_up_the_end_of_the_agent_nor_is_lost_by_it(cloud: Cloud, client: Client) -> None:
    gate = Gate()
    cloud.engine.script("images.pull", until=gate)
    uuid = pull(client, "nginx:1.27")
    assert gate.reached.wait(20)
    cloud.restart()
    until(lambda: (image(cloud.client, uuid) or {}).get("image_id"))
    gate.set()
