"""Options whose values do not mean what they seem to."""

import pytest

from tierce import config
from tierce.config.default import sync_interval


@pytest.mark.parametrize(("value", "seconds"), [(None, 600), (60, 60), (0, 600), (-1, None)])
def test_no_seconds_between_comparisons_are_the_default_and_less_are_none_at_all(
    value: int | None, seconds: int | None
) -> None:
    given = [] if value is None else [("DEFAULT", "sync_container_state_interval", value)]
    assert sync_interval(config.load(overrides=given)) == seconds
