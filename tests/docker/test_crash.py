"""Killed by SIGKILL at any point of a create or a delete, the service finishes the work after a restart:
once, and with nothing left over in Docker.
"""

import contextlib
import pathlib
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

import docker
import pytest

from tests.support.engines import BUSYBOX
from tests.support.forked import Forked
from tests.support.service import Http, Service
from tests.support.waiting import until

CRASHING = (sys.executable, str(pathlib.Path(__file__).parents[1] / "support" / "crash.py"))

CREATE_STEPS = [
    (step, moment) for step in ("image", "volumes", "networks", "container") for moment in ("before", "after")
]
CREATE_POINTS = [
    "commit",
    *(f"step create {step} {moment}" for step, moment in CREATE_STEPS),
    "step create compute__do_container_create committed",
    "step create started before",
    "step create started after",
    "step create compute__do_container_start committed",
]
DELETE_POINTS = [
    "commit",
    *(
        f"step delete {step} {moment}"
        for step in ("stopped", "container", "networks", "volumes")
        for moment in ("before", "after")
    ),
    "step delete compute__do_container_delete committed",
]
REBUILD_POINTS = [
    "commit",
    "step rebuild removed before",
    "step rebuild removed after",
    "step rebuild container after",
    "step rebuild compute__do_container_rebuild committed",
    "step rebuild started after",
]
"""Where the old container is there, neither is, the new one is, and it has begun to run."""

CREATE_ENGINE_CALLS = 7
DELETE_ENGINE_CALLS = 5


@pytest.fixture(scope="module")
def engine(docker_engine: str) -> Iterator[docker.DockerClient]:
    client = docker.DockerClient(docker_engine)
    yield client
    client.close()


@pytest.fixture
def service(tmp_path: pathlib.Path, docker_engine: str) -> Iterator[Service]:
    made = Service(tmp_path / "home", docker_engine, command=CRASHING, launch=Forked)
    yield made
    if made.process is not None:
        made.kill()


def ours(service: Service, engine: docker.DockerClient) -> tuple[list[str], list[str]]:
    """Names of this service's containers and networks in the Engine."""
    label = {"label": f"tierce.node={first(service, 'SELECT uuid FROM compute_node')}"}
    return (
        [
            container.name
            for container in engine.containers.list(all=True, filters=label, ignore_removed=True)
        ],
        [network.name for network in engine.networks.list(filters=label)],
    )


def request_create(http: Http) -> None:
    """A container that notes each of its starts in a volume that outlives it."""
    try:
        http.create(
            name="victim",
            image=BUSYBOX,
            command=["sh", "-c", "trap 'exit 0' TERM; echo started >> /notes/log; sleep 1000 & wait"],
            mounts=[
                {"type": "volume", "source": "notes", "destination": "/notes"},
                {"type": "volume", "size": 1, "destination": "/scratch"},
            ],
        )
    except OSError:
        # The service died before it could answer.
        return


def request_delete(http: Http) -> None:
    try:
        http.raw("DELETE", "/containers/victim", params={"stop": "true"})
    except OSError:
        return


def starts(service: Service) -> int:
    logs = list((service.home / "mnt").glob("named/*/notes/log"))
    return sum(len(log.read_text().splitlines()) for log in logs)


def await_start(service: Service) -> None:
    """The container runs before its program has written its note."""
    until(lambda: starts(service))


def first(service: Service, query: str) -> Any:
    """The first value that the service's database answers."""
    with contextlib.closing(sqlite3.connect(service.home / "tierce.sqlite")) as connection:
        return connection.execute(query).fetchone()[0]


def await_death(service: Service) -> None:
    assert service.process is not None
    assert service.process.wait(30) == -9, service.log
    service.process = None


def delete_and_check_nothing_is_left(service: Service, http: Http, engine: docker.DockerClient) -> None:
    if http.show("victim") is not None:
        http.call("DELETE", "/containers/victim?force=true")
        http.wait("victim", None)
    assert ours(service, engine) == ([], [])
    leftovers = [path.name for path in (service.home / "mnt").glob("*-*")]
    assert leftovers == []
    for table in ("container", "container_actions", "volume", "volume_mapping", "tierce_allocation"):
        assert first(service, f"SELECT count(*) FROM {table}") == 0, table


