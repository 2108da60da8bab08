"""The HTTP server in this process: threads, keep-alive, and a stop that lets requests end.

Why this server: `benchmarks/servers.py` compares it with others on our own list route.

Who has not logged in can hold neither threads nor memory: a connection waits in the selector until the
whole head of a request is there, and what a refused request still sends is thrown away there too.

Health checks have threads of their own: they are answered also when all others wait for a database.
"""

import concurrent.futures
import contextlib
import errno
import logging
import re
import resource
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from cheroot import wsgi
from cheroot.makefile import MakeFile, StreamReader
from cheroot.server import HTTPConnection, HTTPRequest

from tierce import __version__
from tierce.api import health
from tierce.api.heads import Headers
from tierce.model.errors import TierceError

LOG = logging.getLogger(__name__)

_SHUTDOWN_TIMEOUT = 10
"""Seconds that requests under way get when the server stops."""

_BACKLOG = 128

_WAIT: Final = 10
"""Seconds that a connection may wait for a request, a head for its end, a thread for the next bytes."""

_WAIT_WHEN_FULL: Final = 1.0
"""Seconds that a connection may wait once others find no place."""

_MAX_HEAD: Final = 64 * 1024
"""Bytes of a request line with its headers."""

_MAX_CONNECTIONS: Final = 1000

_HEAD_END: Final = re.compile(rb"\n\r?\n")

_HEALTH_CHECK: Final = re.compile(rb"(?:GET|HEAD) %b[/? ]" % re.escape(health.PATH.encode()))

_HEALTH_THREADS: Final = 2

_CHUNK_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\r\n")

_MAX_CHUNK_LINE: Final = 1024
"""Bytes of the line before a chunk."""

_PIECE: Final = 64 * 1024
"""Bytes of a body that are received at a time."""


class AddressInUse(TierceError):
    """Another program listens there."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"Another program listens on {host}:{port}. Stop it, or set [api] port.")


class AddressUnusable(TierceError):
    """Nobody listens there, and this program cannot: it has no such address, or no right to the port."""

    def __init__(self, host: str, port: int, reason: OSError) -> None:
        text = reason.strerror or str(reason)
        super().__init__(f"The API cannot listen on {host}:{port} ({text}): see [api] host_ip and port.")


class _Reader(StreamReader):
    """Receives ahead of the threads that read. Its buffer is larger than any head that they accept."""

    _read_buf: bytes
    _read_pos: int
    buffer_size: int

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock, "rb", _MAX_HEAD + 1024)

    @property
    def buffered(self) -> bytes:
        return self._read_buf[self._read_pos :]

    def has_data(self) -> bool:
        """Whether reading a head would not wait: it is here, or it is too large."""
        buffered = self.buffered
        return len(buffered) >= self.buffer_size or _HEAD_END.search(buffered) is not None

    def receive(self) -> bool:
        """Take what has arrived on a socket that does not block; False if nothing has."""
        before = len(self.buffered)
        return len(self.peek(self.buffer_size)) > before


def _make_file(sock: socket.socket, mode: str, size: int) -> Any:
    return _Reader(sock) if "r" in mode else MakeFile(sock, mode, size)


class _Chunks:
    """A chunked body as `wsgi.input`: holds no more of it than the application asks for.

    Raises ValueError for what is not chunked. Trailers count as that too: no client of ours sends any.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self._left = 0
        self.closed = False

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        data = bytearray()
        while len(data) < size and not self.closed:
            if not self._left:
                self._next_chunk()
            else:
                data += self._piece(size - len(data))
        return bytes(data)

    def _next_chunk(self) -> None:
        line = _CHUNK_LINE.fullmatch(self._source.readline(_MAX_CHUNK_LINE))
        if line is None:
            raise ValueError("not the size of a chunk")
        self._left = int(line[1], 16)
        if not self._left:
            self._end_line()
            self.closed = True

    def _piece(self, size: int) -> bytes:
        piece: bytes = self._source.read(min(self._left, size, _PIECE))
        if not piece:
            raise ValueError("the body ends inside a chunk")
        self._left -= len(piece)
        if not self._left:
            self._end_line()
        return piece

    def _end_line(self) -> None:
        if self._source.readline(2) != b"\r\n":
            raise ValueError("not the end of a chunk")


class _Gateway(wsgi.Gateway_10):
    """Gives the application our reader of chunked bodies."""

    def __init__(self, req: "_Request") -> None:
        if req.chunked_read:
            req.rfile = _Chunks(req.conn.rfile)
        super().__init__(req)


class _Request(HTTPRequest):
    """A request whose connection ends with it if its body is still to come."""

    header_reader = Headers()

    def send_headers(self) -> None:
        if self._body_outstanding():
            self.close_connection = self.conn.lingering = True
        super().send_headers()

    def _body_outstanding(self) -> bool:
        if self.chunked_read:
            return not self.rfile.closed
        return bool(self.rfile.remaining > len(self.conn.rfile.buffered))


