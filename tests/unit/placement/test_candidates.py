"""Whether an amount fits a node, and what is short when it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.placement.base import Candidate, Resources

AMOUNTS = st.builds(Resources, st.integers(0, 8), st.integers(0, 1024), st.integers(0, 10))


@pytest.mark.parametrize(
    ("used", "asked", "shortage"),
    [
        (Resources(), Resources(4, 100, 8), None),
        (Resources(4, 100, 8), Resources(), None),
        (Resources(3, 0, 0), Resources(2, 1, 0), "1 of 4 vCPU free, 2 asked"),
        (Resources(0, 60, 0), Resources(1, 41, 8), "40 of 100 MiB memory free, 41 asked"),
        (Resources(0, 0, 8), Resources(1, 1, 1), "0 of 8 GiB disk free, 1 asked"),
        (
            Resources(4, 99, 0),
            Resources(1, 2, 1),
            "0 of 4 vCPU free, 1 asked; 1 of 100 MiB memory free, 2 asked",
        ),
        # Overcommit was lowered below what is taken.
        (Resources(6, 0, 0), Resources(1, 0, 0), "-2 of 4 vCPU free, 1 asked"),
    ],
)
def test_what_is_short_is_named(used: Resources, asked: Resources, shortage: str | None) -> None:
    assert Candidate("node1", Resources(4, 100, 8), used).shortage(asked) == shortage


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_what_fits_once_more_fits_together(capacity: Resources, used: Resources, asked: Resources) -> None:
    fits = Candidate("node1", capacity, used).shortage(asked) is None
    total = used + asked
    fits_together = all(
        getattr(total, name) <= getattr(capacity, name) or getattr(asked, name) == 0
        for name in ("vcpus", "memory_mb", "disk_gb")
    )
    if fits:
        assert fits_together
