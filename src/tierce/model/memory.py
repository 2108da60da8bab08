"""A container's memory, which its row has as text."""

import re
from typing import Final

_UNIT: Final = re.compile("[^0-9].*", re.DOTALL)


def mebibytes(memory: str | int | None) -> int | None:
    """MiB: the number that the text begins with, or None if it does not.

    Rows of old clouds have `512m` too. The database's own sums read them in the same way.
    """
    if isinstance(memory, int):
        return memory
    digits = _UNIT.sub("", memory or "")
    return int(digits) if digits else None
