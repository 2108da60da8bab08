"""The node's part in copying files: archives between messages and the runtime, piece by piece.

Nothing here looks into an archive: what is in one, and where it goes, the runtime alone decides.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from tierce.model.archive import as_base64, as_text
from tierce.model.errors import ArchiveTooLarge
from tierce.runtimes.base import Archives

_ESCAPED: Final = 6
"""Bytes of JSON that one byte of text may become; tar files are full of such."""


def read(archives: Archives, name: str, path: str, *, encode: bool, limit: int) -> tuple[str, dict[str, Any]]:
    """A tar file of what is at `path`, in base64 or as text, and what the runtime says of it.

    Text may have a sixth of `limit`. Raises ArchiveTooLarge, PathNotFound, and Invalid for text that
    is none.
    """
    with archives.get(name, path) as (stat, pieces):
        if encode:
            return as_base64(_up_to(limit, pieces)), stat
        return as_text(_up_to(limit // _ESCAPED, pieces)), stat


def _up_to(limit: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise ArchiveTooLarge(limit)
        yield piece
