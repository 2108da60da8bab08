"""What requests cost the database and the bus, and what a transaction costs beside its statements."""

import contextlib
import gc
import pathlib
from collections.abc import Iterator, Mapping

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.counts import Counts, counted
from tests.support.databases import Servers, connection
from tests.support.waiting import until
from tierce.db.engine import Database

MOST = {"create": (19, 5), "stop": (10, 3), "start": (10, 3), "delete": (13, 4)}
"""Statements and transactions of a request and of what its node does for it."""

_UNFINISHED = text("SELECT action FROM container_actions WHERE state IN ('queued', 'running')")


@pytest.fixture
def cloud(tmp_path: pathlib.Path, url: str) -> Iterator[Cloud]:
    cloud = Cloud(tmp_path, database={"connection": url})
    yield cloud
    cloud.close()


def a_life(cloud: Cloud, onlooker: Database) -> Mapping[str, Counts]:
    """What each request of a container's life costs. The onlooker's own looks are not counted."""
    found: dict[str, Counts] = {}

    @contextlib.contextmanager
    def cost_of(request: str) -> Iterator[Client]:
        with counted(cloud.database.engine) as found[request]:
            yield cloud.client
            until(
                lambda: onlooker.read(lambda session: session.execute(_UNFINISHED).all()),
                lambda unfinished: not unfinished,
            )

    with cost_of("create") as client:
        uuid = client.create(run=True)
    for action in ("stop", "start"):
        with cost_of(action) as client:
            client.call(f"POST /containers/{uuid}/{action}")
    with cost_of("delete") as client:
        client.call(f"DELETE /containers/{uuid}?force=true")
    return found


def test_requests_cost_what_they_did_at_most(cloud: Cloud, database: Database) -> None:
    cloud.client.running()  # what the project's first one makes is there from now on
    lives = [a_life(cloud, database) for _ in range(3)]
    # A heartbeat, or an event of the engine that comes late, is counted with the request that it meets.
    cheapest = {
        request: min((life[request] for life in lives), key=lambda counts: len(counts.statements))
        for request in MOST
    }
    for request, (statements, transactions) in MOST.items():
        counts = cheapest[request]
        assert len(counts.statements) <= statements, counts.statements
        assert counts.transactions <= transactions, request
        assert [life[request].messages for life in lives] == [1, 1, 1], request


# --- connections that go back to the pool -------------------------------------------------------------


def ends(database: Database) -> dict[str, int]:
    """How many transactions of each kind MariaDB has been told to end, by all connections."""
    query = text("SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_commit', 'Com_rollback')")
    return database.read(lambda session: {name: int(value) for name, value in session.execute(query)})


def test_the_end_of_a_transaction_is_told_once(servers: Servers) -> None:
    with servers.database("mariadb") as url:
        database, onlooker = connection(url), connection(url)

        def change(session: Session) -> None:
            session.execute(text("DELETE FROM quotas"))

        def look(session: Session) -> None:
            session.execute(text("SELECT id FROM quotas"))

        database.write(change)  # a new connection is asked what its server can do
        before = ends(onlooker)
        for _ in range(10):
            database.write(change)
            database.read(look)
        after = ends(onlooker)
        database.close()
        onlooker.close()
    # The first of the two looks is ended by a ROLLBACK before the second.
    assert after["Com_commit"] - before["Com_commit"] == 10
    assert after["Com_rollback"] - before["Com_rollback"] == 10 + 1


def test_a_connection_that_somebody_dropped_comes_back_without_its_transaction(servers: Servers) -> None:
    with servers.database("mariadb") as url:
        database, onlooker = connection(url, max_pool_size=1, max_overflow=0), connection(url)
        dropped = database.engine.connect()
        dropped.execute(text("INSERT INTO quotas (project_id, resource, hard_limit) VALUES ('p', 'cpu', 1)"))
        del dropped
        gc.collect()

        database.write(lambda session: session.execute(text("DELETE FROM quota_classes")))

        kept = onlooker.read(lambda session: session.scalar(text("SELECT count(*) FROM quotas")))
        database.close()
        onlooker.close()
    assert kept == 0
