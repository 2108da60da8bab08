"""Moments in the two forms that messages and users have for them."""

import pytest

from tierce.model.moments import unix_seconds, written


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("1514764800", 1514764800.0),
        ("2018-01-01 00:00:00,123", 1514764800.123),
        ("2018-01-01T02:00:00+02:00", 1514764800.0),
    ],
)
def test_a_moment_is_digits_or_a_date(text: str, seconds: float) -> None:
    assert unix_seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "None", "1.5", "-1", "1" * 12, "1969-12-31", "9999-12-31", "2018-13-01", "²"]
)
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="It must"):
        unix_seconds(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0"),
        (1514764800.0, "1514764800"),
        (1514764800.123, "2018-01-01 00:00:00,123000"),
        (99999999999.5, "5138-11-16 09:46:39,500000"),
    ],
)
def test_what_is_written_says_the_same_when_it_is_read(seconds: float, text: str) -> None:
    assert written(seconds) == text
    assert unix_seconds(text) == seconds
