"""An address that cannot be used is refused in words that do not repeat its password."""

import traceback

import pytest

from tierce import config
from tierce.db.engine import connect
from tierce.model.errors import TierceError
from tierce.rpc.transport import BusRefused, build_shared_transport, build_transport

SECRET = "hunter2"


def refusal(group: str, option: str, value: str) -> str:
    conf = config.load(overrides=[(group, option, value)])
    with pytest.raises(TierceError) as caught:
        connect(conf) if group == "database" else build_transport(conf)
    return "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "url",
    [
        f"rabbit://tierce:{SECRET}@host:port/",
        f"rabbit://tierce:{SECRET}/x@host:5672/",
        f"rabbit://tierce:{SECRET}@[host/",
        f"rabbit://tierce:{SECRET}%2Fx@host:5672/",
        f"nosuch://tierce:{SECRET}@host/",
    ],
)
def test_a_transport_url(url: str) -> None:
    said = refusal("DEFAULT", "transport_url", url)
    assert "transport_url" in said
    assert SECRET not in said


def test_programs_that_share_a_bus_do_not_take_the_one_inside_a_process() -> None:
    with pytest.raises(BusRefused, match="transport_url"):
        build_shared_transport(config.load())


@pytest.mark.parametrize(
    "url",
    [
        f"mysql+pymysql://tierce:{SECRET}@host:port/tierce",
        f"mysql+nosuch://tierce:{SECRET}@host/tierce",
        f"nosuch://tierce:{SECRET}@host/tierce",
        f"tierce:{SECRET}@host",
        f"mysql+pymysql://tierce:p@{SECRET}@host/tierce",
    ],
)
def test_a_database_url(url: str) -> None:
    said = refusal("database", "connection", url)
    assert "[database] connection" in said
    assert SECRET not in said
