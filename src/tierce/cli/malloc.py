"""How the process's memory goes back to the system."""

import ctypes
from typing import Final

_M_MMAP_THRESHOLD: Final = -3
"""See mallopt(3)."""

_LARGE: Final = 1024 * 1024
"""Bytes."""


def give_large_blocks_back() -> None:
    """Have the C library give large blocks back as soon as they are free, and enlarge them without a copy.

    The GNU one stops doing so for all up to 32 MiB once one of that size was freed. Others have no such
    setting, and it does nothing.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
