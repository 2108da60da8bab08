"""The Engine's images."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import docker.auth

from tierce.model.container import FoundImage, ImageFacts
from tierce.model.errors import (
    ImageNotFound,
    ImagePullFailed,
    ImageSearchFailed,
    RuntimeFailure,
    RuntimeNotFound,
    RuntimeTimeout,
    RuntimeUnreachable,
)
from tierce.runtimes.docker.connection import Connection, Stream
from tierce.runtimes.docker.report import readable

_MOST_FOUND = 100
"""More than that the Engine does not give."""


class EngineImages:
    """`ImageStore` of `runtimes/base.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, reference: str) -> ImageFacts | None:
        try:
            with readable():
                return facts_of(self._connection.call("GET", "/images/{}/json", reference))
        except RuntimeNotFound:
            return None

    def pull(
        self,
        reference: str,
        *,
        auth: Mapping[str, str] | None,
        idle_timeout: float,
        progress: Callable[[], None] = lambda: None,
    ) -> ImageFacts:
        """As the protocol says. Without `auth` the registry is asked as anybody: no file is looked into."""
        try:
            with (
                _failures_of_registry(),
                self._connection.stream(
                    "POST",
                    "/images/create",
                    params={"fromImage": reference},
                    headers=_header(auth),
                    timeout=idle_timeout,
                ) as stream,
            ):
                _follow(stream, progress)
        except RuntimeTimeout as error:
            raise ImagePullFailed(f"Pulling {reference} made no progress for {idle_timeout:g} s.") from error
        facts = self.find(reference)
        if facts is None:
            raise ImagePullFailed(
                f"Docker reported no error, but does not have {reference} after pulling it."
            )
        return facts

    def require_access(self, reference: str, *, auth: Mapping[str, str] | None) -> None:
        with (
            _failures_of_registry(),
            self._connection.stream("GET", "/distribution/{}/json", reference, headers=_header(auth)),
        ):
            pass

    def remove(self, reference: str) -> None:
        try:
            self._connection.call("DELETE", "/images/{}", reference)
        except RuntimeNotFound:
            return

    def search(self, term: str) -> list[FoundImage]:
        try:
            with readable():
                found = self._connection.call(
                    "GET", "/images/search", params={"term": term, "limit": _MOST_FOUND}
                )
                return [_found(each) for each in found]
        except RuntimeUnreachable:
            raise
        except RuntimeFailure as error:
            raise ImageSearchFailed(f"Docker could not search the registry: {error.message}") from error


def _found(data: Mapping[str, Any]) -> FoundImage:
    return FoundImage(
        name=data["name"],
        description=data.get("description") or "",
        is_official=bool(data.get("is_official")),
        is_automated=bool(data.get("is_automated")),
        star_count=data.get("star_count") or 0,
    )


def _header(auth: Mapping[str, str] | None) -> dict[str, str] | None:
    return {"X-Registry-Auth": docker.auth.encode_header(dict(auth)).decode()} if auth else None


@contextlib.contextmanager
def _failures_of_registry() -> Iterator[None]:
    """What the Engine says when a registry refuses, as an image driver knows it."""
    try:
        yield
    except RuntimeNotFound as error:
        raise ImageNotFound(error.message) from error
    except (ImagePullFailed, RuntimeUnreachable):
        raise
    except RuntimeFailure as error:
        raise ImagePullFailed(error.message) from error


def _follow(stream: Stream, progress: Callable[[], None]) -> None:
    """Read the report to its end. An error in it is a failure, whatever status the answer began with."""
    for line in stream.lines():
        progress()
        if "error" in line or "errorDetail" in line:
            raise ImagePullFailed(str((line.get("errorDetail") or {}).get("message") or line.get("error")))


def facts_of(data: Mapping[str, Any]) -> ImageFacts:
    """What `GET /images/{name}/json` says."""
    config = data.get("Config") or {}
    return ImageFacts(
        id=data["Id"],
        tags=tuple(data.get("RepoTags") or ()),
        size=data.get("Size") or 0,
        command=tuple(config.get("Cmd") or ()),
        entrypoint=tuple(config.get("Entrypoint") or ()),
    )
