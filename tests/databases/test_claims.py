"""The built-in placement: claims that cannot be overrun, and that nothing leaves behind."""

import datetime
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from tests.support.databases import Servers, connection
from tierce import config
from tierce.db import nodes
from tierce.db.engine import Database
from tierce.db.tables import Allocation, Container
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
    """As a creation does: the container's row comes after its claim."""

    def work(session: Session) -> None:
        placement.claim(session, consumer, host, asked)
        session.merge(Container(uuid=consumer, host=host, status="Created", container_type=0, generation=0))

    database.write(work)


def place(database: Database, consumer: str, **values: Any) -> None:
    """A row as a Zun process leaves it on node1: it makes no claim of ours."""
    placed = {"host": "node1", "status": "Running", "container_id": "f00d", "container_type": 0}
    database.write(lambda session: session.add(Container(uuid=consumer, **placed | values)))


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
        claimed = ours.read(
            lambda s: {each.consumer_uuid: each.host for each in s.scalars(select(Allocation))}
        )
        assert claimed == {"a": "node1", "b": "node1", "node2": "node2"}
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
    deleting = update(Container).values(status="Deleting")
    for consumer in ("a", "b"):
        claim(database, placement, consumer, "node1", Resources(4))
        for _ in range(2):
            database.write(
                lambda session, it=consumer: (placement.release(session, it), session.execute(deleting))
            )
    assert used(database, placement)["node1"] == Resources()


def test_an_audit_releases_what_containers_hold_that_are_gone_and_nothing_of_other_nodes(
    database: Database, placement: BuiltinPlacement
) -> None:
    for consumer, host in (("there", "node1"), ("gone", "node1"), ("gone too", "node2")):
        claim(database, placement, consumer, host, Resources(1))
    database.write(lambda session: session.execute(delete(Container).where(Container.uuid != "there")))
    assert database.write(lambda session: placement.audit(session, "node1")) == 1
    assert database.write(lambda session: placement.audit(session, "node1")) == 0
    left = database.read(lambda session: set(session.scalars(select(Allocation.consumer_uuid))))
    assert left == {"there", "gone too"}


# --- nodes that a Zun agent has, or had -----------------------------------------------------------


def test_what_a_zun_process_placed_is_taken_though_it_has_no_claim(
    database: Database, placement: BuiltinPlacement
) -> None:
    place(database, "a", cpu=1.5, memory="50", disk=3)
    place(database, "b", cpu=0, memory=None, disk=None)
    assert used(database, placement) == {"node1": Resources(3, 51, 3), "node2": Resources()}
    with pytest.raises(ResourcesUnavailable, match="node has 1 of 4 vCPU free, 2 asked; 49 of 100 MiB"):
        claim(database, placement, "c", "node1", Resources(2, 50, 0))
    claim(database, placement, "c", "node1", Resources(1, 49, 7))
    assert used(database, placement)["node1"] == Resources(4, 100, 10)


@pytest.mark.parametrize(
    "row",
    [
        {"host": None},
        {"status": "Deleting"},
        {"status": "Error", "container_id": None},
        {"container_type": 2},
        {"container_type": 3},
    ],
    ids=["without a node", "being deleted", "never made", "in a capsule", "of a capsule's start"],
)
def test_a_row_without_a_claim_takes_nothing_where_nothing_is_held(
    database: Database, placement: BuiltinPlacement, row: dict[str, Any]
) -> None:
    place(database, "a", cpu=1, memory="50", **row)
    assert used(database, placement)["node1"] == Resources()


@pytest.mark.parametrize(
    "row", [{"status": "Creating", "container_id": None}, {"status": "Error"}, {"container_type": 1}]
)
def test_a_row_without_a_claim_takes_its_size_from_its_making_to_its_end(
    database: Database, placement: BuiltinPlacement, row: dict[str, Any]
) -> None:
    place(database, "a", cpu=1, memory="50", **row)
    assert used(database, placement)["node1"] == Resources(1, 50, 0)


@pytest.mark.parametrize(("memory", "taken"), [("512m", 512), ("", 1), ("much", 1)])
def test_memory_of_a_row_of_old_is_what_its_digits_say(
    database: Database, placement: BuiltinPlacement, memory: str, taken: int
) -> None:
    place(database, "a", memory=memory)
    assert used(database, placement)["node1"] == Resources(1, taken, 0)


def test_a_claim_of_what_a_zun_process_placed_needs_room_for_what_is_more_alone(
    database: Database, placement: BuiltinPlacement
) -> None:
    place(database, "a", cpu=3, memory="80")
    with pytest.raises(ResourcesUnavailable, match="1 of 4 vCPU free, 2 asked"):
        database.write(lambda session: placement.reclaim(session, "a", "node1", Resources(5, 80, 0)))
    for asked in (Resources(4, 90, 0), Resources(2, 60, 0)):
        database.write(lambda session, asked=asked: placement.reclaim(session, "a", "node1", asked))
        assert used(database, placement)["node1"] == asked


def test_a_claim_is_free_as_soon_as_its_container_s_row_is_gone(
    database: Database, placement: BuiltinPlacement
) -> None:
    claim(database, placement, "a", "node1", Resources(4))
    database.write(lambda session: session.execute(delete(Container)))
    claim(database, placement, "b", "node1", Resources(4))
    assert used(database, placement)["node1"] == Resources(4)
