"""The Engine's images."""

from collections.abc import Callable, Mapping
from typing import Any

import docker.auth

from tierce.model.container import ImageFacts
from tierce.model.errors import (
    ImageNotFound,
    ImagePullFailed,
    RuntimeFailure,
    RuntimeNotFound,
    RuntimeTimeout,
    RuntimeUnreachable,
)
from tierce.runtimes.docker.connection import Connection, Stream
from tierce.runtimes.docker.report import readable


class EngineImages:
    """`ImageStore` of `runtimes/base.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, reference: str) -> ImageFacts | None:
        try:
            with readable():
                return _facts(self._connection.call("GET", "/images/{}/json", reference))
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
        headers = {"X-Registry-Auth": docker.auth.encode_header(dict(auth)).decode()} if auth else None
        try:
            with self._connection.stream(
                "POST",
                "/images/create",
                params={"fromImage": reference},
                headers=headers,
                timeout=idle_timeout,
            ) as stream:
                _follow(stream, progress)
        except RuntimeNotFound as error:
            raise ImageNotFound(error.message) from error
        except RuntimeTimeout as error:
            raise ImagePullFailed(f"Pulling {reference} made no progress for {idle_timeout:g} s.") from error
        except (ImagePullFailed, RuntimeUnreachable):
            raise
        except RuntimeFailure as error:
            raise ImagePullFailed(error.message) from error
        facts = self.find(reference)
        if facts is None:
            raise ImagePullFailed(
                f"Docker reported no error, but does not have {reference} after pulling it."
            )
        return facts

    def remove(self, reference: str) -> None:
        try:
            self._connection.call("DELETE", "/images/{}", reference)
        except RuntimeNotFound:
            return


def _follow(stream: Stream, progress: Callable[[], None]) -> None:
    """Read the report to its end. An error in it is a failure, whatever status the answer began with."""
    for line in stream.lines():
        progress()
        if "error" in line or "errorDetail" in line:
            raise ImagePullFailed(str((line.get("errorDetail") or {}).get("message") or line.get("error")))


def _facts(data: Mapping[str, Any]) -> ImageFacts:
    config = data.get("Config") or {}
    return ImageFacts(
        id=data["Id"],
        tags=tuple(data.get("RepoTags") or ()),
        size=data.get("Size") or 0,
        command=tuple(config.get("Cmd") or ()),
        entrypoint=tuple(config.get("Entrypoint") or ()),
    )
