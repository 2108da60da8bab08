"""Many at the same moment, through the API on each database: limits, names and claims hold."""

import dataclasses
import datetime
import functools
import pathlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.support.client import IMAGE, Client
from tests.support.cloud import FACTS, Cloud
from tests.support.threads import at_once
from tests.support.zun import zun_creates
from tierce.db import actions, containers, nodes
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.context import RequestContext, service_context
from tierce.model.errors import StaleObject
from tierce.model.numa import Cell

NewCloud = Callable[..., Cloud]
NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
EVERYBODY = RequestContext(is_admin=True, all_projects=True, project_id="p", user_id="u")


@pytest.fixture
def new_cloud(tmp_path: pathlib.Path, url: str) -> Iterator[NewCloud]:
    """Makes the cloud on the test's database, whose node has no agent while the API is asked."""
    clouds: list[Cloud] = []

    def make(**options: object) -> Cloud:
        clouds.append(Cloud(tmp_path, database={"connection": url}, **options))  # type: ignore[arg-type]  # passed on
        clouds[0].stop_node("node1")
        return clouds[0]

    yield make
    for cloud in clouds:
        cloud.close()


def create(client: Client, **body: object) -> int:
    return int(client.request("POST /containers", {"image": IMAGE, **body}).status_code)


def test_of_200_at_once_exactly_as_many_as_the_limit_are_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"containers": 20})
    answers = at_once([lambda: create(cloud.client)] * 200)
    assert Counter(answers) == {202: 20, 403: 180}
    assert len(cloud.rows()) == len(cloud.claims()) == 20


def test_a_limit_of_nothing_is_told_to_all_who_are_the_first_of_their_project(new_cloud: NewCloud) -> None:
    """The row that they lock is not there yet, and none of them gets to commit it."""
    cloud = new_cloud(quota={"containers": 0})
    assert set(at_once([lambda: create(cloud.client)] * 40)) == {403}


def test_of_50_creates_of_one_name_exactly_one_is_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(compute={"unique_container_name_scope": "project"})
    names = ["web", "WEB", "Web", "wEb", "weB"] * 10
    answers = at_once([lambda name=name: create(cloud.client, name=name) for name in names])
    assert Counter(answers) == {202: 1, 409: 49}
    assert len(cloud.rows()) == len(cloud.claims()) == 1


def test_of_two_renames_to_one_name_one_is_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(compute={"unique_container_name_scope": "project"})
    cloud.start_node("node1")
    uuids = [cloud.client.created() for _ in range(2)]

    def rename(uuid: str, name: str) -> int:
        line = f"POST /containers/{uuid}/rename?name={name}"
        return int(cloud.client.request(line, version="1.13").status_code)

    for name in ("web", "api", "db"):
        answers = at_once([lambda uuid=uuid, name=name: rename(uuid, name) for uuid in uuids])
        assert Counter(answers) == {200: 1, 409: 1}
        assert [row.name for row in cloud.rows()].count(name) == 1


