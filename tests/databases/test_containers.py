"""Queries of the container table, where two writers or bad data meet."""

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from tierce.api.requests.container_parts import MAX_CONTENTS
from tierce.db import actions, containers, quotas
from tierce.db.engine import Database
from tierce.db.tables import (
    Allocation,
    Base,
    Container,
    ContainerActionEvent,
    ExecInstance,
    Volume,
    VolumeMapping,
)
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, ContainerAlreadyExists, ContainerNotFound, StaleObject
from tierce.model.lifecycle import ContainerType
from tierce.model.spec import ListQuery

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
ADMIN = RequestContext(user_id="admin", project_id="admin", is_admin=True)
EVERYWHERE = ADMIN.spanning()


def member(project: str) -> RequestContext:
    return RequestContext(user_id=f"user of {project}", project_id=project)


def build(project: str = "p1", name: str | None = "web", **values: Any) -> Container:
    defaults = {"status": "Created", "container_type": 0, "generation": 0, "created_at": NOW}
    return Container(**{"uuid": str(uuid.uuid4()), "project_id": project, "name": name, **defaults, **values})


def insert(database: Database, scope: str = "", **values: Any) -> Container:
    return database.write(lambda session: containers.insert(session, build(**values), scope))


def read(database: Database, ident: str, context: RequestContext = EVERYWHERE) -> Container:
    return database.read(lambda session: containers.get(session, context, ident, by_uuid=True))


def by_name(database: Database, context: RequestContext, name: str) -> Container:
    return database.read(lambda session: containers.get(session, context, name, by_uuid=False))


def count(database: Database, table: type[Base]) -> int:
    return database.read(lambda session: session.scalar(select(func.count()).select_from(table)) or 0)


def fingerprint(database: Database) -> tuple[Any, ...]:
    return database.read(lambda session: containers.fingerprint(session, EVERYWHERE))


# --- compare and swap ---------------------------------------------------------------------------


def test_of_two_writers_who_read_the_same_row_one_loses(
    database: Database, open_database: Callable[[], Database]
) -> None:
    ident = insert(database).uuid
    first, second = read(database, ident), read(open_database(), ident)

    database.write(lambda session: containers.swap(session, first, NOW, status="Running"))
    with pytest.raises(StaleObject):
        database.write(lambda session: containers.swap(session, second, NOW, status="Stopped"))

    assert read(database, ident).status == "Running"


def test_no_change_leaves_a_list_s_fingerprint_as_it_was(database: Database) -> None:
    """Whoever has the list of before sees so, also of two changes in one moment."""
    first, second = insert(database), insert(database)
    seen = [fingerprint(database)]
    for values in ({"status": "Running"}, {"status": "Stopped"}):
        database.write(lambda session, values=values: containers.swap(session, first, NOW, **values))
        seen.append(fingerprint(database))
    insert(database)
    seen.append(fingerprint(database))
    database.write(lambda session: containers.destroy(session, second))
    seen.append(fingerprint(database))
    assert len(set(seen)) == len(seen)


def test_the_loser_changes_nothing_else_of_its_transaction(database: Database) -> None:
    ident = insert(database).uuid
    stale = read(database, ident)
    database.write(lambda session: containers.swap(session, read(database, ident), NOW, status="Running"))

    def accept(session: Session) -> None:
        actions.enqueue(
            session, ADMIN, action="stop", container_uuid=ident, host="node1", arguments={}, now=NOW
        )
        containers.swap(session, stale, NOW, status="Stopped")

    with pytest.raises(StaleObject):
        database.write(accept)
    assert database.read(lambda session: actions.of_container(session, ident)) == []


def test_a_writer_may_go_on_with_what_it_has_just_written(database: Database) -> None:
    row = insert(database)
    for status in ("Running", "Stopped"):
        database.write(lambda session, status=status: containers.swap(session, row, NOW, status=status))
    assert (read(database, row.uuid).status, row.status, row.updated_at) == ("Stopped", "Stopped", NOW)


def test_a_row_that_is_gone_is_not_found_rather_than_stale(database: Database) -> None:
    row = insert(database)
    database.write(lambda session: containers.destroy(session, row))
    with pytest.raises(ContainerNotFound):
        database.write(lambda session: containers.swap(session, row, NOW, status="Running"))


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "other", "taken"),
    [
        ("project", {"project": "p1", "name": "WEB"}, True),
        ("project", {"project": "p2", "name": "web"}, False),
        ("global", {"project": "p2", "name": "Web"}, True),
        ("global", {"project": "p2", "name": "web2"}, False),
        ("", {"project": "p1", "name": "web"}, False),
        ("global", {"project": "p1", "name": None}, False),
        ("project", {"project": "p1", "name": "Web", "container_type": 1}, True),
    ],
)
def test_a_name_is_taken_within_its_scope(
    database: Database, scope: str, other: dict[str, Any], taken: bool
) -> None:
    insert(database, scope, project="p1", name="web")
    if taken:
        with pytest.raises(ContainerAlreadyExists, match="A container with name web already exists"):
            insert(database, scope, **other)
    else:
        insert(database, scope, **other)


def test_a_container_may_take_its_own_name_in_another_case(database: Database) -> None:
    row = insert(database, "project")
    database.write(lambda session: containers.rename(session, row, "Web", "project", NOW))
    assert read(database, row.uuid).name == "Web"


def test_a_name_that_was_given_up_is_free(database: Database) -> None:
    row = insert(database, "project")
    database.write(lambda session: containers.rename(session, row, "api", "project", NOW))
    insert(database, "project")
    with pytest.raises(ContainerAlreadyExists):
        database.write(lambda session: containers.rename(session, row, "WEB", "project", NOW))


