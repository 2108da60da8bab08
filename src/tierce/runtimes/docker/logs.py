"""What a container wrote, from `GET /containers/{id}/logs`.

The Engine takes seconds for a million lines, and a log may have a hundred millions, so the newest bytes are
looked for from its end: among few lines first, then among more.
"""

from collections.abc import Iterable, Iterator

from tierce.model.errors import RuntimeUnreachable
from tierce.runtimes.docker.connection import Connection
from tierce.runtimes.docker.frames import ENDED_EARLY, demultiplex, newest


def read(
    connection: Connection,
    ref: str,
    *,
    tty: bool,
    stdout: bool,
    stderr: bool,
    timestamps: bool,
    tail: int | None,
    since: float | None,
    limit: int,
) -> bytes:
    """The newest `limit` bytes; ENDED_EARLY is their end when the Engine stopped in the middle."""

    def last(lines: int | None) -> bytes:
        params = {
            "stdout": int(stdout),
            "stderr": int(stderr),
            "timestamps": int(timestamps),
            "tail": "all" if lines is None else str(lines),
        }
        if since is not None:
            params["since"] = f"{since:.9f}"
        with connection.stream("GET", "/containers/{}/logs", ref, params=params) as stream:
            return newest(_marked(stream if tty else demultiplex(stream)), limit)

    # The Engine breaks lines at 16 KiB, so the fewest cannot be more than four times the limit.
    for lines in (limit // 4096, limit // 512, limit // 64, limit // 8, limit):
        if tail is not None and tail <= lines:
            break
        text = last(lines)
        # A line has its end at least, so fewer bytes than lines are all that there is; but the Engine counts
        # the lines of both streams, also when it gives those of one.
        if len(text) >= limit or text.endswith(ENDED_EARLY) or (stdout and stderr and len(text) < lines):
            return text
    return last(tail)


def _marked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces up to a break: what was read before it is worth more than an error."""
    try:
        yield from pieces
    except RuntimeUnreachable:
        yield ENDED_EARLY
