"""A migrated database in a file of its own."""

import pathlib
from collections.abc import Callable, Iterator

import pytest

from tierce import config
from tierce.db import schema
from tierce.db.engine import Database, connect


@pytest.fixture
def open_database(tmp_path: pathlib.Path) -> Iterator[Callable[[], Database]]:
    """Connects to the test's one file, as often as it is called: each is another process to the database."""
    opened: list[Database] = []
    url = f"sqlite:///{tmp_path / 'tierce.sqlite'}"

    def connected() -> Database:
        opened.append(connect(config.load(overrides=[("database", "connection", url)])))
        return opened[-1]

    yield connected
    for database in opened:
        database.close()


@pytest.fixture
def database(open_database: Callable[[], Database]) -> Database:
    database = open_database()
    schema.upgrade(database)
    return database
