"""Tar files made in memory, and read."""

import io
import tarfile
from typing import Any


def tar(**files: bytes) -> bytes:
    """A tar file of regular files; a name's `_` is a dot."""
    return packed(*(member(name.replace("_", "."), data) for name, data in files.items()))


def member(name: str, data: bytes = b"", **facts: Any) -> tuple[tarfile.TarInfo, bytes]:
    """One member; `facts` are attributes of its header."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for attribute, value in facts.items():
        setattr(info, attribute, value)
    return info, data


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def contents(data: bytes) -> dict[str, bytes | None]:
    """Name -> content of every member; None for what is no regular file. It must not be compressed."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        return {
            info.name: file.read() if info.isreg() and (file := archive.extractfile(info)) else None
            for info in archive
        }
