"""Clouds to break, and the table of what came of it, printed at the end."""

import contextlib
import pathlib
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tests.support.chaos_program import SetClock
from tests.support.databases import Servers
from tests.support.machines import Machine
from tests.support.programs import NEVER, Programs
from tests.support.rabbitmq import RabbitMQ
from tests.support.soundness import Seen, seen_in
from tests.support.storm import Storm, Table, report
from tierce.runtimes.fake import FakeEngine
from tierce.runtimes.fake.engine import CALLS

HOSTS = ("node1", "node2")
PROGRAM = (sys.executable, "-m", "tests.support.chaos_program")
PACE = 0.01
"""Seconds that each call to a fake engine takes: time to be killed in."""

_TABLE = pytest.StashKey[Table]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TABLE] = {}


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if table := config.stash.get(_TABLE, {}):
        terminalreporter.section("what was broken, and what was lost")
        for line in report(table):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def table(request: pytest.FixtureRequest) -> Table:
    return request.config.stash.setdefault(_TABLE, {})


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    broker = RabbitMQ()
    yield broker
    broker.close()


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.stop()


@pytest.fixture
def directory() -> Iterator[pathlib.Path]:
    """Not under pytest's own directories: a socket's path has a limit of 108 bytes."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tierce-chaos-"))
    yield directory
    shutil.rmtree(directory)


Engines = Mapping[str, FakeEngine]


@pytest.fixture
def engines(directory: pathlib.Path) -> Iterator[Engines]:
    """Those of the nodes, by host. They are here, and outlive the nodes' agents."""
    with contextlib.ExitStack() as stack:
        engines = {}
        for host in HOSTS:
            engines[host] = FakeEngine(SetClock(directory, host))
            for call in sorted(CALLS):
                engines[host].script(call, delay=PACE, times=sys.maxsize)
            stack.callback(Machine(directory / f"{host}.machine", engines[host]).close)
        yield engines


NewStorm = Callable[..., Storm]


@pytest.fixture
def new_storm(
    rabbitmq: RabbitMQ, servers: Servers, directory: pathlib.Path, engines: Engines, table: Table
) -> Iterator[NewStorm]:
    """Make a cloud of an API and two nodes.

    `database` is the kind of its server; the rest are more options of the group `agent`, and of others.
    """
    with contextlib.ExitStack() as stack:

        def new(
            database: str = "mariadb", agent: Mapping[str, object] = {}, **options: Mapping[str, object]
        ) -> Storm:
            def look() -> dict[str, Seen]:
                return {host: seen_in(engine) for host, engine in engines.items()}

            database_url = stack.enter_context(servers.database(database))
            programs = Programs(
                directory,
                rabbitmq.url(),
                database_url,
                HOSTS,
                PROGRAM,
                agent={"poll_interval": NEVER, "graceful_stop": 5, "retry_interval": 1, **agent},
                **options,
            )
            stack.callback(programs.stop)
            storm = Storm(directory, programs, database_url, look, table)
            stack.callback(storm.close)
            programs.start()
            return storm

        yield new


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """The same one at every run of a test."""
    return random.Random(request.node.name)
