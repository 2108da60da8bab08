"""What the levels share: one database server of each kind, on which every test has a database of its own."""

from collections.abc import Iterator

import pytest

from tests.support.databases import Servers


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """Nobody may stop or break them: who does has servers of its own (see tests/chaos)."""
    servers = Servers()
    yield servers
    servers.stop()