class _Connection(HTTPConnection):
    """A connection that can tell, without waiting, whether it needs a thread."""

    RequestHandlerClass = _Request

    lingering = False
    """Answered for good. It is read on all the same: closing it would reset it, and a client that is
    still sending would never see the answer."""

    def __init__(self, server: wsgi.Server, sock: socket.socket, _makefile: object) -> None:
        super().__init__(server, sock, _make_file)

    def communicate(self) -> bool:
        keep: bool = super().communicate()  # type: ignore[no-untyped-call]  # cheroot left it untyped
        if not self.lingering:
            return keep
        self.rfile.read(len(self.rfile.buffered))
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
        return True

    @property
    def started(self) -> bool:
        """Whether the time for what it sends is running."""
        return self.lingering or bool(self.rfile.buffered)

    @property
    def asks_for_health(self) -> bool:
        return _HEALTH_CHECK.match(self.rfile.buffered) is not None

    def receive(self) -> bool:
        """Take what has arrived on a readable connection; False at its end."""
        self.socket.setblocking(False)
        try:
            return bool(self.socket.recv(_MAX_HEAD)) if self.lingering else self.rfile.receive()
        except OSError:
            return False
        finally:
            self.socket.settimeout(self.server.timeout)

    def close(self) -> None:
        # What a client that has gone did not take would be written again when the object is collected.
        with contextlib.suppress(OSError):
            self.wfile.close()
        super().close()


class _Server(wsgi.Server):
    """Errors go to the log instead of standard error, and threads wait for nobody's head."""

    _connections: Any  # Its stub leaves out what makes room.

    ConnectionClass = _Connection
    max_request_header_size = _MAX_HEAD

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.gateway = _Gateway
        # The rest of the process needs descriptors too.
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if descriptors == resource.RLIM_INFINITY:
            descriptors = 2 * _MAX_CONNECTIONS
        self.keep_alive_conn_limit = min(_MAX_CONNECTIONS, descriptors // 2)
        self._stopping = threading.Event()
        self._checks = concurrent.futures.ThreadPoolExecutor(_HEALTH_THREADS, thread_name_prefix="health")

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        LOG.log(level, "%s", msg, exc_info=traceback)

    def process_conn(self, conn: _Connection) -> None:
        """Give the connection a thread if a whole head is there; else it waits, or ends."""
        if conn.last_used is None:
            self._admit(conn)
        elif conn.rfile.has_data():
            self._give_thread(conn)
        else:
            self._receive(conn)

    def _give_thread(self, conn: _Connection) -> None:
        if conn.asks_for_health:
            self._checks.submit(self._check, conn)
        else:
            super().process_conn(conn)

    def _check(self, conn: _Connection) -> None:
        """What the library's threads do with a connection."""
        keep = False
        try:
            with contextlib.suppress(OSError):  # the client has gone
                keep = conn.communicate()
        finally:
            if keep:
                self.put_conn(conn)
            else:
                conn.close()

    def _admit(self, conn: _Connection) -> None:
        if not self.ready:
            conn.close()  # The library connects to itself when it stops.
            return
        if not self.can_add_keepalive_connection:
            conn.close()
            raise OSError(errno.EMFILE, f"{self.keep_alive_conn_limit} connections wait for requests")
        self.put_conn(conn)

    def _receive(self, conn: _Connection) -> None:
        started, since = conn.started, conn.last_used
        if not conn.receive():
            conn.close()
        elif conn.rfile.has_data():
            self._give_thread(conn)
        else:
            self.put_conn(conn)
            if started:
                conn.last_used = since  # Who sends a byte now and then gets no more time for it.

    def serve(self) -> None:
        """Serve until stopped. While connections cannot be accepted, those that wait make room."""
        while self.ready:
            try:
                self._connections.run(self.expiration_interval)
            except OSError as exc:
                LOG.error("Connections wait for a second: %s", exc)
            except Exception:
                LOG.exception("Connections wait for a second")
            if not self._stopping.wait(1):
                self._connections._expire(threshold=time.time() - _WAIT_WHEN_FULL)

    def stop(self) -> None:
        self._stopping.set()
        super().stop()
        self._checks.shutdown()


class ApiServer:
    def __init__(
        self, application: Callable[..., Any], host: str, port: int, threads: int, *, shared: bool = False
    ) -> None:
        """`shared`: other processes of the same service listen on the port too, and the system shares out
        the connections; whoever starts them has seen that nobody else does.
        """
        self._shared = shared
        self._server = _Server(
            (host, port),
            application,
            numthreads=threads,
            server_name=f"tierce/{__version__}",
            request_queue_size=_BACKLOG,
            timeout=_WAIT,
            shutdown_timeout=_SHUTDOWN_TIMEOUT,
            reuse_port=shared,
        )
        self._thread = threading.Thread(target=self._server.serve, name="tierce-http", daemon=True)

    def start(self) -> tuple[str, int]:
        """Listen and serve; returns the address. Raises AddressInUse, AddressUnusable."""
        host, port = self._server.bind_addr
        if port and not self._shared and _listened_on(host, port):
            raise AddressInUse(host, port)
        try:
            self._server.prepare()
        except OSError as exc:
            raise AddressUnusable(host, port, exc) from exc
        self._thread.start()
        address: tuple[str, int] = self._server.bind_addr[:2]
        return address

    def stop(self) -> None:
        """Take no more connections, and wait for the requests under way."""
        self._server.stop()
        self._thread.join(_SHUTDOWN_TIMEOUT)


def _listened_on(host: str, port: int) -> bool:
    # Two servers may share a port where the system lets them; clients would meet either.
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False
