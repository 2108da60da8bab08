"""Bus, database and clock fail under load."""

import random

import pytest

from tests.chaos.conftest import HOSTS, NewStorm
from tests.support.chaos_program import SetClock
from tests.support.databases import MariaDB
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
    storm.account("a restart of RabbitMQ", load)


def test_connections_to_rabbitmq_dropped(new_storm: NewStorm, rng: random.Random, rabbitmq: RabbitMQ) -> None:
    storm = new_storm()
    with storm.load(12) as load:
        for _ in range(4):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            rabbitmq.drop_connections()
            storm.faults += 1
        load.wait_for_more(AT_MOST)
    storm.account("all connections to RabbitMQ dropped", load)


@pytest.mark.parametrize("seed", [13, 14])
def test_mariadb_killed_in_its_transactions(
    new_storm: NewStorm, rng: random.Random, mariadb: MariaDB, seed: int
) -> None:
    # A request whose commit was in doubt is found by the agent's own look.
    storm = new_storm(poll_interval=1)
    remember = "SET GLOBAL innodb_flush_log_at_trx_commit = 1"
    mariadb.execute(remember)
    with storm.load(seed) as load:
        for _ in range(3):
            load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
            mariadb.kill()
            storm.faults += 1
            mariadb.start()
            mariadb.execute(remember)
        load.wait_for_more(AT_MOST)
    storm.account("kill -9 of MariaDB", load)


@pytest.mark.parametrize("seconds", [HOUR, -HOUR], ids=["ahead", "back"])
def test_the_clock_stepped_by_an_hour(new_storm: NewStorm, rng: random.Random, seconds: int) -> None:
    storm = new_storm(poll_interval=1)
    with storm.load(15) as load:
        load.wait_for_more(rng.randint(AT_LEAST, AT_MOST))
        SetClock(storm.directory).step(seconds)
        storm.faults += 1
        for host in HOSTS:
            storm.programs.wait_state(host, "up")
        load.wait_for_more(AT_MOST)
    storm.account(f"the clock stepped by {seconds} s", load)
