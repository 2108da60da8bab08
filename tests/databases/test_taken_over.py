"""Working on a MariaDB that the reference implementation left: its text has an older character set."""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.databases.taken_over import take_over
from tests.support.databases import Servers, connection
from tierce import config
from tierce.db import actions, containers, nodes, schema
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.clock import SystemClock
from tierce.model.context import RequestContext
from tierce.model.errors import InvalidValue
from tierce.model.spec import ListQuery
from tierce.placement.base import Resources
from tierce.placement.builtin import BuiltinPlacement

CONTEXT = RequestContext(user_id="u1", project_id="p1", is_admin=True, all_projects=True)
NOW = SystemClock().now().replace(microsecond=0)


@pytest.fixture(params=["latin1", "utf8mb3", "utf8mb4"])
def database(servers: Servers, request: pytest.FixtureRequest) -> Iterator[Database]:
    with servers.database("mariadb", empty=True) as url:
        database = connection(url)
        take_over(database.engine, f"ALTER DATABASE CHARACTER SET {request.param}")
        schema.upgrade(database)
        yield database
        database.close()


def insert(database: Database, **values: Any) -> str:
    ident = str(uuid.uuid4())
    row = Container(uuid=ident, project_id="p1", container_type=0, status="Running", generation=0, **values)
    database.write(lambda session: containers.insert(session, row, ""))
    return ident


def read(database: Database, ident: str, *, by_uuid: bool = True) -> Container:
    return database.read(lambda session: containers.get(session, CONTEXT, ident, by_uuid=by_uuid))


def next_page(database: Database, query: ListQuery) -> Sequence[Any]:
    return database.read(lambda session: containers.page(session, CONTEXT, query))


def test_json_has_every_character_and_messages_what_fits(database: Database) -> None:
    row = read(
        database, insert(database, name="a", environment={"A": "🚀 é"}, labels={"日": "本"}, command=["é🚀"])
    )
    assert (row.environment, row.labels, row.command) == ({"A": "🚀 é"}, {"日": "本"}, ["é🚀"])
    database.write(lambda session: containers.swap(session, row, NOW, status_reason="It exploded: 🚀"))
    assert read(database, row.uuid).status_reason == r"It exploded: \U0001f680"


def test_other_text_that_cannot_be_held_is_refused(
    database: Database, request: pytest.FixtureRequest
) -> None:
    """It is the user's own, which nobody may replace."""
    if request.node.callspec.params["database"] == "utf8mb4":
        assert read(database, insert(database, name="a", workdir="/🚀")).workdir == "/🚀"
        return
    with pytest.raises(InvalidValue):
        insert(database, name="a", workdir="/🚀")


def test_names_are_found_by_their_spelling_and_then_whatever_their_case(database: Database) -> None:
    one, two = insert(database, name="Api"), insert(database, name="api-2")
    assert read(database, "API", by_uuid=False).uuid == one
    # Two rows from before names were unique.
    assert read(database, "WEB", by_uuid=False).uuid == "cccccccc-0000-4000-8000-000000000002"
    assert read(database, "web", by_uuid=False).uuid == "cccccccc-0000-4000-8000-000000000001"
    assert read(database, "api-2", by_uuid=False).uuid == two


def test_pages_have_every_row_once_though_case_makes_no_difference(database: Database) -> None:
    for name in ("b", "B", "c", "C", "é", "E"):
        insert(database, name=name)
    for direction in ("asc", "desc"):
        found: list[str] = []
        query = ListQuery(limit=1, sort_key="name", sort_dir=direction)
        while page := next_page(database, query):
            found += [row.uuid for row in page]
            query = ListQuery(limit=1, sort_key="name", sort_dir=direction, marker=found[-1])
        assert len(found) == len(set(found)) == 8


def test_what_runs_already_is_taken_of_its_node(database: Database) -> None:
    placement = BuiltinPlacement(config.load())
    (node,) = database.read(placement.candidates)
    assert (node.host, node.used) == ("node1", Resources(1, 512, 0))
    ident = insert(database, name="a", host="node1", memory="128", cpu=1.5)
    database.write(lambda session: placement.claim(session, ident, "node1", Resources(3, 256, 4)))
    assert [each.used for each in database.read(placement.candidates)] == [Resources(4, 768, 4)]


def test_claims_and_actions_go_on(database: Database) -> None:
    """Tables of ours are joined with theirs."""
    placement = BuiltinPlacement(config.load())
    ident = insert(database, name="a", host="node1")
    for consumer in (ident, "gone"):
        database.write(lambda session, it=consumer: placement.claim(session, it, "node1", Resources(1, 1, 0)))
    assert database.write(lambda session: placement.audit(session, "node1")) == 1

    database.write(
        lambda session: actions.enqueue(
            session,
            CONTEXT,
            action="stop",
            container_uuid=ident,
            host="node1",
            arguments={"reason": "🚀"},
            now=NOW,
        )
    )
    claimed = database.write(lambda session: actions.claim(session, ident, "node1", NOW, 300))
    assert claimed is not None
    assert claimed.action.arguments == {"reason": "🚀"}
    database.write(lambda session: nodes.save(session, "node1", NOW, {"cpus": 8}))
    (node,) = database.read(nodes.every)
    assert node.cpus == 8
