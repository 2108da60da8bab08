"""The Engine's framing of stdout and stderr in one stream. Pure.

Without a terminal, output comes as frames: one byte names the stream, three are zero, four hold the
length of the payload, then the payload. With a terminal there is one stream and no framing; nothing
in the bytes tells the two apart, so who reads must know.
"""

import collections
from collections.abc import Iterable, Iterator

ENDED_EARLY = b"\n[the stream ended early]\n"
"""Stands where the rest of a broken stream would be."""

_HEADER = 8


def demultiplex(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The payloads in order, however the chunks cut them; ENDED_EARLY last if the end cuts a frame."""
    header = bytearray()
    missing = 0  # of the payload at hand
    for chunk in chunks:
        rest = memoryview(chunk)
        payloads = []
        while rest:
            if missing:
                payloads.append(rest[:missing])
                missing -= len(payloads[-1])
                rest = rest[len(payloads[-1]) :]
                continue
            wanted = _HEADER - len(header)
            header += rest[:wanted]
            rest = rest[wanted:]
            if len(header) == _HEADER:
                missing = int.from_bytes(header[4:])
                header.clear()
        yield b"".join(payloads)
    if header or missing:
        yield ENDED_EARLY


def newest(pieces: Iterable[bytes], limit: int) -> bytes:
    """The last `limit` bytes of what the pieces make up, never holding much more than that."""
    kept: collections.deque[bytes] = collections.deque()
    size = 0
    for piece in pieces:
        kept.append(piece)
        size += len(piece)
        while kept and size - len(kept[0]) >= limit:
            size -= len(kept.popleft())
    joined = b"".join(kept)
    return joined[max(0, len(joined) - limit) :]
