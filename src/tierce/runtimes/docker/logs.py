"""What a container wrote, from `GET /containers/{id}/logs`."""

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
    params = {
        "stdout": int(stdout),
        "stderr": int(stderr),
        "timestamps": int(timestamps),
        "tail": "all" if tail is None else str(tail),
    }
    if since is not None:
        params["since"] = f"{since:.9f}"
    with connection.stream("GET", "/containers/{}/logs", ref, params=params) as stream:
        return newest(_marked(stream if tty else demultiplex(stream)), limit)


def _marked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces up to a break: what was read before it is worth more than an error."""
    try:
        yield from pieces
    except RuntimeUnreachable:
        yield ENDED_EARLY
