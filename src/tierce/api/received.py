"""Receive the body of a request. JSON with one long text in it, an archive, is never in memory twice."""

import contextlib
import mmap
import re
import secrets
from collections.abc import Iterator
from typing import Any, Final

import orjson

from tierce.api.http import Request
from tierce.api.middleware.body_limit import too_large
from tierce.model.errors import MalformedBody

_PIECE: Final = 256 * 1024
"""Bytes that are received and turned into text at a time: whole pages of memory."""

_LONG_TEXT: Final = re.compile(rb'"([A-Za-z0-9+/]{%d,}={0,2})"' % _PIECE)
"""A string of JSON that stands for itself: base64 has no escapes in it."""


class Received:
    """The bytes of one body, in memory that the system gives page by page and gets back when told so."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # One more than the limit: to see that there is more.
        self._memory = mmap.mmap(-1, limit + 1)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return self._memory[: self._size]

    def read_from(self, stream: Any) -> None:
        """Take all that a WSGI stream has, and raise what it raises; HTTPContentTooLarge above the limit."""
        while piece := stream.read(min(_PIECE, self._limit + 1 - self._size)):
            self._memory.write(piece)
            self._size += len(piece)
            if self._size > self._limit:
                raise too_large(self._limit)

    def json(self, opaque: str | None = None) -> Any:
        """The document. A long base64 text in the field `opaque` is turned last, and is gone from here then.

        Raises orjson.JSONDecodeError.
        """
        text = _LONG_TEXT.search(self._memory, 0, self._size) if opaque else None
        if text is not None:
            start, end = text.span(1)
            # A client cannot know what stands in the text's place while the rest is read.
            place = secrets.token_hex()
            rest = b"".join((self._memory[:start], place.encode(), self._memory[end : self._size]))
            document = orjson.loads(rest)
            if isinstance(document, dict) and document.get(opaque) == place:
                document[opaque] = self._moved(start, end)
                return document
        with memoryview(self._memory) as memory, memory[: self._size] as content:
            return orjson.loads(content)

    def _moved(self, start: int, end: int) -> str:
        text = ""
        for first in range(start - start % _PIECE, end, _PIECE):
            # Grown in place: a list that is joined at its end would be in memory twice.
            text += self._memory[max(first, start) : min(first + _PIECE, end)].decode("ascii")
            self._memory.madvise(mmap.MADV_DONTNEED, first, min(_PIECE, len(self._memory) - first))
        return text

    def close(self) -> None:
        self._memory.close()


@contextlib.contextmanager
def received(req: Request) -> Iterator[Received]:
    """The body of a request, while the context lasts.

    Raises HTTPContentTooLarge (413); MalformedBody when it does not arrive as its headers say.
    """
    length = req.content_length
    if length is None and not req.env.get("wsgi.input_terminated"):
        length = 0
    body = Received(req.body_limit if length is None else min(length, req.body_limit))
    with contextlib.closing(body):
        try:
            body.read_from(req.stream if length is None else req.bounded_stream)
        except (ValueError, OSError) as exc:
            # The server's streams raise these for bad chunks, and for clients that stall or go away.
            raise MalformedBody("The request body is not validly encoded, or did not arrive.") from exc
        yield body
