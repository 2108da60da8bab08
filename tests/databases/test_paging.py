"""Pages put together are the whole list in order, whatever is paged by and however many values are NULL."""

import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert

from tierce.db import containers, nodes
from tierce.db.engine import Database
from tierce.db.tables import ComputeNode, Container
from tierce.model.context import RequestContext
from tierce.model.errors import ContainerNotFound, InvalidParameterValue
from tierce.model.spec import ListQuery

EVERYBODY = RequestContext(is_admin=True, all_projects=True)
MOMENT = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
VALUES: dict[str, list[Any]] = {
    "host": ["a", "b", "ab", ""],
    "cpu": [0.1, 0.2, 0.30000000000000004, 1.0],
    "memory": ["64", "512"],
    "auto_remove": [False, True],
    "created_at": [MOMENT, MOMENT + datetime.timedelta(microseconds=1)],
    "disk": [0, 10],
}
ROWS = st.lists(
    st.fixed_dictionaries({key: st.none() | st.sampled_from(values) for key, values in VALUES.items()}),
    max_size=12,
)
KEYS = st.sampled_from(["id", "uuid", *VALUES])
DIRECTIONS = st.sampled_from(["asc", "desc"])
LIMITS = st.integers(1, 5)


@pytest.fixture(scope="module")
def database(module_database: Database) -> Database:
    return module_database


def fill(database: Database, table: type[Any], rows: list[dict[str, Any]]) -> None:
    def work(session: Any) -> None:
        session.execute(delete(table))
        if rows:
            session.execute(insert(table), rows)

    database.write(work)


def pages(page: Any, database: Database, limit: int, key: str, direction: str) -> list[Any]:
    """Every row, by pages; fails when these do not come to an end."""
    found: list[Any] = []
    marker = None
    for _ in range(20):
        query = ListQuery(limit=limit, marker=marker, sort_key=key, sort_dir=direction)
        rows = database.read(lambda session, query=query: page(session, query))
        found += rows
        if len(rows) < limit:
            return found
        marker = rows[-1].uuid
    pytest.fail("the pages do not end")


def in_order(rows: list[Any], key: str, tie: str, direction: str) -> list[Any]:
    """By value with NULL first, then by the unique column."""

    def rank(row: Any) -> tuple[bool, Any, Any]:
        value = getattr(row, key)
        return (value is not None, value if value is not None else 0, getattr(row, tie))

    return sorted(rows, key=rank, reverse=direction == "desc")


@settings(max_examples=50)
@given(ROWS, KEYS, DIRECTIONS, LIMITS)
def test_pages_of_containers_are_the_whole_list_in_order(
    database: Database, rows: list[dict[str, Any]], key: str, direction: str, limit: int
) -> None:
    # UUIDs in no order of their ids.
    numbered = [
        {**row, "uuid": f"{index * 7919 % 101:08d}-0000-4000-8000-000000000000", "container_type": 0}
        for index, row in enumerate(rows)
    ]
    fill(database, Container, numbered)

    found = pages(
        lambda session, query: containers.page(session, EVERYBODY, query), database, limit, key, direction
    )

    assert sorted(row.uuid for row in found) == sorted(row["uuid"] for row in numbered)
    expected = in_order(found, key, "id", direction)
    assert [row.uuid for row in found] == [row.uuid for row in expected]


@settings(max_examples=50)
@given(
    st.lists(
        st.fixed_dictionaries({"hostname": st.sampled_from("ab"), "os": st.sampled_from("xy") | st.none()}),
        max_size=8,
    ),
    st.sampled_from(["hostname", "uuid", "os"]),
    DIRECTIONS,
    LIMITS,
)
def test_pages_of_a_table_without_a_number_are_the_whole_list_in_order(
    database: Database, rows: list[dict[str, Any]], key: str, direction: str, limit: int
) -> None:
    fill(
        database,
        ComputeNode,
        [{**row, "uuid": f"u{index}", "rp_uuid": f"u{index}"} for index, row in enumerate(rows)],
    )

    found = pages(nodes.page, database, limit, key, direction)

    assert len(found) == len(rows)
    expected = in_order(found, key, "uuid", direction)
    assert [row.uuid for row in found] == [row.uuid for row in expected]


# Texts that are equal in some collations, or come in another order; and numbers that MariaDB keeps in single
# precision, and shows with fewer digits than it compares.
ALIKE = {
    "host": ["a", "A", "b", "B", "ä", "é", "E", "e\N{COMBINING ACUTE ACCENT}", "-a", "_"],
    "cpu": [0.1, 0.7, 1.234567, 1.2345678, 1.23456789, 1.23456780001],
}


@settings(max_examples=50)
@given(st.data(), st.sampled_from(list(ALIKE)), DIRECTIONS, LIMITS)
def test_pages_are_the_list_at_once_whatever_the_database_takes_for_equal(
    database: Database, data: st.DataObject, key: str, direction: str, limit: int
) -> None:
    values = data.draw(st.lists(st.none() | st.sampled_from(ALIKE[key]), max_size=12))
    fill(
        database,
        Container,
        [{"uuid": f"u{index}", key: value, "container_type": 0} for index, value in enumerate(values)],
    )

    def page(session: Any, query: ListQuery) -> Any:
        return containers.page(session, EVERYBODY, query)

    by_pages = pages(page, database, limit, key, direction)

    assert len(by_pages) == len(values)
    assert by_pages == pages(page, database, 1000, key, direction)


def test_a_marker_that_is_out_of_sight_is_not_found(database: Database) -> None:
    rows = [{"uuid": f"u{owner}", "project_id": owner, "container_type": 0} for owner in ("p1", "p2")]
    fill(database, Container, rows)
    query = ListQuery(limit=1, marker="up2")
    with pytest.raises(ContainerNotFound):
        database.read(lambda session: containers.page(session, RequestContext(project_id="p1"), query))


@pytest.mark.parametrize(
    "key", ["websocket_token", "addresses", "name_key", "generation", "nosuch", "metadata"]
)
def test_only_public_columns_can_be_sorted_by(database: Database, key: str) -> None:
    with pytest.raises(InvalidParameterValue, match=key):
        database.read(lambda session: containers.page(session, EVERYBODY, ListQuery(limit=1, sort_key=key)))
