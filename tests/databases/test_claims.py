"""The built-in placement: claims that cannot be overrun, and that nothing leaves behind."""

import datetime

import pytest
from sqlalchemy.orm import Session

from tests.support.databases import Servers, connection
from tierce import config
from tierce.db import containers, nodes
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.errors import ResourcesUnavailable
from tierce.placement.base import Resources
from tierce.placement.builtin import BuiltinPlacement

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")


@pytest.fixture
def placement(database: Database) -> BuiltinPlacement:
    return two_nodes(database)


def two_nodes(database: Database) -> BuiltinPlacement:
    """Two nodes with 4 vCPUs, 100 MiB and 10 GiB each."""
    facts = {"cpus": 4, "mem_total": 100, "disk_total": 10}
    for host in ("node1", "node2"):
        database.write(lambda session, host=host: nodes.save(session, host, NOW, facts))
    overrides = [("compute", f"initial_{kind}_allocation_ratio", 1.0) for kind in ("cpu", "ram")]
    return BuiltinPlacement(config.load(overrides=[*overrides, ("compute", "reserved_host_memory_mb", 0)]))


def claim(
    database: Database, placement: BuiltinPlacement, consumer: str, host: str, asked: Resources
) -> None:
    database.write(lambda session: placement.claim(session, consumer, host, asked))


def used(database: Database, placement: BuiltinPlacement) -> dict[str, Resources]:
    return {each.host: each.used for each in database.read(placement.candidates)}


def test_a_node_is_filled_to_the_brim_and_no_further(database: Database, placement: BuiltinPlacement) -> None:
    claim(database, placement, "a", "node1", Resources(3, 100, 0))
    claim(database, placement, "b", "node1", Resources(1, 0, 10))
    for asked, short in (
        (Resources(1, 0, 0), "node has 0 of 4 vCPU free, 1 asked"),
        (Resources(0, 1, 0), "node has 0 of 100 MiB memory free, 1 asked"),
        (Resources(0, 0, 1), "node has 0 of 10 GiB disk free, 1 asked"),
    ):
        with pytest.raises(ResourcesUnavailable, match=short):
            claim(database, placement, "c", "node1", asked)
    assert used(database, placement) == {"node1": Resources(4, 100, 10), "node2": Resources()}


def test_a_node_that_has_reported_nothing_gives_nothing(
    database: Database, placement: BuiltinPlacement
) -> None:
    with pytest.raises(ResourcesUnavailable, match="node offers nothing yet"):
        claim(database, placement, "a", "node3", Resources(1))


@pytest.mark.parametrize("server", ["mariadb", "postgresql"])  # SQLite has one writer
def test_who_need_not_wait_for_a_node_is_told_at_once_that_others_take_from_it(
    servers: Servers, server: str
) -> None:
    with servers.database(server) as url:
        ours, theirs = connection(url), connection(url, lock_timeout=1)
        placement = two_nodes(ours)

        def both(session: Session) -> list[bool]:
            placement.claim(session, "a", "node1", Resources(1))
            return [
                theirs.write(lambda s, it=host: placement.claim(s, it, it, Resources(1), wait=False))
                for host in ("node1", "node2")
            ]

        assert ours.write(both) == [False, True]
        assert theirs.write(lambda s: placement.claim(s, "b", "node1", Resources(1), wait=False))
        assert used(ours, placement) == {"node1": Resources(2), "node2": Resources(1)}
        for each in (ours, theirs):
            each.close()


def test_a_claim_that_is_rolled_back_was_never_made(database: Database, placement: BuiltinPlacement) -> None:
    def fail(session: Session) -> None:
        placement.claim(session, "a", "node1", Resources(1))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.write(fail)
    assert used(database, placement)["node1"] == Resources()


def test_what_is_released_is_free_and_releasing_it_again_is_a_success(
    database: Database, placement: BuiltinPlacement
) -> None:
    for _ in range(2):
        claim(database, placement, "a", "node1", Resources(4))
        for _ in range(2):
            database.write(lambda session: placement.release(session, "a"))
    assert used(database, placement)["node1"] == Resources()


def test_an_audit_releases_what_containers_hold_that_are_gone_and_nothing_of_other_nodes(
    database: Database, placement: BuiltinPlacement
) -> None:
    row = Container(uuid="there", container_type=0, status="Running", generation=0)
    database.write(lambda session: containers.insert(session, row, ""))
    for consumer, host in (("there", "node1"), ("gone", "node1"), ("gone too", "node2")):
        claim(database, placement, consumer, host, Resources(1))
    assert database.write(lambda session: placement.audit(session, "node1")) == 1
    assert database.write(lambda session: placement.audit(session, "node1")) == 0
    assert used(database, placement) == {"node1": Resources(1), "node2": Resources(1)}
