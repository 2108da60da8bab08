"""Agents and API are killed, frozen and doubled under load."""

import contextlib
import random
import signal

import pytest

from tests.chaos.conftest import HOSTS, Engines, NewStorm
from tests.support.load import DELETE
from tests.support.programs import DOWN_SOON
from tests.support.service import Http
from tests.support.soundness import seen_in
from tests.support.waiting import until

AT_LEAST = 3
AT_MOST = 15
"""Requests accepted between one fault and the next."""


@pytest.mark.parametrize(("database", "seed"), [("mariadb", 1), ("postgresql", 2)])
def test_agents_killed_at_any_moment(
    new_storm: NewStorm, rng: random.Random, database: str, seed: int
) -> None:
    storm = new_storm(database)
    with storm.load(seed) as load:
        for _ in range(8):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            agent = storm.programs.agents[rng.choice(HOSTS)]
            agent.kill()
            storm.faults += 1
            if rng.random() < 0.5:
                load.wait_for_more(1)
            agent.start()
    storm.account(f"kill -9 of an agent ({database})", load.record)


def test_an_agent_frozen_until_it_counts_as_dead(new_storm: NewStorm, rng: random.Random) -> None:
    storm = new_storm(DEFAULT=DOWN_SOON)
    agent = storm.programs.agents["node1"]
    with storm.load(3) as load:
        for _ in range(2):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            agent.signal(signal.SIGSTOP)
            storm.faults += 1
            storm.programs.wait_state("node1", "down")
            agent.signal(signal.SIGCONT)
            storm.programs.wait_state("node1", "up")
    storm.account("an agent frozen until it counts as dead", load.record)


def test_a_node_that_dies_for_good_with_work_queued(new_storm: NewStorm, engines: Engines) -> None:
    """Its containers can be deleted by force at once, and it clears away what it has when it is back."""
    storm = new_storm(DEFAULT=DOWN_SOON)
    agent = storm.programs.agents["node1"]
    with storm.load(8, clients=6) as load:
        load.wait_for_more(AT_MOST)
        agent.signal(signal.SIGSTOP)
        load.wait_for_more(AT_MOST)
        agent.kill()
        storm.faults += 1
        storm.programs.wait_state("node1", "down")
        load.wait_for_more(AT_MOST)
    assert storm.restless("node1")
    assert seen_in(engines["node1"]).containers

    there = storm.uuids_on("node1")
    with contextlib.closing(Http(storm.programs)) as http:
        for uuid in there:
            assert http.raw("DELETE", f"/containers/{uuid}?stop=true").status_code in (404, 409)
            answer = http.raw("DELETE", f"/containers/{uuid}?force=true")
            assert answer.ok, answer.text
            load.record.accept(answer, uuid, DELETE)
    assert not set(there) & storm.claims()
    agent.start()
    storm.account("a node dead for good with work queued", load.record)


def test_a_second_agent_of_a_node_refuses_to_start(new_storm: NewStorm) -> None:
    storm = new_storm()
    with storm.load(4) as load:
        for second in (storm.programs.beside("node1"), storm.programs.agent("node1", state="elsewhere")):
            load.wait_for_more(AT_LEAST)
            second.start()
            storm.faults += 1
            assert second.wait() == 1
            assert "node1" in second.log
            load.wait_for_more(AT_MOST)
    assert storm.programs.agents["node1"].runs
    storm.account("a second agent of one node", load.record)


@pytest.mark.parametrize(("database", "seed"), [("mariadb", 5), ("postgresql", 6)])
def test_an_api_killed_between_commit_and_message(
    new_storm: NewStorm, rng: random.Random, database: str, seed: int
) -> None:
    storm = new_storm(database, agent={"poll_interval": 1})
    die = storm.directory / "die"
    with storm.load(seed) as load:
        for _ in range(8):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            die.touch()
            storm.faults += 1
            until(lambda: not die.exists())
    storm.account(f"kill -9 of the API between commit and message ({database})", load.record)


@pytest.mark.parametrize(("database", "seed"), [("mariadb", 7), ("postgresql", 9)])
def test_the_whole_api_killed(new_storm: NewStorm, rng: random.Random, database: str, seed: int) -> None:
    storm = new_storm(database, agent={"poll_interval": 1})
    with storm.load(seed) as load:
        for _ in range(2):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            storm.programs.kill_api()
            storm.faults += 1
            storm.programs.api.start()
            storm.programs.wait_answering()
    storm.account(f"kill -9 of the whole API ({database})", load.record)
