"""A stand-in for the Docker Engine's HTTP API on a unix socket, which answers as a test tells it to."""

import contextlib
import dataclasses
import http.server
import json
import pathlib
import socket
import socketserver
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

VERSION = {"ApiVersion": "1.41", "MinAPIVersion": "1.12"}


@dataclasses.dataclass(frozen=True)
class Request:
    method: str
    target: str
    """Path and query, without the version, decoded."""
    version: str
    body: Any
    headers: Mapping[str, str]

    @property
    def line(self) -> str:
        return f"{self.method} {self.target}"


@dataclasses.dataclass(frozen=True)
class Answer:
    """`body` goes as JSON; `pieces` instead go as they come, and the connection closes after them.

    `length` is what the answer to come claims to have, in bytes.
    """

    status: int = 200
    body: Any = None
    pieces: Iterable[bytes] | None = None
    length: int | None = None


Script = Callable[[Request], Answer | None]


class ScriptedEngine:
    """Answers `GET /version` by itself, all else by `script`; what that leaves unanswered is a 404."""

    def __init__(self, path: pathlib.Path, script: Script, version: Mapping[str, str]) -> None:
        self.path = path
        self.script = script
        self.version = version
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"unix://{self.path}"

    @property
    def lines(self) -> list[str]:
        """What was asked, in short, without the questions for the version."""
        return [request.line for request in self.requests if request.target != "/version"]

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if request.target == "/version":
            return Answer(body=self.version)
        message = f"the script has no answer to {request.line}"
        return self.script(request) or Answer(404, {"message": message})


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, engine: ScriptedEngine) -> None:
        self.engine = engine
        self._connections: list[socket.socket] = []
        super().__init__(str(engine.path), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.append(request)
        super().process_request(request, client_address)

    def drop_connections(self) -> None:
        """As the end of the process would."""
        for each in self._connections:
            with contextlib.suppress(OSError):  # closed already
                each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no matter of the server's."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        engine: ScriptedEngine = self.server.engine  # type: ignore[attr-defined]  # it is a _Server
        answer = engine.answer(self._request())
        self.send_response(answer.status)
        self.send_header("Api-Version", engine.version["ApiVersion"])
        if answer.pieces is None:
            payload = b"" if answer.body is None else json.dumps(answer.body).encode()
            if answer.status not in (204, 304):
                self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)
            return
        if answer.length is not None:
            self.send_header("Content-Length", str(answer.length))
        self.end_headers()
        self.close_connection = True
        for piece in answer.pieces:
            self.wfile.write(piece)
            self.wfile.flush()

    def _request(self) -> Request:
        version, _, rest = self.path.removeprefix("/").partition("/")
        target = f"/{rest}" if version.startswith("v1.") else self.path
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        return Request(self.command, urllib.parse.unquote_plus(target), version, body, dict(self.headers))

    do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - http.server calls them so

    def log_message(self, *_: Any) -> None:
        """Silence."""


@contextlib.contextmanager
def scripted_engine(
    path: pathlib.Path, script: Script, version: Mapping[str, str] = VERSION
) -> Iterator[ScriptedEngine]:
    """Serve on a socket at `path` until the end of the block."""
    engine = ScriptedEngine(path, script, version)
    with _Server(engine) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield engine
        finally:
            server.shutdown()
            thread.join()
            server.drop_connections()
            path.unlink()
