"""The Docker Engine of a node is stopped and started under its agent, in the middle of its work."""

import contextlib
import pathlib
import random
from collections.abc import Iterator

import docker
import pytest

from tests.support import dockerd
from tests.support.databases import Servers
from tests.support.engines import BUSYBOX, private_engine, url
from tests.support.programs import NEVER, Programs
from tests.support.rabbitmq import RabbitMQ
from tests.support.soundness import OWNED, Seen
from tests.support.storm import Storm, Table

POLITE = ["sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait"]
BODIES = ({"image": BUSYBOX, "command": POLITE}, {"image": BUSYBOX, "command": POLITE, "auto_heal": True})

DOWN = 4
"""Requests accepted while it is down."""


@pytest.fixture
def engine() -> Iterator[pathlib.Path]:
    with private_engine() as directory:
        yield directory


STATUSES = {"created": "Created", "running": "Running", "paused": "Paused", "exited": "Stopped"}


def seen_in(client: docker.DockerClient) -> Seen:
    label: dict[str, str | list[str] | bool] = {"label": OWNED}
    return Seen(
        {
            str(each.name): STATUSES.get(each.status, each.status)
            for each in client.containers.list(all=True, filters=label, ignore_removed=True)
        },
        [str(each.name) for each in client.networks.list(filters=label)],
    )


def test_dockerd_restarted_and_down_for_a_while(
    rabbitmq: RabbitMQ, servers: Servers, engine: pathlib.Path, table: Table, rng: random.Random
) -> None:
    with contextlib.ExitStack() as stack:
        database_url = stack.enter_context(servers.database("mariadb"))
        # The Engine may see nothing but its own directory, and has to see the volumes.
        home = engine / "cloud"
        home.mkdir()
        programs = Programs(
            home,
            rabbitmq.url(),
            database_url,
            ["node1"],
            DEFAULT={"container_driver": "docker", "default_image_pull_policy": "ifnotpresent"},
            docker={"api_url": url(engine)},
            agent={
                "poll_interval": NEVER,
                "graceful_stop": 5,
                "retry_interval": 1,
                "unreachable_retries": 30,
            },
        )
        client = stack.enter_context(contextlib.closing(docker.DockerClient(url(engine))))
        storm = Storm(home, programs, database_url, lambda: {"node1": seen_in(client)}, table)
        stack.callback(storm.close)
        stack.callback(programs.stop)
        programs.start()
        with storm.load(21, clients=2, bodies=BODIES) as load:
            load.wait_for_more(rng.randint(3, 8))
            dockerd.restart(engine)
            storm.faults += 1
            load.wait_for_more(rng.randint(3, 8))
            start = dockerd.stop(engine)
            storm.faults += 1
            load.wait_for_more(DOWN)
            dockerd.start(engine, start)
            load.wait_for_more(8)
        storm.account("dockerd restarted, and down for a while", load.record)
