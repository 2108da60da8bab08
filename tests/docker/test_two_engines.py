"""One cloud of two nodes whose Docker Engines are of different versions: the session's, and another one's."""

import contextlib
import dataclasses
import functools
import pathlib
from collections.abc import Iterator

import docker
import pytest

from tests.support.databases import Servers
from tests.support.engines import BUSYBOX, SUITE, private_engine, url
from tests.support.programs import Programs
from tests.support.proxy import EngineProxy
from tests.support.rabbitmq import RabbitMQ
from tests.support.service import Http
from tests.support.waiting import DEADLINE, until
from tierce.runtimes.docker.connection import NEWEST_API

ANOTHER = "trixie" if SUITE == "host" else "host"
OWNED: dict[str, str | list[str] | bool] = {"label": "tierce.node"}
COMMAND = ["sh", "-c", "trap 'exit 0' TERM; echo from $0 here; sleep 1000 & wait", "it"]


@dataclasses.dataclass(frozen=True)
class Node:
    host: str
    directory: pathlib.Path
    """Of its Engine."""
    proxy: EngineProxy
    """Between its agent and its Engine."""

    @property
    def api_version(self) -> str:
        """The newest version of Docker's API that its Engine and Tierce speak."""
        with contextlib.closing(docker.DockerClient(url(self.directory))) as engine:
            offered = str(engine.version()["ApiVersion"])
        return min(offered, NEWEST_API, key=lambda version: [int(part) for part in version.split(".")])

    def has(self) -> tuple[list[str], list[str]]:
        """Names of the containers and networks that were made in its Engine."""
        with contextlib.closing(docker.DockerClient(url(self.directory))) as engine:
            containers = engine.containers.list(all=True, filters=OWNED, ignore_removed=True)
            networks = engine.networks.list(filters=OWNED)
        return [str(each.name) for each in containers], [str(each.name) for each in networks]


@pytest.fixture(scope="module")
def nodes(docker_engine_directory: pathlib.Path) -> Iterator[list[Node]]:
    with private_engine(ANOTHER) as another, contextlib.ExitStack() as stack:
        nodes = []
        for host, directory in (("node1", docker_engine_directory), ("node2", another)):
            run = directory / "run"
            nodes.append(Node(host, directory, EngineProxy(run / "two.sock", run / "docker.sock")))
            nodes[-1].proxy.on()
            stack.callback(nodes[-1].proxy.off)
        yield nodes


@pytest.fixture(scope="module")
def http(nodes: list[Node], servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http]:
    """A client of a cloud whose agents are processes, each with its Engine and a state of its own."""
    with contextlib.ExitStack() as stack:
        rabbitmq = stack.enter_context(contextlib.closing(RabbitMQ()))
        database_url = stack.enter_context(servers.database("mariadb"))
        directory = tmp_path_factory.mktemp("two-engines")
        programs = Programs(directory, rabbitmq.url(), database_url, [])
        for node in nodes:
            # An Engine may see nothing but its own directory, and has to see the volumes.
            options = {
                "container_driver": "docker",
                "default_image_pull_policy": "ifnotpresent",
                "state_path": node.directory / "two",
            }
            programs.agents[node.host] = programs.agent(
                node.host, DEFAULT=options, docker={"api_url": node.proxy.url}
            )
        stack.callback(programs.stop)
        programs.start()
        yield stack.enter_context(contextlib.closing(Http(programs)))


def test_containers_live_on_engines_of_different_versions(http: Http, nodes: list[Node]) -> None:
    assert len({node.api_version for node in nodes}) == len(nodes)
    mounts = [{"type": "volume", "size": 1, "destination": "/scratch"}]
    there = {
        node: http.create(image=BUSYBOX, command=COMMAND, host=node.host, mounts=mounts) for node in nodes
    }
    for node, uuid in there.items():
        assert http.wait(uuid, "Running")["host"] == node.host
        assert node.has()[0] == [f"zun-{uuid}"]
        logs = functools.partial(http.call, "GET", f"/containers/{uuid}/logs")
        until(logs, lambda log: "from it here" in log)
        done = http.call("POST", f"/containers/{uuid}/execute?command=sh+-c+'echo+$((6*7))'&run=true")
        assert (done["output"], done["exit_code"]) == ("42\n", 0)

    for node, uuid in there.items():
        node.proxy.hold(f"/v{node.api_version}/")
        http.call("POST", f"/containers/{uuid}/stop")
        assert node.proxy.holding.wait(DEADLINE), (
            f"{node.host} is not asked in the version {node.api_version}"
        )
        node.proxy.release()
        http.wait(uuid, "Stopped")
        http.call("POST", f"/containers/{uuid}/start")
        http.wait(uuid, "Running")

    for uuid in there.values():
        http.call("DELETE", f"/containers/{uuid}?stop=true")
    for node, uuid in there.items():
        http.wait(uuid, None)
        assert node.has() == ([], [])
        assert list((node.directory / "two" / "mnt").glob("*-*")) == []
