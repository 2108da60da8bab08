"""Replace a file at once: whoever looks finds it whole, as it was or as it is, also after a power failure."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """A stream for what `file` is to hold, which takes its place when the block ends without an error.

    Only the owner may read it, unless the block says otherwise of the stream's descriptor. Raises OSError;
    nothing is changed or left then.
    """
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(descriptor)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise
    _persist_names(file.parent)


def _persist_names(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
