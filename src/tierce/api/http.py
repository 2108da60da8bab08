"""A request as the middleware leaves it, and the ways to answer one."""

import functools
import itertools
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, Final

import falcon
import orjson

from tierce.api.versions import MAXIMUM, MINIMUM, Version
from tierce.model.context import RequestContext

_LOGGED: Final = 200
"""Characters of a path that the log has: more than any that leads somewhere."""


_PIECE: Final = 64 * 1024
"""Characters of a long text that are sent at a time."""


class Request(falcon.Request):
    """The attributes are set by the middleware, in this order; public routes have no `caller`."""

    request_id: str
    global_request_id: str | None
    body_limit: int
    caller: RequestContext
    version: Version

    @property
    def line(self) -> str:
        """Method and path for the log: on one line whatever is in them, and never a long one."""
        return f"{self.method} {urllib.parse.quote(self.path[:_LOGGED])}"

    @property
    def host_url(self) -> str:
        """Scheme and host as the client wrote them, without any path prefix: the base of all links.

        python-zunclient cuts `/v1` off a link's path and appends the rest to its endpoint, so a prefix
        would be doubled.
        """
        return f"{self.scheme}://{self.netloc}"


def document(value: Any) -> bytes:
    """A body: the value as JSON."""
    return orjson.dumps(value)


def respond(resp: falcon.Response, status: int, body: bytes) -> None:
    """Answer with a body that is JSON already."""
    resp.status = status
    resp.data = body


def answer(resp: falcon.Response, status: int, value: Any, location: str | None = None) -> None:
    """Answer with a value as JSON."""
    respond(resp, status, document(value))
    if location is not None:
        resp.set_header("Location", location)


def answer_with_base64(resp: falcon.Response, name: str, base64: str, rest: Mapping[str, Any]) -> None:
    """Answer 200 with an object: a long text, which JSON has as it is, and then the rest, which is not empty.

    The text is sent piece by piece. As part of a document it would be in memory twice more.
    """
    before, after = document({name: ""})[:-2], b'",' + document(rest)[1:]
    pieces = (base64[start : start + _PIECE].encode() for start in range(0, len(base64), _PIECE))
    resp.status = 200
    resp.set_stream(itertools.chain((before,), pieces, (after,)), len(before) + len(base64) + len(after))


def accepted(resp: falcon.Response) -> None:
    """Answer that the work is queued: 202, and `null`, which clients parse."""
    answer(resp, 202, None)


def deleted(resp: falcon.Response) -> None:
    """Answer 204 with nothing at all: a body here would desynchronize the connection."""
    resp.status = 204


Responder = Callable[..., None]

_VERSIONS: Final = "versions"


def supported(first: str = str(MINIMUM), last: str = str(MAXIMUM)) -> Callable[[Responder], Responder]:
    """Limit a responder to the versions from `first` to `last`; others are answered 406.

    It must be 406: Heat tries the newer way first and falls back on that status.
    """
    lowest, highest = Version.of(first), Version.of(last)

    def decorate(responder: Responder) -> Responder:
        @functools.wraps(responder)
        def respond(resource: object, req: Request, resp: falcon.Response, **params: Any) -> None:
            if not lowest <= req.version <= highest:
                raise falcon.HTTPNotAcceptable(
                    description=f"Version {req.version} was requested but the requested API is not "
                    "supported for this version."
                )
            responder(resource, req, resp, **params)

        respond.__dict__[_VERSIONS] = (lowest, highest)
        return respond

    return decorate


def versions_of(responder: Responder) -> tuple[Version, Version]:
    """The first and the last version at which a responder is there."""
    first, last = responder.__dict__.get(_VERSIONS, (MINIMUM, MAXIMUM))
    return first, last
