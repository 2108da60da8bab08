"""Files of a container as tar files: `/containers/{id}/archive`.

The Engine resolves every path and unpacks every archive, confined to the container's root. Nothing here
looks into one.
"""

import base64
import contextlib
import json
from collections.abc import Iterator
from typing import Any, Final

from tierce.model.archive import Content
from tierce.model.errors import (
    PathNotFound,
    RuntimeBadRequest,
    RuntimeConflict,
    RuntimeFailure,
    RuntimeNotFound,
    RuntimeUnreachable,
)
from tierce.runtimes.docker import report
from tierce.runtimes.docker.connection import Connection

_ARCHIVE: Final = "/containers/{}/archive"
_STAT: Final = "X-Docker-Container-Path-Stat"
_KEYS: Final = ("name", "size", "mode", "mtime", "linkTarget")

_MEANT: Final = (RuntimeBadRequest, RuntimeConflict, RuntimeUnreachable)
"""Errors whose status says all."""


class EngineArchives:
    """`Archives` of `runtimes/base.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextlib.contextmanager
    def get(self, ref: str, path: str) -> Iterator[tuple[dict[str, Any], Iterator[bytes]]]:
        with (
            self._blaming_the_path(ref, path),
            self._connection.stream("GET", _ARCHIVE, ref, params={"path": path}) as stream,
        ):
            with report.readable():
                stat = json.loads(base64.b64decode(stream.headers[_STAT]))
                facts = {key: stat[key] for key in _KEYS}
            yield facts, iter(stream)

    def put(self, ref: str, path: str, content: Content) -> None:
        try:
            with self._blaming_the_path(ref, path):
                self._connection.call("PUT", _ARCHIVE, ref, params={"path": path}, content=content)
        except (*_MEANT, RuntimeNotFound):
            raise
        except RuntimeFailure as exc:
            # The path is there, so it is the archive: no tar file, or one that the Engine will not unpack.
            raise RuntimeBadRequest(f"Docker cannot unpack the archive in {path}: {exc.message}") from exc

    @contextlib.contextmanager
    def _blaming_the_path(self, ref: str, path: str) -> Iterator[None]:
        """Raise PathNotFound for a failure that comes of the path.

        Its status does not say so: 404 may be the container, and 500 anything, with a text that shows
        where on this machine the container's root is.
        """
        try:
            yield
        except _MEANT:
            raise
        except RuntimeFailure as exc:
            self._connection.call("GET", "/containers/{}/json", ref)
            self._connection.call("HEAD", _ARCHIVE, ref, params={"path": "/"})
            if not self._has(ref, path):
                raise PathNotFound(f"There is no file or directory {path} in the container.") from exc
            if isinstance(exc, RuntimeNotFound):
                # Docker 26 says so also when a link in an archive leads to a file that is not there.
                raise RuntimeFailure(exc.message) from exc
            raise

    def _has(self, ref: str, path: str) -> bool:
        try:
            self._connection.call("HEAD", _ARCHIVE, ref, params={"path": path})
        except _MEANT:
            raise
        except RuntimeFailure:
            return False
        return True
