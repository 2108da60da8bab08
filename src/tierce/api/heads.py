"""Reading the head of a request: what two programs might read in two ways is refused with 400.

A proxy stands before many a service. Where the two do not agree on where a body ends or on who asks, one
client's bytes pass for another's request (RFC 9112, parts 5.1 and 6.3; RFC 9110, part 5.3).
"""

import re
from typing import Any, Final

from cheroot.server import HeaderReader

from tierce.api.versions import HEADER

_NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH: Final = b"Content-Length"
_ENCODING: Final = b"Transfer-Encoding"
_ONCE: Final = frozenset({_LENGTH, _ENCODING, b"Host", b"Authorization", b"X-Auth-Token", b"Content-Type"})
_LISTS: Final = frozenset({HEADER.title().encode()})
"""Of headers that are lists, those that the library does not know."""


class Headers(HeaderReader):
    """Raises ValueError, which the server answers with 400."""

    def __call__(self, rfile: Any, hdict: dict[bytes, bytes] | None = None) -> dict[bytes, bytes]:
        read: dict[bytes, bytes] = super().__call__(rfile, _Head())
        if _LENGTH in read and _ENCODING in read:
            raise ValueError("A body has either a Content-Length or a Transfer-Encoding.")
        if not read.get(_LENGTH, b"0").isdigit():
            raise ValueError("Malformed Content-Length.")
        hdict = {} if hdict is None else hdict
        hdict.update(read)
        return hdict

    def _transform_key(self, key_name: bytes) -> bytes:
        if not _NAME.fullmatch(key_name):
            raise ValueError("Illegal name of a header.")
        return key_name.title()

    def _allow_header(self, key_name: bytes) -> bool:
        # An application cannot tell it from the header with dashes.
        return b"_" not in key_name


class _Head(dict[bytes, bytes]):
    """Headers by name."""

    def __setitem__(self, name: bytes, value: bytes) -> None:
        if name in self and name in _ONCE:
            raise ValueError(f"The header {name.decode()} is given more than once.")
        if name in self and name in _LISTS:
            value = b", ".join((self[name], value))
        super().__setitem__(name, value)
