"""Tar files as they travel, in base64 or as text. Pure, and piece by piece: never twice whole in memory."""

import binascii
import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from tierce.model.errors import Base64Invalid, Invalid

_PIECE: Final = 64 * 1024
"""Characters or bytes handled at a time; a multiple of 4, as base64 comes in fours."""

# One class of characters: repeated groups would remember every repetition of a text of megabytes.
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")


class Content(Protocol):
    """Bytes of a known number, which may be gone through more than once."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[bytes]: ...


class Base64Content:
    """The bytes that a base64 text stands for, decoded as they are gone through."""

    def __init__(self, text: str) -> None:
        """Raises Base64Invalid: there may be nothing in it but base64, not even blanks or line ends."""
        if len(text) % 4 or not _BASE64.fullmatch(text):
            raise Base64Invalid("Invalid Base 64 file data")
        self._text = text

    def __len__(self) -> int:
        return len(self._text) // 4 * 3 - self._text[-2:].count("=")

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self._text), _PIECE):
            yield binascii.a2b_base64(self._text[start : start + _PIECE])


class TextContent:
    """The UTF-8 of a text."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()

    def __len__(self) -> int:
        return len(self._bytes)

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self._bytes), _PIECE):
            yield self._bytes[start : start + _PIECE]


def content(data: str, *, encoded: bool) -> Content:
    """What a message's `data` stands for. Raises Base64Invalid."""
    return Base64Content(data) if encoded else TextContent(data)


def as_base64(pieces: Iterable[bytes]) -> str:
    """The base64 of all pieces together."""
    text, rest = "", b""
    for piece in pieces:
        whole = rest + piece
        complete = len(whole) - len(whole) % 3
        # Grown in place: a list that is joined at its end would be in memory twice.
        text += binascii.b2a_base64(whole[:complete], newline=False).decode("ascii")
        rest = whole[complete:]
    text += binascii.b2a_base64(rest, newline=False).decode("ascii")
    return text


def as_text(pieces: Iterable[bytes]) -> str:
    """All pieces together as UTF-8. Raises Invalid when they are not."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = ""
    try:
        for piece in pieces:
            text += decoder.decode(piece)
        text += decoder.decode(b"", final=True)
    except UnicodeDecodeError as exc:
        raise Invalid(
            "The archive is not UTF-8 text: reading it requires microversion 1.25, which encodes it."
        ) from exc
    return text
