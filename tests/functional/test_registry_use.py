"""Containers that name a registry: where their images come from, for whom, and where no password is seen."""

import json
import logging
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from tests.functional.test_registries import DOMAIN, NOBODY, SECRET, create
from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tests.support.waiting import until
from tierce.db.tables import Container, ContainerAction, ContainerActionEvent, Registry
from tierce.images.registry import ACCESS_FILE
from tierce.rpc import inprocess

NewCloud = Callable[..., Cloud]


@pytest.fixture
def alice(cloud: Cloud) -> Client:
    return cloud.user("alice", project="red")


@pytest.fixture
def bob(cloud: Cloud) -> Client:
    return cloud.user("bob", project="blue")


def test_an_image_without_a_domain_comes_from_the_registry_with_its_credentials(
    cloud: Cloud, alice: Client
) -> None:
    cloud.engine.logins[DOMAIN] = {"robot": SECRET}
    uuid = create(alice, name="mine", username="robot", password=SECRET)["uuid"]

    made = alice.call("POST /containers", {"image": "team/app:2", "registry": "mine"})
    assert made["registry_id"] == uuid
    found = alice.wait(made["uuid"], "Created")
    assert (found["image"], found["registry_id"]) == ("team/app:2", uuid)
    assert f"{DOMAIN}/team/app:2" in cloud.engine.images
    assert [each["registry_id"] for each in alice.call("GET /containers")["containers"]] == [uuid]


def test_credentials_stay_away_from_other_domains(cloud: Cloud, alice: Client) -> None:
    taken: list[Any] = []
    cloud.engine.logins["evil.example"] = _Listener(taken)
    create(alice, name="mine", username="robot", password=SECRET)
    uuid = alice.create(image="evil.example/app", registry="mine")
    alice.wait(uuid, "Error")
    assert taken == []


class _Listener(dict[str, str]):
    """The users of a registry that keeps the names it was asked about."""

    def __init__(self, names: list[Any]) -> None:
        super().__init__()
        self._names = names

    def get(self, key: str, default: Any = None) -> Any:
        self._names.append(key)
        return default


def test_a_wrong_password_ends_in_an_error_that_names_the_registry(cloud: Cloud, alice: Client) -> None:
    cloud.engine.logins[DOMAIN] = {"robot": SECRET}
    registry = create(alice, name="mine", username="robot", password="guessed")["uuid"]
    uuid = alice.create(image="team/app", registry="mine", run=True)
    reason = alice.wait(uuid, "Error")["status_reason"]
    for part in ("unauthorized", "mine", registry, DOMAIN, "robot", "password"):
        assert part in reason
    assert "guessed" not in reason


def test_a_node_without_the_key_is_not_named_to_those_who_wait_for_the_password(
    cloud: Cloud, alice: Client
) -> None:
    create(alice, name="mine", username="robot", password=SECRET)
    cloud.configure(DEFAULT={"auth_encryption_key": "32 characters that nobody knows."})
    cloud.stop_node("node1")
    cloud.start_node("node1")
    reason = alice.wait(alice.create(image="team/app:2", registry="mine"), "Error")["status_reason"]
    assert "cannot be read on the container's node" in reason
    assert "node1" not in reason


@pytest.mark.parametrize("ident", ["nosuch", NOBODY])
def test_a_registry_out_of_sight_is_404_and_nothing_is_created(
    cloud: Cloud, alice: Client, bob: Client, ident: str
) -> None:
    create(bob, name="his")
    for name in (ident, "his"):
        assert alice.error("POST /containers", {"image": "app", "registry": name}) == (
            404,
            "container.registry-not-found",
            f"Registry {name} could not be found.",
        )
    assert cloud.rows() == []


def test_an_image_that_cannot_be_in_the_registry_is_refused(cloud: Cloud, alice: Client) -> None:
    create(alice, name="mine")
    long = "a" * 250
    assert alice.error("POST /containers", {"image": long, "registry": "mine"})[0] == 400
    assert cloud.rows() == []


def test_the_node_s_default_registry_is_for_what_names_none(new_cloud: NewCloud) -> None:
    options = {"default_registry": "mirror.example.com", "default_registry_username": "node"}
    cloud = new_cloud(docker={**options, "default_registry_password": "of-the-node"})
    cloud.engine.logins["mirror.example.com"] = {"node": "of-the-node"}
    alice = cloud.user("alice", project="red")
    create(alice, name="mine")
    for fields in ({"image": "app"}, {"image": "app", "registry": "mine"}, {"image": "other.com/app"}):
        alice.created(**fields)
    pulled = set(cloud.engine.images) - {IMAGE}
    assert pulled == {"mirror.example.com/app:latest", f"{DOMAIN}/app:latest", "other.com/app:latest"}


