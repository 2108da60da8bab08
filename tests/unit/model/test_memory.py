"""How much memory a row's text stands for."""

import pytest

from tierce.model.memory import mebibytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512", 512),
        ("512m", 512),
        ("0512", 512),
        ("", None),
        ("m", None),
        ("-5", None),
        ("12\n34", 12),
        (None, None),
        (64, 64),
    ],
)
def test_the_digits_that_it_begins_with_are_mebibytes(text: str | int | None, size: int | None) -> None:
    assert mebibytes(text) == size
