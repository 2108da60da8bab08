"""The up-test, which every process of a cloud must apply alike."""

import datetime
from typing import Any

import pytest

from tierce.db.services import is_up
from tierce.db.tables import Service

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
DOWN_TIME = 180


def ago(seconds: float) -> datetime.datetime:
    return NOW - datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("row", "up"),
    [
        ({"last_seen_up": ago(0)}, True),
        ({"last_seen_up": ago(180)}, True),
        ({"last_seen_up": ago(180.001)}, False),
        # Its clock is ahead of ours: a little is forgiven, as much as the other way.
        ({"last_seen_up": ago(-180)}, True),
        ({"last_seen_up": ago(-181)}, False),
        ({"last_seen_up": ago(0), "forced_down": True}, False),
        ({"last_seen_up": ago(0), "forced_down": None, "disabled": True}, True),
        # The newer of the two is not what counts, but the first that is there.
        ({"last_seen_up": ago(500), "created_at": ago(0)}, False),
        # Somebody changed a flag of a node that has not reported for long, or never.
        ({"last_seen_up": ago(500), "updated_at": ago(0)}, False),
        ({"updated_at": ago(0), "created_at": ago(500)}, False),
        ({"updated_at": ago(0)}, False),
        ({"created_at": ago(10)}, True),
        ({"created_at": ago(500)}, False),
        ({}, False),
    ],
)
def test_a_node_is_up_while_its_last_sign_of_life_is_young(row: dict[str, Any], up: bool) -> None:
    assert is_up(Service(**row), NOW, DOWN_TIME) == up