def interrupted(service: Service, point: str) -> dict[str, str]:
    return {"TIERCE_CRASH_AT": point}


def check_create(service: Service, engine: docker.DockerClient, point: str) -> None:
    service.start(interrupted(service, point))
    http = Http(service)
    request_create(http)
    await_death(service)

    service.start()
    container = http.wait("victim", "Running")
    assert container["status_reason"] is None
    containers, networks = ours(service, engine)
    assert containers == [f"zun-{container['uuid']}"]
    assert len(networks) == 1
    await_start(service)
    assert starts(service) == 1
    assert [
        action["message"]
        for action in http.call("GET", "/containers/victim/container_actions")["containerActions"]
    ] == [None]
    delete_and_check_nothing_is_left(service, http, engine)
    assert service.stop() == 0


def check_delete(service: Service, engine: docker.DockerClient, point: str) -> None:
    service.start()
    http = Http(service)
    request_create(http)
    http.wait("victim", "Running")
    assert service.stop() == 0

    service.start(interrupted(service, point))
    request_delete(http)
    await_death(service)

    service.start()
    http.wait("victim", None)
    delete_and_check_nothing_is_left(service, http, engine)
    assert service.stop() == 0


def check_rebuild(service: Service, engine: docker.DockerClient, point: str) -> None:
    service.start()
    http = Http(service)
    request_create(http)
    old = http.wait("victim", "Running")
    await_start(service)
    before = engine.containers.get(f"zun-{old['uuid']}")
    assert service.stop() == 0

    service.start(interrupted(service, point))
    with contextlib.suppress(OSError):  # it died before it could answer
        http.raw("POST", "/containers/victim/rebuild")
    await_death(service)

    service.start()
    container = http.wait("victim", "Running")
    assert container["status_reason"] is None
    containers, networks = ours(service, engine)
    assert (containers, len(networks)) == ([f"zun-{container['uuid']}"], 1)
    assert engine.containers.get(containers[0]).id != before.id
    until(lambda: starts(service), lambda count: count == 2)
    delete_and_check_nothing_is_left(service, http, engine)
    assert service.stop() == 0


@pytest.mark.parametrize("point", REBUILD_POINTS)
def test_rebuild_survives_a_kill_at_each_step(
    service: Service, engine: docker.DockerClient, point: str
) -> None:
    check_rebuild(service, engine, point)


@pytest.mark.parametrize("point", CREATE_POINTS)
def test_create_survives_a_kill_at_each_step(
    service: Service, engine: docker.DockerClient, point: str
) -> None:
    check_create(service, engine, point)


@pytest.mark.parametrize("point", DELETE_POINTS)
def test_delete_survives_a_kill_at_each_step(
    service: Service, engine: docker.DockerClient, point: str
) -> None:
    check_delete(service, engine, point)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", range(1, CREATE_ENGINE_CALLS + 1))
def test_create_survives_a_kill_around_each_engine_call(
    service: Service, engine: docker.DockerClient, call: int, moment: str
) -> None:
    check_create(service, engine, f"engine {moment} {call}")


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", range(1, DELETE_ENGINE_CALLS + 1))
def test_delete_survives_a_kill_around_each_engine_call(
    service: Service, engine: docker.DockerClient, call: int, moment: str
) -> None:
    check_delete(service, engine, f"engine {moment} {call}")


def test_the_engine_calls_are_those_that_are_interrupted_above(
    service: Service, engine: docker.DockerClient, tmp_path: pathlib.Path
) -> None:
    """One call more than the tests above interrupt would be a point that nobody has tried."""
    service.start({"TIERCE_CRASH_COUNT": str(tmp_path / "create")})
    http = Http(service)
    request_create(http)
    http.wait("victim", "Running")
    service.stop()
    service.start({"TIERCE_CRASH_COUNT": str(tmp_path / "delete")})
    request_delete(http)
    http.wait("victim", None)
    service.stop()
    counts = [(tmp_path / action).read_text().splitlines() for action in ("create", "delete")]
    assert [len(calls) for calls in counts] == [CREATE_ENGINE_CALLS, DELETE_ENGINE_CALLS], counts