def test_changes_of_one_container_at_the_same_moment_are_all_made(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    cloud.start_node("node1")
    uuid = cloud.client.created()

    def rename(name: str) -> int:
        line = f"POST /containers/{uuid}/rename?name={name}"
        return int(cloud.client.request(line, version="1.13").status_code)

    def describe(name: str) -> int:
        return int(cloud.client.request(f"PATCH /containers/{uuid}", {"name": name}).status_code)

    for moment in range(5):
        changes = [(rename, "a"), (rename, "b"), (describe, "c"), (describe, "d")]
        answers = at_once([functools.partial(do, f"{name}{moment}") for do, name in changes])
        assert Counter(answers) == {200: 4}


def test_a_zun_api_s_change_of_size_is_made_although_others_change_the_container(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    cloud.start_node("node1")
    uuid = cloud.client.created()
    row = cloud.row(uuid)

    def rename(name: str) -> str:
        return str(cloud.client.call(f"POST /containers/{uuid}/rename?name={name}", version="1.13")["name"])

    def resize(memory: str) -> str:
        patch = {"memory": memory}
        return str(cloud.compute.container_update(service_context(), "node1", row, patch=patch)["memory"])

    for moment in range(100, 110):
        changes = [(rename, f"a{moment}"), (resize, f"{moment}"), (rename, f"b{moment}")]
        answers = at_once([functools.partial(do, wanted) for do, wanted in changes])
        assert answers == [wanted for _, wanted in changes]


def test_cpus_that_are_left_to_the_node_are_taken_although_others_change_the_container(
    new_cloud: NewCloud,
) -> None:
    cells = dataclasses.replace(FACTS, numa=[Cell(0, range(16), 4096)])
    cloud = new_cloud(facts=cells, compute={"enable_cpu_pinning": True})
    taking = threading.Semaphore(0)
    cloud.observer = lambda _, step, moment: (
        taking.release() if (step, moment) == ("cpus", "before") else None
    )
    cloud.start_node("node1")
    for round_ in range(8):
        uuid = zun_creates(cloud, cpu=1, cpu_policy="dedicated")
        assert taking.acquire(timeout=20)
        line = f"POST /containers/{uuid}/rename?name=r{round_}-"
        at_once([lambda n=n, line=line: cloud.client.request(f"{line}{n}", version="1.13") for n in range(4)])
        assert cloud.client.wait(uuid, "Running", "Error")["status_reason"] is None


def test_the_last_cpu_is_claimed_once(new_cloud: NewCloud) -> None:
    cloud = new_cloud(
        facts=dataclasses.replace(FACTS, cpus=4),
        compute={"initial_cpu_allocation_ratio": 1.0},
    )
    answers = at_once([lambda: create(cloud.client, cpu=1)] * 30)
    assert set(answers) == {202}
    assert Counter(row.status for row in cloud.rows()) == {"Creating": 4, "Error": 26}
    assert sum(claim.vcpus for claim in cloud.claims().values()) == 4


def test_what_was_accepted_is_done_by_the_agent(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    assert at_once([lambda: create(cloud.client)] * 10) == [202] * 10
    cloud.start_node("node1")
    cloud.wait_sound()
    assert {row.status for row in cloud.rows()} == {"Created"}
    uuids = [row.uuid for row in cloud.rows()]
    at_once([lambda uuid=uuid: cloud.client.call(f"DELETE /containers/{uuid}") for uuid in uuids])
    cloud.wait_sound()
    assert (cloud.rows(), cloud.claims()) == ([], {})


# --- one row --------------------------------------------------------------------------------------


def container(database: Database) -> Container:
    row = Container(uuid="c", container_type=0, generation=0, status="Running", created_at=NOW)
    return database.write(lambda session: containers.insert(session, row, ""))


def test_of_many_agents_one_gets_an_action(database: Database, open_database: Callable[[], Database]) -> None:
    container(database)
    agents = [open_database() for _ in range(8)]
    for _ in range(5):
        database.write(
            lambda session: actions.enqueue(
                session, EVERYBODY, action="stop", container_uuid="c", host="node1", arguments={}, now=NOW
            )
        )
        got = at_once(
            [
                lambda agent=agent: agent.write(lambda s: actions.claim(s, "c", "node1", NOW, 300))
                for agent in agents
            ]
        )
        (claimed,) = filter(None, got)
        assert claimed.action.attempts == 1
        database.write(lambda session, mine=claimed.action: actions.finish(session, mine, NOW, failed=False))


def test_of_many_who_change_what_they_read_one_does(
    database: Database, open_database: Callable[[], Database]
) -> None:
    container(database)
    writers = [open_database() for _ in range(8)]
    reads = [
        writer.read(lambda session: containers.get(session, EVERYBODY, "c", by_uuid=True))
        for writer in writers
    ]

    def swap(writer: Database, row: Container, status: str) -> str | None:
        try:
            writer.write(lambda session: containers.swap(session, row, NOW, status=status))
        except StaleObject:
            return None
        return status

    done = at_once(
        [
            lambda writer=writer, row=row, number=number: swap(writer, row, f"status {number}")
            for number, (writer, row) in enumerate(zip(writers, reads, strict=True))
        ]
    )
    (winner,) = filter(None, done)
    row = database.read(lambda session: containers.get(session, EVERYBODY, "c", by_uuid=True))
    assert (row.status, row.generation) == (winner, 1)


def test_first_starts_at_once_leave_one_node(
    database: Database, open_database: Callable[[], Database]
) -> None:
    agents = [open_database() for _ in range(6)]
    at_once(
        [
            lambda agent=agent: agent.write(lambda session: nodes.save(session, "node1", NOW, {"cpus": 4}))
            for agent in agents
        ]
    )
    (node,) = database.read(nodes.every)
    assert (node.hostname, node.cpus) == ("node1", 4)
