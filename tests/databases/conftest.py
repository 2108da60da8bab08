"""Every test of this level runs on SQLite, MariaDB and PostgreSQL, on a database of its own."""

from collections.abc import Callable, Iterator

import pytest

from tests.support.databases import KINDS, Servers, connection
from tierce.db.engine import Database


@pytest.fixture(params=KINDS, scope="session")
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(servers: Servers, kind: str) -> Iterator[str]:
    """A database that holds the schema."""
    with servers.database(kind) as url:
        yield url


@pytest.fixture
def empty_url(servers: Servers, kind: str) -> Iterator[str]:
    """A database that holds nothing yet."""
    with servers.database(kind, empty=True) as url:
        yield url


@pytest.fixture
def open_database(url: str) -> Iterator[Callable[..., Database]]:
    """Connects to the test's one database, as often as it is called: each is another process to it.

    Options are those of the group `database`.
    """
    opened: list[Database] = []

    def connected(**options: object) -> Database:
        opened.append(connection(url, **options))
        return opened[-1]

    yield connected
    for database in opened:
        database.close()


@pytest.fixture
def database(open_database: Callable[..., Database]) -> Database:
    return open_database()


@pytest.fixture(scope="module")
def module_database(servers: Servers, kind: str) -> Iterator[Database]:
    """One database for all tests of a module, which empty it themselves."""
    with servers.database(kind) as url:
        database = connection(url)
        yield database
        database.close()
