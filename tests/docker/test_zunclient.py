"""python-zunclient, the library that other programs use, against the service on a real Engine.

Once with passwords and once without, as each of keystoneauth's two plugins for services without Keystone.
"""

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any

import docker
import pytest
from keystoneauth1 import loading, session
from zunclient import api_versions, exceptions
from zunclient.v1.client import Client

from tests.support.containers import FOREVER, POLITE, behind
from tests.support.engines import BUSYBOX
from tests.support.service import Service, running
from tests.support.team import Team
from tests.support.waiting import until


class Zun:
    """A client as its users make it, and what they write around it."""

    def __init__(self, session: session.Session) -> None:
        self._session = session
        self.client = self.at("1.40")

    def at(self, version: str) -> Client:
        return Client(session=self._session, api_version=api_versions.APIVersion(version))

    def run(self, **fields: Any) -> Any:
        """A container that runs."""
        fields.setdefault("command", FOREVER)
        made = self.client.containers.run(image=BUSYBOX, memory="64", **fields)
        return self.wait(made.uuid, "Running")

    def wait(self, ident: str, status: str) -> Any:
        return until(
            lambda: self.client.containers.get(ident),
            lambda found: found.status == status and found.task_state is None,
        )


@pytest.fixture(scope="module")
def open_service(docker_engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that asks nobody who they are."""
    with running(Service(tmp_path_factory.mktemp("open"), docker_engine, auth_strategy="noauth")) as service:
        yield service


@pytest.fixture(scope="module", params=["http_basic", "none"])
def zun(request: pytest.FixtureRequest) -> Zun:
    if request.param == "http_basic":
        team: Team = request.getfixturevalue("team")
        options = {"endpoint": team.service.url, "username": "olga", "password": team.passwords["olga"]}
    else:
        options = {"endpoint": request.getfixturevalue("open_service").url}
    plugin = loading.get_plugin_loader(request.param).load_from_options(**options)
    return Zun(session.Session(auth=plugin))


@pytest.fixture(autouse=True)
def _cleared(zun: Zun) -> Iterator[None]:
    yield
    for container in zun.client.containers.list():
        with contextlib.suppress(exceptions.NotFound):  # the test has deleted it
            zun.client.containers.delete(container.uuid, force=True)
    until(lambda: not zun.client.containers.list())


@pytest.fixture
def other_busybox(engine: docker.DockerClient) -> Iterator[str]:
    """An image that differs in little."""
    made = engine.containers.create(BUSYBOX, ["true"])
    made.commit("tierce-test/other", "1", changes='CMD ["other"]')
    made.remove()
    yield "tierce-test/other:1"
    engine.images.remove("tierce-test/other:1", force=True)


@pytest.fixture
def name() -> str:
    return f"box-{uuid.uuid4().hex[:8]}"


def test_create_leaves_it_to_be_started(zun: Zun, name: str) -> None:
    made = zun.client.containers.create(name=name, image=BUSYBOX, command=FOREVER, memory="64")
    assert (made.name, made.status) == (name, "Creating")
    assert zun.wait(name, "Created").status_detail == "Created"
    zun.client.containers.start(name)
    zun.wait(name, "Running")


def test_run_starts_it_and_show_tells_what_was_asked_for(zun: Zun, name: str) -> None:
    found = zun.run(name=name, environment={"COLOUR": "red"}, labels={"tier": "web"}, hostname="inside")
    assert (found.image, found.command, found.memory) == (BUSYBOX, FOREVER, "64")
    assert (found.environment, found.labels, found.hostname) == ({"COLOUR": "red"}, {"tier": "web"}, "inside")
    assert found.host == "node1"
    assert [address["version"] for entries in found.addresses.values() for address in entries] == [4]


def test_list_filters(zun: Zun, name: str) -> None:
    zun.run(name=name)
    made = zun.client.containers.create(name=f"{name}-2", image=BUSYBOX, memory="64")
    zun.wait(made.uuid, "Created")

    def names(**filters: str) -> list[str]:
        return sorted(each.name for each in zun.client.containers.list(**filters))

    assert names() == [name, f"{name}-2"]
    assert names(status="Running") == [name]
    assert names(name=f"{name}-2") == [f"{name}-2"]
    assert names(image=BUSYBOX, status="Created") == [f"{name}-2"]
    assert names(name="nobody") == []


def test_list_with_a_limit_follows_the_pages(zun: Zun, name: str) -> None:
    made = [
        zun.client.containers.create(name=f"{name}-{n}", image=BUSYBOX, memory="64").uuid for n in range(5)
    ]
    first = zun.client.containers.list(limit=2, sort_key="name")
    assert [each.uuid for each in first] == made[:2]
    rest = zun.client.containers.list(limit=2, marker=first[-1].uuid, sort_key="name")
    assert [each.uuid for each in rest] == made[2:4]
    assert len(zun.client.containers.list(limit=4)) == 4
    for ident in made:
        zun.wait(ident, "Created")


def test_execute_gives_output_and_exit_code(zun: Zun, name: str) -> None:
    zun.run(name=name)
    done = zun.client.containers.execute(name, command="sh -c 'echo out; exit 3'", run=True)
    assert (done["output"], done["exit_code"]) == ("out\n", 3)


def test_logs(zun: Zun, name: str) -> None:
    zun.run(name=name, command=["sh", "-c", "echo one; echo two; echo bad >&2; sleep 3600"])
    both = {"stdout": False, "stderr": False}  # to this client, neither means both
    until(lambda: zun.client.containers.logs(name, **both), lambda text: text.count("\n") == 3)
    assert zun.client.containers.logs(name, stdout=True, stderr=False) == "one\ntwo\n"
    assert zun.client.containers.logs(name, stdout=False, stderr=True) == "bad\n"
    assert zun.client.containers.logs(name, **both, tail="1").count("\n") == 1


def test_stats_and_top(zun: Zun, name: str) -> None:
    zun.run(name=name)
    stats = zun.client.containers.stats(name)
    assert stats["CONTAINER"] == name
    assert 0 < stats["MEM USAGE(MiB)"] < stats["MEM LIMIT(MiB)"] == 64
    top = zun.client.containers.top(name)
    assert [process[top["Titles"].index("CMD")] for process in top["Processes"]] == ["sleep 3600"]


def test_stop_start_and_restart(zun: Zun, name: str) -> None:
    zun.run(name=name)
    zun.client.containers.stop(name, timeout=0)
    assert zun.wait(name, "Stopped").status_detail.startswith("Exited(137)")
    zun.client.containers.start(name)
    zun.wait(name, "Running")
    zun.client.containers.execute(name, command="touch /dev/shm/mark", run=True)
    zun.client.containers.restart(name, timeout=0)
    zun.wait(name, "Running")
    mark = zun.client.containers.execute(name, command="test -e /dev/shm/mark", run=True)
    assert mark["exit_code"] == 1, "what a process left in memory is there: it was not restarted"


def test_pause_and_unpause(zun: Zun, name: str) -> None:
    zun.run(name=name)
    zun.client.containers.pause(name)
    assert zun.wait(name, "Paused").status_detail.endswith("(paused)")
    with pytest.raises(exceptions.Conflict, match="Paused"):
        zun.client.containers.execute(name, command="true", run=True)
    zun.client.containers.unpause(name)
    zun.wait(name, "Running")


def test_kill(zun: Zun, name: str) -> None:
    zun.run(name=name)
    zun.client.containers.kill(name, signal="SIGKILL")
    assert zun.wait(name, "Stopped").status_detail.startswith("Exited(137)")


def test_rename_while_the_protocol_had_it(zun: Zun, name: str) -> None:
    made = zun.run(name=name)
    zun.at("1.13").containers.rename(name, f"{name}-new")
    assert zun.client.containers.get(f"{name}-new").uuid == made.uuid
    with pytest.raises(exceptions.NotFound):
        zun.client.containers.get(name)
    with pytest.raises(exceptions.HttpError) as refused:
        zun.client.containers.rename(made.uuid, name)
    assert refused.value.http_status == 406


def test_delete_wants_it_stopped_or_force_or_stop(zun: Zun, name: str) -> None:
    for suffix in ("plain", "force", "stop"):
        zun.run(name=f"{name}-{suffix}", command=POLITE)
    with pytest.raises(exceptions.Conflict, match="Running"):
        zun.client.containers.delete(f"{name}-plain")
    zun.client.containers.stop(f"{name}-plain", timeout=10)
    zun.wait(f"{name}-plain", "Stopped")
    zun.client.containers.delete(f"{name}-plain")
    zun.client.containers.delete(f"{name}-force", force=True)
    zun.client.containers.delete(f"{name}-stop", stop=True)
    until(lambda: not zun.client.containers.list())


def test_the_record_of_actions(zun: Zun, name: str) -> None:
    zun.run(name=name)
    zun.client.containers.stop(name, timeout=0)
    zun.wait(name, "Stopped")
    actions = zun.client.actions.list(name)
    assert [each.action for each in actions] == ["stop", "create"]
    create = zun.client.actions.get(name, actions[1].request_id)
    assert [event["result"] for event in create.events] == ["Success", "Success"]
    assert create.finish_time >= create.start_time


def test_update_changes_name_healing_and_limits(zun: Zun, engine: docker.DockerClient, name: str) -> None:
    made = zun.run(name=name)
    changed = zun.client.containers.update(name, name=f"{name}-new", memory="128", cpu=0.5, auto_heal=True)
    assert (changed.name, changed.memory, changed.cpu) == (f"{name}-new", "128", 0.5)
    assert changed.auto_heal is True
    limits = behind(engine, made.uuid).attrs["HostConfig"]
    assert (limits["Memory"], limits["MemorySwap"]) == (128 * 2**20, 2 * 128 * 2**20)
    assert limits["CpuShares"] == 512
    assert zun.client.containers.stats(made.uuid)["MEM LIMIT(MiB)"] == 128


def test_rebuild_makes_another_container_of_another_image(
    zun: Zun, engine: docker.DockerClient, name: str, other_busybox: str
) -> None:
    made = zun.run(name=name)
    old = behind(engine, made.uuid)
    zun.client.containers.rebuild(name, image=other_busybox)
    found = zun.wait(name, "Running")
    assert (found.image, found.command) == (other_busybox, FOREVER)
    new = behind(engine, made.uuid)
    assert new.id != old.id
    assert zun.client.actions.list(name)[0].action == "rebuild"


def test_one_that_docker_loses_is_healed(zun: Zun, engine: docker.DockerClient, name: str) -> None:
    made = zun.run(name=name, auto_heal=True)
    old = behind(engine, made.uuid)
    old.remove(force=True)
    until(lambda: [action.message for action in zun.client.actions.list(name)], lambda found: len(found) == 2)
    zun.wait(name, "Running")
    assert behind(engine, made.uuid).id != old.id


def test_commit_makes_an_image_that_a_container_can_be_made_of(zun: Zun, name: str) -> None:
    zun.run(name=name)
    zun.client.containers.execute(name, command="sh -c 'echo kept > /note'", run=True)
    answer = zun.client.containers.commit(name, repository=f"copy-of/{name}", tag="1")
    image = until(lambda: image_of(zun, answer["uuid"]))
    assert image.image_id.startswith("sha256:")
    assert zun.client.containers.get(name).status == "Running"
    copy = zun.client.containers.run(
        name=f"{name}-copy", image=f"copy-of/{name}:1", command=["cat", "/note"], memory="64"
    )
    zun.wait(copy.uuid, "Stopped")
    assert zun.client.containers.logs(copy.uuid, stdout=True, stderr=True) == "kept\n"
    zun.client.containers.delete(copy.uuid)


def image_of(zun: Zun, ident: str) -> Any:
    """The image's record, when it is there."""
    try:
        return zun.client.images.get(ident)
    except exceptions.NotFound:
        return None


def test_services_and_hosts(zun: Zun) -> None:
    [service] = zun.client.services.list()
    assert (service.binary, service.host, service.state) == ("zun-compute", "node1", "up")
    [host] = zun.client.hosts.list()
    assert (host.hostname, host.os_type) == ("node1", "linux")
    assert host.cpus > 0
    assert zun.client.hosts.get(host.uuid).mem_total == host.mem_total > 0


def test_an_image_is_pulled_listed_used_and_removed(zun: Zun, image_in_registry: str, name: str) -> None:
    repository, _, tag = image_in_registry.rpartition(":")
    made = zun.client.images.create(repo=image_in_registry, host="node1")
    pulled = until(lambda: zun.client.images.get(made.uuid), lambda image: image.image_id)
    assert (pulled.repo, pulled.tag) == (repository, tag)
    assert pulled.image_id.startswith("sha256:")
    assert made.uuid in [image.uuid for image in zun.client.images.list()]
    run = zun.client.containers.run(
        name=name, image=image_in_registry, command=["echo", "pulled"], memory="64", image_pull_policy="never"
    )
    zun.wait(run.uuid, "Stopped")
    assert zun.client.containers.logs(name, stdout=True, stderr=True) == "pulled\n"
    with pytest.raises(exceptions.Conflict):
        zun.client.images.delete(made.uuid)
    zun.client.containers.delete(run.uuid)
    until(lambda: not zun.client.containers.list())
    zun.client.images.delete(made.uuid)
    assert image_of(zun, made.uuid) is None


@pytest.fixture
def _usable_again(zun: Zun) -> Iterator[None]:
    yield
    zun.client.services.enable("node1", "zun-compute")
    zun.client.services.force_down("node1", "zun-compute", False)


@pytest.mark.usefixtures("_usable_again")
def test_what_operators_do_with_nodes(zun: Zun) -> None:
    services, node = zun.client.services, ("node1", "zun-compute")
    assert services.disable(*node, "disks")[1]["service"]["disabled_reason"] == "disks"
    assert services.enable(*node)[1]["service"]["disabled"] is False
    assert services.force_down(*node, True)[1]["service"]["forced_down"] is True
    with pytest.raises(exceptions.Conflict, match="not up"):
        zun.client.images.create(repo="nginx", host="node1")
    assert services.force_down(*node, False)[1]["service"]["forced_down"] is False
    with pytest.raises(exceptions.NotFound, match="node2"):
        services.delete("node2", "zun-compute")
    [zone] = zun.client.availability_zones.list()
    assert zone.availability_zone == "nova"


def test_limits(zun: Zun) -> None:
    quotas, classes = zun.client.quotas, zun.client.quota_classes
    assert quotas.update("nobody-s", cpu=3, memory=4096).cpu == 3
    assert quotas.get("nobody-s", usages=True).cpu == {"limit": 3, "in_use": 0}
    assert quotas.get("nobody-s").memory == 4096
    quotas.delete("nobody-s")
    assert quotas.get("nobody-s").to_dict() == quotas.defaults("nobody-s").to_dict()
    assert classes.update("other", disk=4).disk == 4
    assert classes.get("other").disk == 4


def test_a_search_elsewhere_is_refused(zun: Zun) -> None:
    with pytest.raises(exceptions.BadRequest, match="public registry"):
        zun.client.images.search_image("reg.example.com/team/app")


def test_security_groups_while_the_protocol_had_them(zun: Zun, name: str) -> None:
    zun.run(name=name)
    older = zun.at("1.14").containers
    for act in (older.add_security_group, older.remove_security_group):
        with pytest.raises(exceptions.BadRequest, match="Security group web not found"):
            act(name, security_group="web")


def test_the_version_is_found_out(zun: Zun) -> None:
    [version] = zun.client.versions.list()
    assert (version.status, version.min_version, version.max_version) == ("CURRENT", "1.1", "1.40")


def test_a_refusal_tells_why(zun: Zun) -> None:
    with pytest.raises(exceptions.BadRequest, match="memory"):
        zun.client.containers.create(image=BUSYBOX, memory="much")
    with pytest.raises(exceptions.NotFound, match="nobody"):
        zun.client.containers.get("nobody")
