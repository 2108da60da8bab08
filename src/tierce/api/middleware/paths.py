"""Bring the spellings of one path together before it is routed."""

import falcon

from tierce.api.http import Request

_API = "v1"
_CONTAINERS = "containers"
_IMAGES = "images"
_SEARCH = "search"

ENCODED_SLASH = "%2F"
"""What stands for a slash inside one segment."""


class Paths:
    """Rewrites the path to the one form that the route table knows."""

    def process_request(self, req: Request, _resp: falcon.Response) -> None:
        if "\0" in req.path:
            # No name has it, and databases refuse to look for it.
            raise falcon.HTTPRouteNotFound()
        req.path = canonical(req.path)


def canonical(path: str) -> str:
    """The one form of `path`.

    - A path without `/v1` gets it: endpoints and bookmark links may lack it.
    - Slashes at the end go; below `containers`, empty segments go.
    - Between `images` and `search` is one name, whatever slashes it has: clients do not quote them.
    - `.json` is cut from a collection and from what follows an identifier, but never from an
      identifier: names may end in it. So `x.json` is `x` only when no such name exists, which the
      resource decides.
    """
    segments = path.removeprefix("/").split("/")
    while segments and not segments[-1]:
        segments.pop()
    if not segments:
        return "/"
    if segments == [f"{_API}.json"]:
        return f"/{_API}"
    if segments[0] != _API:
        segments.insert(0, _API)
    if len(segments) == 2:
        segments[1] = segments[1].removesuffix(".json")
    if segments[1:2] == [_IMAGES] and segments[-1] == _SEARCH and len(segments) > 4:
        segments[2:-1] = [ENCODED_SLASH.join(segments[2:-1])]
    if segments[1:2] == [_CONTAINERS]:
        segments[2:] = [segment for segment in segments[2:] if segment]
        if len(segments) > 3:
            segments[-1] = segments[-1].removesuffix(".json")
    return "/" + "/".join(segments)
