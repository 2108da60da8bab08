"""Rows of networks that nodes keep, and how containers asked for theirs."""

import datetime
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tierce.db import actions, networks
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.context import RequestContext

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
MEMBER = RequestContext(user_id="u", project_id="p1", roles=("member",))


def keep(database: Database, network: str, host: str, project: str = "p1") -> tuple[str | None, bool]:
    context = RequestContext(user_id="u", project_id=project)
    row, is_new = database.write(lambda session: networks.insert(session, context, network, host, NOW))
    return row.uuid, is_new


def hosts(database: Database, context: RequestContext, network: str = "web") -> list[str | None]:
    rows = database.read(lambda session: networks.of_network(session, context, network))
    return [row.host for row in rows]


def test_a_network_has_one_row_a_node_however_many_insert_it(database: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: keep(database, "web", "node1"), range(8)))
    assert len({uuid for uuid, _ in made}) == 1
    assert [is_new for _, is_new in made].count(True) == 1
    assert keep(database, "web", "node2")[1]
    assert sorted(map(str, hosts(database, MEMBER))) == ["node1", "node2"]


def test_the_id_in_the_engine_is_noted_and_the_object_follows(database: Database) -> None:
    row, _ = database.write(lambda session: networks.insert(session, MEMBER, "web", "node1", NOW))
    database.write(lambda session: networks.set_engine_id(session, row, "c0ffee", NOW))
    again, is_new = database.write(lambda session: networks.insert(session, MEMBER, "web", "node1", NOW))
    assert (row.network_id, again.network_id, is_new) == ("c0ffee", "c0ffee", False)


def test_a_row_is_destroyed_on_its_node_alone(database: Database) -> None:
    for host in ("node1", "node2"):
        keep(database, "web", host)
    for _ in range(2):
        database.write(lambda session: networks.destroy(session, "web", "node1"))
    assert hosts(database, MEMBER) == ["node2"]


def test_rows_of_other_projects_are_for_administrators(database: Database) -> None:
    keep(database, "web", "node1", project="p2")
    assert hosts(database, MEMBER) == []
    assert hosts(database, MEMBER.replace(is_admin=True)) == ["node1"]
    assert database.read(lambda session: networks.projects_on_host(session, "node1")) == {"p2"}


def test_needed_is_what_is_kept_and_what_containers_are_in(database: Database) -> None:
    keep(database, "kept", "node1")
    keep(database, "elsewhere", "node2")
    keep(database, "foreign", "node1", project="p2")
    common: dict[str, Any] = {"project_id": "p1", "host": "node1", "status": "Running", "container_type": 0}
    rows = [
        Container(uuid="c1", addresses={"first": []}, **common),
        Container(uuid="c2", addresses={"second": []}, **common),
    ]
    database.write(lambda session: session.add_all(rows))

    def needed(but_for: str = "") -> set[str]:
        return database.read(lambda session: networks.needed(session, "p1", "node1", but_for))

    assert needed() == {"kept", "first", "second"}
    assert needed("c1") == {"kept", "second"}


def test_a_container_asked_for_a_network_when_it_was_last_attached(database: Database) -> None:
    def queue(action: str, *items: dict[str, str], failed: bool) -> None:
        def write(session: Any) -> None:
            row = actions.enqueue(
                session,
                MEMBER,
                action=action,
                container_uuid="c1",
                host="node1",
                arguments={"requested_networks": list(items)},
                now=NOW,
            )
            actions.finish(session, row, NOW, failed=failed)

        database.write(write)

    database.write(lambda session: session.add(Container(uuid="c1", status="Running", container_type=0)))
    # The container was made, though its start failed.
    queue("create", {"network": "web", "fixed_ip": "10.0.0.5"}, {"network": "db"}, failed=True)
    queue("network_attach", {"network": "web", "fixed_ip": "10.0.0.6"}, failed=False)
    queue("network_attach", {"network": "db", "fixed_ip": "10.0.0.7"}, failed=True)
    assert database.read(lambda session: networks.asked(session, "c1")) == {
        "web": {"network": "web", "fixed_ip": "10.0.0.6"},
        "db": {"network": "db"},
    }
