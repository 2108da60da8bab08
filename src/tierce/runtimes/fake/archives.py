"""Files of the fake engine's containers, as `Archives` of `runtimes/base.py`.

A container begins with the directories `/` and `/tmp`; a file brings its directories with it.
"""

import contextlib
import io
import posixpath
import tarfile
from collections.abc import Iterator
from typing import Any, Final

from tierce.model.archive import Content
from tierce.model.errors import PathNotFound, RuntimeBadRequest
from tierce.runtimes.fake.engine import FakeContainer, FakeEngine

_FILE_MODE: Final = 0o644
_DIRECTORY_MODE: Final = 0o755 | 1 << 31
_PIECE: Final = 64 * 1024


class FakeArchives:
    """Regular files alone: no links, owners or times."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    @contextlib.contextmanager
    def get(self, ref: str, path: str) -> Iterator[tuple[dict[str, Any], Iterator[bytes]]]:
        with self._engine.call("archives.get"):
            container = self._engine.container(ref)
            place = _absolute(path)
            is_file = place in container.files
            if not is_file and place not in _directories(container):
                raise PathNotFound(f"There is no file or directory {path} in the container.")
            stat = {
                "name": posixpath.basename(place) or "/",
                "size": len(container.files.get(place, b"")),
                "mode": _FILE_MODE if is_file else _DIRECTORY_MODE,
                "mtime": "1970-01-01T00:00:00Z",
                "linkTarget": "",
            }
            data = _packed(container, place)
        yield stat, (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))

    def put(self, ref: str, path: str, content: Content) -> None:
        with self._engine.call("archives.put"):
            container = self._engine.container(ref)
            place = _absolute(path)
            if place in container.files:
                raise RuntimeBadRequest("extraction point is not a directory")
            if place not in _directories(container):
                raise PathNotFound(f"There is no file or directory {path} in the container.")
            container.files |= _unpacked(place, b"".join(content))


def _absolute(path: str) -> str:
    return posixpath.normpath(posixpath.join("/", path))


def _directories(container: FakeContainer) -> set[str]:
    found = {"/", "/tmp"}  # noqa: S108 (a path of the fake container)
    for file in container.files:
        while (file := posixpath.dirname(file)) != "/":
            found.add(file)
    return found


def _packed(container: FakeContainer, place: str) -> bytes:
    """What is there, under the last part of its path."""
    buffer = io.BytesIO()
    above = posixpath.dirname(place)
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in container.files.items():
            if name == place or name.startswith(posixpath.join(place, "")):
                member = tarfile.TarInfo(posixpath.relpath(name, above))
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _unpacked(place: str, data: bytes) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    if not data:
        return files
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                content = archive.extractfile(member)
                target = _absolute(posixpath.join(place, member.name.lstrip("/")))
                if content is not None:
                    files[target] = content.read()
    except tarfile.TarError as exc:
        raise RuntimeBadRequest(f"The archive cannot be unpacked: {exc}") from exc
    return files
