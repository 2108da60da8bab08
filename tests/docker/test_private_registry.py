"""A registry with passwords and TLS, a real Engine, and the standalone service between them."""

import os
import pathlib
import secrets
import stat
import subprocess
import uuid
from collections.abc import Iterator

import docker
import pytest
from keystoneauth1 import loading, session
from zunclient import api_versions, exceptions
from zunclient.v1.client import Client

from tests.support.containers import POLITE
from tests.support.engines import SUPPORT, url
from tests.support.private_registry import ADDRESS, private_registry
from tests.support.service import Http, Service, running
from tests.support.team import Team

REPOSITORY = f"{ADDRESS}/team/app"
USERS = {"red-robot": secrets.token_urlsafe(12), "blue-robot": secrets.token_urlsafe(12)}


@pytest.fixture(scope="module")
def served(
    docker_engine_directory: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[pathlib.Path]:
    """The registry serves; the directory of its Engine."""
    with private_registry(docker_engine_directory, tmp_path_factory.mktemp("registry"), USERS):
        yield docker_engine_directory


@pytest.fixture
def image(served: pathlib.Path, engine: docker.DockerClient) -> str:
    """The path and tag of an image that is in the registry, and was never on the Engine for anybody."""
    tag = uuid.uuid4().hex
    environment = {**os.environ, "DOCKER_HOST": url(served)}
    script = [SUPPORT / "image.sh", f"{REPOSITORY}:{tag}"]
    subprocess.run(script, env=environment, check=True, capture_output=True)
    login = {"username": "red-robot", "password": USERS["red-robot"]}
    report = engine.images.push(REPOSITORY, tag, auth_config=login)
    assert "errorDetail" not in report, report
    engine.images.remove(f"{REPOSITORY}:{tag}")
    return f"team/app:{tag}"


@pytest.fixture(autouse=True)
def _nothing_left(engine: docker.DockerClient, team: Team) -> Iterator[None]:
    """Containers, registries and the image go after each test."""
    yield
    team.delete_all()
    olga = team.client("olga")
    for registry in olga.call("GET", "/registries?all_projects=true")["registries"]:
        olga.call("DELETE", f"/registries/{registry['uuid']}")
    for image in engine.images.list(REPOSITORY):
        engine.images.remove(image.id, force=True)


def registry(client: Http, user: str, password: str, name: str = "ours") -> str:
    body = {"registry": {"name": name, "domain": ADDRESS, "username": user, "password": password}}
    return str(client.call("POST", "/registries", json=body)["registry"]["uuid"])


def test_an_image_of_a_private_registry_runs(ann: Http, engine: docker.DockerClient, image: str) -> None:
    ours = registry(ann, "red-robot", USERS["red-robot"])
    made = ann.create(image=image, registry="ours", command=POLITE)
    found = ann.wait(made, "Running")
    assert (found["image"], found["registry_id"]) == (image, ours)
    assert engine.containers.get(f"zun-{made}").image.tags == [f"{ADDRESS}/{image}"]


@pytest.mark.parametrize("user", ["red-robot", "nobody"])
def test_a_wrong_password_is_an_error_that_says_what_to_look_at(
    ann: Http, team: Team, image: str, user: str
) -> None:
    wrong = secrets.token_urlsafe(12)
    ours = registry(ann, user, wrong)
    found = ann.wait(ann.create(image=image, registry="ours"), "Error")
    for part in ("ours", ours, ADDRESS, user, "password"):
        assert part in found["status_reason"]
    assert wrong not in found["status_reason"] + team.service.log


def test_a_password_that_is_corrected_works_at_once(ann: Http, image: str) -> None:
    registry(ann, "red-robot", "guessed")
    ann.wait(ann.create(image=image, registry="ours"), "Error")
    change = {"registry": {"password": USERS["red-robot"]}}
    ann.call("PATCH", "/registries/ours", json=change)
    ann.wait(ann.create(image=image, registry="ours", command=POLITE), "Running")


@pytest.mark.parametrize("by", ["tag", "digest"])
def test_another_project_cannot_use_what_the_engine_has(
    team: Team, ann: Http, bob: Http, engine: docker.DockerClient, image: str, by: str
) -> None:
    registry(ann, "red-robot", USERS["red-robot"])
    ann.wait(ann.create(image=image, registry="ours", command=POLITE), "Running")
    present = engine.images.get(f"{ADDRESS}/{image}")
    name = {"tag": f"{ADDRESS}/{image}", "digest": present.attrs["RepoDigests"][0]}[by]

    bob.wait(bob.create(image=name, command=POLITE), "Error")
    olga = team.client("olga")
    for policy in ("always", "ifnotpresent", "never"):
        olga.wait(olga.create(image=name, image_pull_policy=policy, command=POLITE), "Error")

    registry(bob, "blue-robot", USERS["blue-robot"])
    bob.wait(bob.create(image=name, registry="ours", command=POLITE), "Running")
    bob.wait(bob.create(image=name, command=POLITE), "Running")


def test_an_image_is_not_to_be_had_by_its_id(
    ann: Http, bob: Http, engine: docker.DockerClient, image: str
) -> None:
    registry(ann, "red-robot", USERS["red-robot"])
    ann.wait(ann.create(image=image, registry="ours", command=POLITE), "Running")
    whole = engine.images.get(f"{ADDRESS}/{image}").id
    for name in (whole, whole[:16], whole.removeprefix("sha256:")):
        answer = bob.raw("POST", "/containers", json={"image": name, "memory": "64"})
        assert answer.status_code == 400, answer.text


def test_passwords_survive_a_change_of_keys_and_are_nowhere_in_clear(
    served: pathlib.Path, image: str
) -> None:
    service = Service(served / "keys", url(served))
    key_file = service.home / "auth_encryption_key"
    with running(service):
        client = Http(service)
        registry(client, "red-robot", USERS["red-robot"])
        old = key_file.read_text()
        assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
        service.stop()

        key_file.write_text(f"{secrets.token_urlsafe(24)}\n{old}")
        service.start()
        assert service.tierce("registry", "rotate") == "1 of 1 passwords encrypted anew.\n"
        assert service.tierce("registry", "rotate") == "0 of 1 passwords encrypted anew.\n"
        service.stop()

        key_file.write_text(key_file.read_text().splitlines()[0] + "\n")
        service.start()
        made = client.create(image=image, registry="ours", command=POLITE)
        client.wait(made, "Running")
        client.call("DELETE", f"/containers/{made}?force=true")
        client.wait(made, None)
    for file in service.home.rglob("*"):
        if file.is_file():
            assert USERS["red-robot"].encode() not in file.read_bytes(), file


def test_a_service_with_the_published_key_does_not_start(tmp_path: pathlib.Path, docker_engine: str) -> None:
    options = {"DEFAULT": {"auth_encryption_key": "notgood but just long enough i t"}}
    service = Service(tmp_path / "home", docker_engine, options=options)
    service.start(wait=False)
    assert service.process is not None
    assert service.process.wait(30) == 1
    assert "published default" in service.log


# --- python-zunclient ---------------------------------------------------------------------------------


def test_python_zunclient_keeps_registries(team: Team, image: str) -> None:
    options = {"endpoint": team.service.url, "username": "ann", "password": team.passwords["ann"]}
    plugin = loading.get_plugin_loader("http_basic").load_from_options(**options)
    zun = Client(session=session.Session(auth=plugin), api_version=api_versions.APIVersion("1.40"))

    made = zun.registries.create(name="ours", domain=ADDRESS, username="red-robot", password="x").registry
    assert (made["name"], made["domain"], made["password"]) == ("ours", ADDRESS, "***")
    zun.registries.create(domain="other.example.com")
    assert [each.domain for each in zun.registries.list()] == [ADDRESS, "other.example.com"]
    assert [each.domain for each in zun.registries.list(name="ours")] == [ADDRESS]
    assert len(zun.registries.list(limit=1)) == 1
    assert zun.registries.get("ours").registry == made

    changed = zun.registries.update(made["uuid"], password=USERS["red-robot"], name="renamed").registry
    assert changed == {**made, "name": "renamed"}
    container = zun.containers.run(image=image, registry="renamed", memory="64", command=POLITE)
    assert container.registry_id == made["uuid"]
    with pytest.raises(exceptions.Conflict):
        zun.registries.delete("renamed")
    (other,) = zun.registries.list(domain="other.example.com")
    zun.registries.delete(other.uuid)
    assert [each.domain for each in zun.registries.list()] == [ADDRESS]