def test_a_name_that_two_have_is_a_conflict(database: Database) -> None:
    insert(database)
    insert(database)
    with pytest.raises(Conflict, match="Multiple containers exist with same name"):
        by_name(database, member("p1"), "web")


def test_an_administrators_name_is_its_own_project_s_first(database: Database) -> None:
    insert(database, project="p1")
    own = insert(database, project="admin")
    assert by_name(database, EVERYWHERE, "web").uuid == own.uuid


def test_an_administrator_finds_a_name_that_only_another_project_has(database: Database) -> None:
    theirs = insert(database, project="p1")
    assert by_name(database, EVERYWHERE, "web").uuid == theirs.uuid
    insert(database, project="p2")
    with pytest.raises(Conflict):
        by_name(database, EVERYWHERE, "web")


def test_another_project_s_container_is_not_found(database: Database) -> None:
    theirs = insert(database, project="p1")
    with pytest.raises(ContainerNotFound):
        by_name(database, member("p2"), "web")
    with pytest.raises(ContainerNotFound):
        read(database, theirs.uuid, member("p2"))


def test_an_identity_without_a_project_sees_what_its_user_owns(database: Database) -> None:
    insert(database, user_id="other")
    own = insert(database, project=None, user_id="alice")
    alice = RequestContext(user_id="alice")
    found = database.read(lambda session: containers.page(session, alice, ListQuery(limit=10)))
    assert [row.uuid for row in found] == [own.uuid]


def test_capsules_are_not_containers(database: Database) -> None:
    capsule = insert(database, container_type=1)
    with pytest.raises(ContainerNotFound):
        read(database, capsule.uuid)
    assert database.read(lambda s: containers.page(s, EVERYWHERE, ListQuery(limit=10))) == []


# --- bad rows -----------------------------------------------------------------------------------


def test_a_row_with_broken_json_does_not_fail_the_list_it_is_in(database: Database) -> None:
    for name in ("first", "bad", "last"):
        insert(database, name=name, command=["true"], labels={"a": "b"})
    broken = text("UPDATE container SET command = '[', labels = '7', annotations = '{' WHERE name = 'bad'")
    database.write(lambda session: session.execute(broken))

    rows = database.read(lambda session: containers.page(session, member("p1"), ListQuery(limit=10)))

    assert [(row.name, row.command, row.labels) for row in rows] == [
        ("first", ["true"], {"a": "b"}),
        ("bad", [], {}),
        ("last", ["true"], {"a": "b"}),
    ]


def test_of_a_capsule_on_a_node_the_members_are_not_counted_again(database: Database) -> None:
    for kind in ContainerType:
        insert(database, container_type=kind, host="node1", cpu=1, memory="100", disk=1)
    assert database.read(lambda session: containers.given(session, "node1")) == (2, 200, 2)


def test_memory_that_is_no_number_counts_as_none(database: Database) -> None:
    insert(database, memory="64", cpu=0.1, disk=1)
    insert(database, memory="lots", cpu=0.2, disk=None)
    insert(database, memory=None, cpu=None)
    insert(database, container_type=1, memory="512", cpu=4.0)
    _, used = database.read(lambda session: quotas.standing(session, "p1"))
    assert used == {
        "containers": 3,
        "cpu": 0.3,
        "memory": 64,
        "disk": 1,
    }


# --- files --------------------------------------------------------------------------------------


def test_the_largest_file_that_a_request_may_bring_is_kept(database: Database) -> None:
    owner = {"project_id": "p" * 255, "user_id": "u" * 255, "host": "h" * 255}
    file = Volume(uuid=str(uuid.uuid4()), volume_provider="local", contents="A" * MAX_CONTENTS, **owner)
    database.write(lambda session: session.add(file))
    assert database.read(lambda session: session.scalar(select(Volume.contents))) == "A" * MAX_CONTENTS


# --- removal ------------------------------------------------------------------------------------


def mount(session: Session, container: Container, volume: Volume, path: str) -> None:
    session.add(
        VolumeMapping(
            uuid=str(uuid.uuid4()),
            container_uuid=container.uuid,
            container_path=path,
            volume_id=volume.id,
        )
    )


def test_with_a_container_goes_everything_that_hangs_on_it(database: Database) -> None:
    row, other = insert(database), insert(database)

    def furnish(session: Session) -> None:
        own, shared = (Volume(uuid=str(uuid.uuid4()), volume_provider="local") for _ in range(2))
        session.add_all([own, shared])
        session.flush()
        mount(session, row, own, "/own")
        mount(session, row, shared, "/shared")
        mount(session, other, shared, "/shared")
        session.add(ExecInstance(container_id=row.id, exec_id="e"))
        session.add(Allocation(consumer_uuid=row.uuid, host="node1", vcpus=1, memory_mb=1, disk_gb=0))
        action = actions.enqueue(
            session, ADMIN, action="create", container_uuid=row.uuid, host="node1", arguments={}, now=NOW
        )
        actions.start_event(session, action, "compute__do_container_create", NOW, resume=False)

    database.write(furnish)
    database.write(lambda session: containers.destroy(session, row))

    assert count(database, Container) == 1
    assert (count(database, Volume), count(database, VolumeMapping)) == (1, 1)
    assert [count(database, table) for table in (Allocation, ExecInstance, ContainerActionEvent)] == [0] * 3
    assert database.read(lambda session: actions.of_container(session, row.uuid)) == []


def test_destroying_it_again_is_a_success(database: Database) -> None:
    row = insert(database)
    for _ in range(2):
        database.write(lambda session: containers.destroy(session, row))
    assert count(database, Container) == 0