def test_a_registry_in_use_stays_and_goes_when_it_is_not(cloud: Cloud, alice: Client) -> None:
    registry = create(alice, name="mine")["uuid"]
    uuid = alice.created(image="team/app", registry="mine")
    status, code, text = alice.error("DELETE /registries/mine")
    assert (status, code) == (409, "container.conflict")
    assert text.startswith(f"Failed to delete registry {registry} since it is in use.")

    alice.call(f"DELETE /containers/{uuid}")
    alice.wait_gone(uuid)
    alice.call("DELETE /registries/mine")


def test_a_container_may_show_a_registry_that_its_reader_cannot_see(cloud: Cloud, alice: Client) -> None:
    """An administrator may refer to any project's registry: the list must not fail over it."""
    registry = create(alice, name="mine")["uuid"]
    admin = cloud.user("anna", project="blue", role="admin")
    bob = cloud.user("bob", project="blue")
    uuid = admin.created(image="team/app", registry=registry)
    assert (bob.show(uuid) or {})["registry_id"] == registry
    assert bob.error(f"GET /registries/{registry}")[0] == 404
    assert [each["registry_id"] for each in bob.call("GET /containers")["containers"]] == [registry]


def test_the_registry_is_newer_than_1_30(alice: Client) -> None:
    create(alice, name="mine")
    body = {"image": "team/app", "registry": "mine"}
    assert alice.error("POST /containers", body, version="1.30")[:2] == (
        400,
        "container.invalid-param-in-version",
    )
    assert alice.request("POST /containers", body, version="1.31").status_code == 202


def test_a_refused_container_keeps_its_registry(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    alice = cloud.user("alice", project="red")
    registry = create(alice, name="mine")["uuid"]
    uuid = alice.create(image="team/app", registry="mine", availability_zone="nowhere")
    assert alice.wait(uuid, "Error")["registry_id"] == registry


def test_a_private_image_is_for_those_who_may_pull_it(cloud: Cloud, alice: Client, bob: Client) -> None:
    cloud.engine.logins[DOMAIN] = {"red-robot": SECRET, "blue-robot": "other"}
    create(alice, name="reds", username="red-robot", password=SECRET)
    alice.created(image="team/app", registry="reds")

    stolen = bob.create(image=f"{DOMAIN}/team/app")
    assert "unauthorized" in bob.wait(stolen, "Error")["status_reason"]

    create(bob, name="blues", username="blue-robot", password="other")
    bob.created(image="team/app", registry="blues")
    cloud.restart()
    bob.created(image=f"{DOMAIN}/team/app")
    alice.created(image=IMAGE)


def test_a_node_forgets_whose_an_image_was_that_is_gone(new_cloud: NewCloud, tmp_path: pathlib.Path) -> None:
    def known() -> dict[str, list[str]]:
        [file] = tmp_path.rglob(ACCESS_FILE)
        return dict(json.loads(file.read_text())["projects"])

    cloud = new_cloud(agent={"upkeep_interval": 1})
    cloud.engine.logins[DOMAIN] = {"robot": SECRET}
    alice = cloud.user("alice", project="red")
    create(alice, name="mine", username="robot", password=SECRET)
    uuid = alice.created(image="team/app", registry="mine")
    alice.call(f"DELETE /containers/{uuid}")
    alice.wait_gone(uuid)
    name = f"{DOMAIN}/team/app:latest"
    assert known() == {cloud.engine.images[name].id: ["red"]}

    with cloud.engine.lock:
        del cloud.engine.images[name]
    cloud.clock.advance(2)

    until(known, lambda found: not found)


# --- secrets stay where they are ------------------------------------------------------------------------


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that goes over the bus."""
    seen: list[str] = []
    send = inprocess.InProcessDriver.send

    def spy(driver: Any, target: Any, ctxt: Any, message: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(repr((ctxt, message)))
        return send(driver, target, ctxt, message, *args, **kwargs)

    monkeypatch.setattr(inprocess.InProcessDriver, "send", spy)
    return seen


def test_a_password_is_in_no_log_row_or_message(
    cloud: Cloud, alice: Client, frames: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    cloud.engine.logins[DOMAIN] = {"robot": SECRET}
    create(alice, name="mine", username="robot", password=SECRET)
    create(alice, name="wrong", username="robot", password="guessed-wrongly")
    alice.running(image="team/app", registry="mine")
    alice.wait(alice.create(image="team/other", registry="wrong"), "Error")
    cloud.wait_idle()

    rows = cloud.database.read(
        lambda session: [
            {column.name: getattr(row, column.name) for column in row.__table__.columns}
            for table in (Container, ContainerAction, ContainerActionEvent, Registry)
            for row in session.scalars(select(table))
        ]
    )
    assert frames
    assert caplog.text
    token = next(row["password"] for row in rows if row.get("name") == "mine")
    for where in (caplog.text, repr(rows), repr(frames)):
        assert SECRET not in where
        assert "guessed-wrongly" not in where
    assert token not in caplog.text + repr(frames)
