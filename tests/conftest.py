"""What the levels share: one database server of each kind, on which every test has a database of its own; and
how examples are made up.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support.databases import Servers

# How long an example takes says how busy the machine is.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """Nobody may stop or break them: who does has servers of its own (see tests/chaos)."""
    servers = Servers()
    yield servers
    servers.stop()
