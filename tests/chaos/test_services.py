"""Bus, database and clock fail under load."""

import random

import pytest

from tests.chaos.conftest import HOSTS, NewStorm
from tests.support.chaos_program import SetClock
from tests.support.databases import MariaDB, PostgreSQL, Servers
from tests.support.rabbitmq import RabbitMQ

AT_LEAST = 3
AT_MOST = 15
"""Requests accepted between one fault and the next."""
HOUR = 3600


def test_rabbitmq_restarted(new_storm: NewStorm, rng: random.Random, rabbitmq: RabbitMQ) -> None:
    storm = new_storm()
    with storm.load(11) as load:
        for _ in range(3):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            rabbitmq.stop()
            storm.faults += 1
            load.wait_for_more(1)
            rabbitmq.start()
        load.wait_for_more(AT_MOST)
    storm.account("a restart of RabbitMQ", load.record)


def test_connections_to_rabbitmq_dropped(new_storm: NewStorm, rng: random.Random, rabbitmq: RabbitMQ) -> None:
    storm = new_storm()
    with storm.load(12) as load:
        for _ in range(4):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            rabbitmq.drop_connections()
            storm.faults += 1
        load.wait_for_more(AT_MOST)
    storm.account("all connections to RabbitMQ dropped", load.record)


@pytest.mark.parametrize(("kind", "seed"), [("mariadb", 13), ("postgresql", 14)])
def test_a_database_server_killed_and_restarted_in_its_transactions(
    new_storm: NewStorm, rng: random.Random, servers: Servers, kind: str, seed: int
) -> None:
    # A request whose commit was in doubt is found by the agent's own look.
    storm = new_storm(kind, agent={"poll_interval": 1})
    server = servers.server(kind)
    assert isinstance(server, MariaDB | PostgreSQL)
    with storm.load(seed) as load:
        for end in (server.kill, server.stop, server.kill):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            end()
            storm.faults += 1
            server.start()
        load.wait_for_more(AT_MOST)
    storm.account(f"kill -9 and restart of {kind}", load.record)


@pytest.mark.parametrize("seconds", [HOUR, -HOUR], ids=["ahead", "back"])
def test_the_clock_stepped_by_an_hour(new_storm: NewStorm, rng: random.Random, seconds: int) -> None:
    storm = new_storm(agent={"poll_interval": 1})
    with storm.load(15) as load:
        load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
        SetClock(storm.directory).step(seconds)
        storm.faults += 1
        for host in HOSTS:
            storm.programs.wait_state(host, "up")
        load.wait_for_more(AT_MOST)
    storm.account(f"every clock stepped by {seconds} s", load.record)


@pytest.mark.parametrize("seconds", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_the_clock_of_one_node_wrong_by_an_hour(
    new_storm: NewStorm, rng: random.Random, seconds: int
) -> None:
    """Meanwhile it counts as down; what was accepted for it before, it does."""
    storm = new_storm(agent={"poll_interval": 1})
    clock = SetClock(storm.directory, "node1")
    with storm.load(16, clients=6) as load:
        load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
        clock.step(seconds)
        storm.faults += 1
        storm.programs.wait_state("node1", "down")
        load.wait_for_more(AT_MOST)
        storm.wait_rest("node1")
        clock.step(0)
        storm.programs.wait_state("node1", "up")
        load.wait_for_more(AT_MOST)
    storm.account(f"the clock of one node wrong by {seconds} s", load.record)
