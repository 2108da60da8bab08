"""Several nodes filled by several projects at once: nothing is given twice, and nothing is left."""

import dataclasses
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy.orm import Session

from tests.support.client import IMAGE, Client
from tests.support.cloud import FACTS, Cloud
from tests.support.databases import Servers, connection
from tests.support.threads import at_once
from tierce import config
from tierce.model.container import NodeFacts
from tierce.model.numa import Cell
from tierce.placement.base import Resources
from tierce.placement.builtin import BuiltinPlacement

NewCloud = Callable[..., Cloud]

HOSTS = ("node1", "node2", "node3")
SMALL = dataclasses.replace(
    FACTS, cpus=4, memory_total=4096, numa=[Cell(0, (0, 1), 2048), Cell(1, (2, 3), 2048)]
)
PROJECTS = 4
"""As many locks of quotas: creates of one project wait for each other before they come to the nodes."""


@pytest.fixture
def new_cloud(tmp_path: pathlib.Path, url: str) -> Iterator[NewCloud]:
    clouds: list[Cloud] = []

    def make(facts: NodeFacts = SMALL, **compute: object) -> Cloud:
        clouds.append(
            Cloud(tmp_path, hosts=HOSTS, facts=facts, database={"connection": url}, compute=compute)
        )
        return clouds[0]

    yield make
    for cloud in clouds:
        cloud.close()


def create(client: Client, body: dict[str, object]) -> int:
    return client.request("POST /containers", {"image": IMAGE, "cpu": 1, "memory": 16, **body}).status_code


def from_all(cloud: Cloud, **body: object) -> Counter[str | None]:
    """24 creates of all projects at once; how many are on which node (None: on none)."""
    clients = [cloud.user(f"user{number}", project=f"p{number}") for number in range(PROJECTS)]
    answers = at_once([lambda client=client: create(client, body) for client in clients for _ in range(6)])
    assert answers == [202] * 24
    cloud.wait_sound()
    return Counter(row.host for row in cloud.rows())


def test_each_node_gets_as_many_as_it_has_cpus(new_cloud: NewCloud) -> None:
    cloud = new_cloud(initial_cpu_allocation_ratio=1.0)
    assert from_all(cloud) == {"node1": 4, "node2": 4, "node3": 4, None: 12}
    assert Counter(claim.host for claim in cloud.claims().values()) == dict.fromkeys(HOSTS, 4)


@pytest.mark.parametrize("server", ["mariadb", "postgresql"])  # SQLite has one writer
def test_a_node_that_somebody_is_taking_from_keeps_nobody_waiting_whom_another_can_have(
    tmp_path: pathlib.Path, servers: Servers, server: str
) -> None:
    with servers.database(server) as url:
        cloud, other = Cloud(tmp_path, hosts=HOSTS, database={"connection": url}), connection(url)
        placement = BuiltinPlacement(config.load())

        def while_the_best_is_held(session: Session) -> str:
            placement.claim(session, "somebody", "node1", Resources(1))
            uuid = cloud.client.created()
            placement.release(session, "somebody")
            return uuid

        uuid = other.write(while_the_best_is_held)
        assert cloud.row(uuid).host == "node2"
        cloud.wait_sound()
        cloud.close()
        other.close()


def test_no_cpu_is_dedicated_twice(new_cloud: NewCloud) -> None:
    cloud = new_cloud(enable_cpu_pinning=True)
    assert from_all(cloud, cpu_policy="dedicated") == {"node1": 4, "node2": 4, "node3": 4, None: 12}
    shares = [(row.host, *row.cpuset["cpuset_cpus"]) for row in cloud.rows() if row.host]
    assert sorted(shares) == [(host, cpu) for host in HOSTS for cpu in range(4)]
    assert len(cloud.claims()) == 12


def test_of_those_that_grow_at_once_as_many_do_as_there_are_cpus_for(new_cloud: NewCloud) -> None:
    """Two on each node, with one of its four CPUs each; one of them can have two more."""
    one_cell = dataclasses.replace(SMALL, numa=[Cell(0, (0, 1, 2, 3), 4096)])
    cloud = new_cloud(one_cell, enable_cpu_pinning=True)
    uuids = [cloud.client.created(cpu=1, cpu_policy="dedicated") for _ in range(6)]
    answers = at_once(
        [
            lambda uuid=uuid: cloud.client.request(f"PATCH /containers/{uuid}", {"cpu": 3}).status_code
            for uuid in uuids
        ]
    )
    assert Counter(answers) == {200: 3, 409: 3}
    cloud.wait_sound()
    shares = [(row.host, cpu) for row in cloud.rows() for cpu in row.cpuset["cpuset_cpus"]]
    assert sorted(shares) == [(host, cpu) for host in HOSTS for cpu in range(4)]
