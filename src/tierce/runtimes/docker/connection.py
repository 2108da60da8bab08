"""The one connection to the Engine: its requests, its streams, its API version, and what its errors mean.

Every call of this package is a documented call of the Engine's REST API, made here over docker-py's
session: one pool of kept-alive connections, shared by all threads. Nothing is sent before the first
call, so an agent may start before its Engine does.
"""

import contextlib
import dataclasses
import errno
import json
import math
import os
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

import docker
import requests
import requests.adapters
import urllib3.exceptions

from tierce.model.archive import Content
from tierce.model.errors import (
    InvalidValue,
    RuntimeBadRequest,
    RuntimeConflict,
    RuntimeFailure,
    RuntimeNotFound,
    RuntimeTimeout,
    RuntimeUnreachable,
)
from tierce.runtimes.docker.report import readable
from tierce.runtimes.docker.transport import UnixAdapter

NEWEST_API = "1.44"
"""The newest API version that this package is written against."""

_CHUNK = 64 * 1024

# 403 is the Engine's answer when an endpoint is in the way: a network still in use, or joined already.
_ERROR_BY_STATUS: Mapping[int, type[RuntimeFailure]] = {
    400: RuntimeBadRequest,
    403: RuntimeConflict,
    404: RuntimeNotFound,
    409: RuntimeConflict,
}


@dataclasses.dataclass(frozen=True, slots=True)
class _Api:
    """The API version in use, and the one that the Engine offered when it was chosen."""

    version: str
    offered: str | None


class Stream:
    """The body of a long answer, to be read once by one thread."""

    def __init__(self, response: requests.Response) -> None:
        self._response = response

    @property
    def headers(self) -> Mapping[str, str]:
        """Those of the answer, their names in any case."""
        return self._response.headers

    def __iter__(self) -> Iterator[bytes]:
        """What arrives, as it arrives. RuntimeUnreachable if it breaks, RuntimeTimeout if it dries up."""
        while True:
            with _translated():
                chunk: bytes = self._response.raw.read1(_CHUNK)
            if not chunk:
                return
            yield chunk

    def lines(self) -> Iterator[Any]:
        """The JSON values of a body that holds one a line; RuntimeFailure for a line that is none."""
        rest = b""
        for chunk in self:
            *complete, rest = (rest + chunk).split(b"\n")
            yield from (_parsed(line) for line in complete if line.strip())
        if rest.strip():
            yield _parsed(rest)

    def cut(self) -> None:
        """End the reading from another thread: the reader sees the end, or RuntimeUnreachable."""
        # It may have ended by itself a moment ago, and given its connection back.
        with contextlib.suppress(RuntimeError, ValueError, OSError):
            self._response.raw.shutdown()

    def close(self) -> None:
        self._response.close()


