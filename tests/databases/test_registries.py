"""Registries where a database decides: what a container refers to, and what fits a column."""

import datetime
import uuid

import pytest

from tierce.db import containers, registries
from tierce.db.engine import Database
from tierce.db.secrets import MAX_SECRET, Keyring
from tierce.db.tables import Container, Registry
from tierce.model.context import RequestContext
from tierce.model.errors import RegistryInUse, RegistryNotFound

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
ALICE = RequestContext(user_id="alice", project_id="red")


def insert(database: Database, **values: str) -> Registry:
    columns = {"domain": "reg.example.com", **values}
    return database.write(lambda session: registries.insert(session, ALICE, columns, NOW))


def destroy(database: Database, registry: Registry) -> None:
    database.write(lambda session: registries.destroy(session, registry))


def container_of(database: Database, registry: Registry) -> Container:
    container = Container(
        uuid=str(uuid.uuid4()),
        project_id="red",
        container_type=0,
        generation=0,
        registry_id=registry.id,
        registry_uuid=registry.uuid,
    )
    return database.write(lambda session: containers.insert(session, container, ""))


def test_a_registry_goes_when_the_last_container_that_refers_to_it_has_gone(database: Database) -> None:
    registry = insert(database)
    container = container_of(database, registry)
    with pytest.raises(RegistryInUse):
        destroy(database, registry)

    database.write(lambda session: containers.destroy(session, container))
    destroy(database, registry)
    with pytest.raises(RegistryNotFound):
        database.read(lambda session: registries.get(session, ALICE, registry.uuid or "", by_uuid=True))


def test_a_container_cannot_refer_to_a_registry_that_was_deleted_meanwhile(database: Database) -> None:
    registry = insert(database)
    destroy(database, registry)
    with pytest.raises(RegistryNotFound, match=registry.uuid):
        container_of(database, registry)


def test_the_longest_values_fit_their_columns(database: Database) -> None:
    token = Keyring(["32 characters that a test knows."]).encrypt("x" * MAX_SECRET)
    longest = dict.fromkeys(("name", "domain", "username"), "é" * 255)
    made = insert(database, password=token, **longest)
    found = database.read(lambda session: registries.get(session, ALICE, made.uuid or "", by_uuid=True))
    assert (found.name, found.domain, found.username) == tuple(longest.values())
    assert found.password == token


def test_a_password_that_changed_meanwhile_is_not_overwritten(database: Database) -> None:
    registry = insert(database, password="first")
    ident = registry.uuid or ""
    replaced = [
        database.write(lambda session, old=old: registries.replace_token(session, ident, old, "second"))
        for old in ("first", "first")
    ]
    assert replaced == [True, False]
    assert database.read(registries.tokens) == [(ident, "second")]
