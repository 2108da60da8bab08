"""A cloud of two nodes as real processes, with a RabbitMQ of their own, for tests stop it, and a MariaDB."""

import pathlib
from collections.abc import Iterator

import pytest

from tests.support.databases import Servers
from tests.support.programs import Programs
from tests.support.rabbitmq import RabbitMQ
from tests.support.service import Http


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    broker = RabbitMQ()
    yield broker
    broker.close()


@pytest.fixture(scope="session")
def running(
    rabbitmq: RabbitMQ, servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Programs]:
    directory = tmp_path_factory.mktemp("cloud")
    with servers.database("mariadb") as database_url:
        programs = Programs(directory, rabbitmq.url(), database_url, ["node1", "node2"])
        programs.start()
        yield programs
        programs.stop()


@pytest.fixture
def programs(running: Programs) -> Iterator[Programs]:
    """The cloud, whole again after each test."""
    yield running
    for host, agent in running.agents.items():
        if not agent.runs:
            agent.start()
        running.wait_state(host, "up")


@pytest.fixture
def http(programs: Programs) -> Http:
    return Http(programs)


@pytest.fixture
def alone(
    request: pytest.FixtureRequest, rabbitmq: RabbitMQ, servers: Servers, tmp_path: pathlib.Path
) -> Iterator[Programs]:
    """A cloud for one test, of which nothing runs yet. A parameter is what its programs have in [DEFAULT]."""
    options = getattr(request, "param", {})
    with servers.database("mariadb") as database_url:
        programs = Programs(tmp_path, rabbitmq.url(), database_url, ["node1"], DEFAULT=options)
        yield programs
        programs.stop()