class Connection:
    """Calls to one Engine, from any thread."""

    def __init__(self, api_url: str, *, api_version: str, timeout: float, pool_size: int) -> None:
        """`api_version` is one such as 1.44, or auto; `timeout` (s) bounds each wait for the Engine.

        Raises InvalidValue for what is no URL of an Engine.
        """
        try:
            # A version given here keeps docker-py from asking the Engine now.
            self._session = docker.APIClient(base_url=api_url, version=NEWEST_API)
        except docker.errors.DockerException as exc:
            raise InvalidValue(
                "`[docker] api_url` is no URL of an Engine, such as unix:///var/run/docker.sock or tcp://HOST:PORT."
            ) from exc
        self._session.trust_env = False  # no proxy stands between an agent and its Engine
        # The Engine would compress archives, and streams are handed on as they arrive.
        self._session.headers["Accept-Encoding"] = "identity"
        if api_url.startswith("unix://"):
            path = "/" + api_url.removeprefix("unix://").lstrip("/")
            self._session.mount(self._session.base_url, UnixAdapter(path, pool_size=pool_size))
        else:
            self._session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=pool_size))
        self._configured_version = None if api_version == "auto" else api_version
        self._api: _Api | None = None
        self.timeout = timeout

    def call(
        self,
        method: str,
        path: str,
        *names: str,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        content: Content | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Make one call and return the value of its JSON answer; None when the answer is empty.

        Each `{}` of `path` takes one of `names`, quoted. `body` goes as JSON, `content` as it is.
        `timeout` is in seconds (None: the connection's own). Raises the errors of `runtimes/base.py`,
        by status code alone.
        """
        response = self._send(
            method, path, names, params=params, body=body, content=content, timeout=timeout, stream=False
        )
        return _parsed(response.content) if response.content.strip() else None

    @contextlib.contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *names: str,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Iterator[Stream]:
        """As `call`, for an answer that is read piece by piece; `timeout` bounds each wait for a piece."""
        response = self._send(
            method, path, names, params=params, body=body, headers=headers, timeout=timeout, stream=True
        )
        with contextlib.closing(Stream(response)) as stream:
            yield stream

    def follow(self, path: str, *, params: Mapping[str, Any]) -> Stream:
        """Open an answer that never ends and may be silent for ever; whoever asks closes it."""
        return Stream(self._send("GET", path, (), params=params, timeout=math.inf, stream=True))

    @property
    def api_version(self) -> str:
        """The version in use, e.g. 1.41. Asks the Engine if nothing has been asked yet."""
        return (self._api or self._choose_api()).version

    def close(self) -> None:
        self._session.close()

    def _send(
        self,
        method: str,
        path: str,
        names: tuple[str, ...],
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        content: Content | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        stream: bool,
    ) -> requests.Response:
        target = path.format(*(urllib.parse.quote(name, safe="/:@") for name in names))
        options: dict[str, Any] = {
            "params": params,
            "json": body,
            "data": content,
            "headers": headers,
            "stream": stream,
        }
        options["timeout"] = self._timeouts(timeout)
        api = self._api or self._choose_api()
        response = self._exchange(method, f"/v{api.version}{target}", options)
        if api.offered and response.headers.get("Api-Version", api.offered) != api.offered:
            # Another Engine answers than the one asked before: it was upgraded. If it does not speak the
            # version chosen for the old one, it has said 400 and done nothing.
            api = self._choose_api()
            if response.status_code == 400:
                response.close()
                response = self._exchange(method, f"/v{api.version}{target}", options)
        if response.status_code >= 400:
            with contextlib.closing(response):
                raise _failure(response)
        return response

    def _timeouts(self, read: float | None) -> tuple[float, float | None]:
        """For connecting, and for each wait while reading."""
        if read is None:
            return self.timeout, self.timeout
        return self.timeout, None if math.isinf(read) else read

    def _choose_api(self) -> _Api:
        """The newest version that both sides speak. Threads may do this at once: all come to the same."""
        if self._configured_version:
            self._api = _Api(self._configured_version, None)
            return self._api
        response = self._exchange("GET", "/version", {"timeout": self._timeouts(None)})
        if response.status_code >= 400:
            raise _failure(response)
        known = _parsed(response.content)
        with readable():
            version = max(
                min(known["ApiVersion"], NEWEST_API, key=_number),
                known.get("MinAPIVersion") or NEWEST_API,
                key=_number,
            )
            self._api = _Api(version, known["ApiVersion"])
        return self._api

    def _exchange(self, method: str, target: str, options: Mapping[str, Any]) -> requests.Response:
        with _translated():
            return self._session.request(method, self._session.base_url + target, **options)


def json_filter(**conditions: Any) -> str:
    """The value of a `filters` parameter."""
    return json.dumps({name: condition for name, condition in conditions.items() if condition})


def label_filter(labels: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in labels.items()]


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RuntimeFailure("Docker's answer cannot be read.") from error


def _failure(response: requests.Response) -> RuntimeFailure:
    """What an answer of status 400 or more means."""
    kind = _ERROR_BY_STATUS.get(response.status_code, RuntimeFailure)
    with _translated():
        content = response.content
    try:
        return kind(str(json.loads(content)["message"]))
    except (ValueError, KeyError, TypeError):
        return kind(f"Docker answered with status {response.status_code}.")


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Turn what the transport raises into what it means."""
    try:
        yield
    except (OSError, urllib3.exceptions.HTTPError) as error:
        causes = list(_causes(error))
        timeouts = (requests.ReadTimeout, urllib3.exceptions.ReadTimeoutError)
        if any(isinstance(cause, timeouts) for cause in causes):
            raise RuntimeTimeout("Docker did not answer in time.") from error
        number = next((cause.errno for cause in causes if isinstance(cause, OSError) and cause.errno), None)
        reason = os.strerror(number or errno.ECONNRESET).lower()
        raise RuntimeUnreachable(f"Docker cannot be reached ({reason}). Is dockerd running?") from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
