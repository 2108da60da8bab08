"""The server on a real socket: nobody who has not logged in holds its threads, its memory or its log."""

import contextlib
import logging
import socket
import struct
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.unit.api.edge import Edge, make_edge
from tierce.api import server as server_module
from tierce.api.server import ApiServer

THREADS = 2
Address = tuple[str, int]

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def post(headers: bytes, body: bytes = b"") -> bytes:
    return b"POST /v1/containers HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n\r\n" + body


Connect = Callable[[], socket.socket]


def serving(edge: Edge) -> contextlib.AbstractContextManager[Address]:
    return served(edge.client.app)


@contextlib.contextmanager
def served(application: Callable[..., Any]) -> Iterator[Address]:
    server = ApiServer(application, "127.0.0.1", 0, THREADS)
    try:
        yield server.start()
    finally:
        server.stop()


@contextlib.contextmanager
def connecting(address: Address) -> Iterator[Connect]:
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(socket.create_connection(address, timeout=5))


@pytest.fixture(scope="module")
def standing() -> Iterator[tuple[Edge, Address]]:
    """One server for most tests: to stop it takes half a second."""
    edge = make_edge()
    with serving(edge) as address:
        yield edge, address


@pytest.fixture
def connect(standing: tuple[Edge, Address]) -> Iterator[Connect]:
    with connecting(standing[1]) as connect:
        yield connect


@pytest.fixture
def connect_hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """To a server with less patience, so that a test need not have more."""
    monkeypatch.setattr(server_module, "_WAIT", 1)
    with serving(make_edge()) as address, connecting(address) as connect:
        yield connect


def answer(connection: socket.socket) -> bytes:
    """One answer, of which the head says how long it is."""
    head, _, body = b"", b"", b""
    while not _:
        received = connection.recv(65536)
        if not received:
            return head
        head += received
        found, _, body = head.partition(b"\r\n\r\n")
    (length,) = (
        int(line[15:]) for line in found.split(b"\r\n") if line.lower().startswith(b"content-length:")
    )
    while len(body) < length:
        received = connection.recv(65536)
        assert received, "the answer breaks off"
        head, body = head + received, body + received
    return head


def ask(connection: socket.socket, request: bytes) -> bytes:
    connection.sendall(request)
    return answer(connection)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server ends the connection before the test's patience ends."""
    try:
        return connection.recv(65536) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET"],
    ids=["nothing", "headers without an end", "half a line"],
)
def test_connections_without_a_whole_request_hold_no_thread(connect: Connect, said: bytes) -> None:
    for _ in range(THREADS * 3):
        connect().sendall(said)

    assert ask(connect(), GET).startswith(b"HTTP/1.1 200 ")


def test_a_refused_body_that_does_not_come_holds_no_thread(connect: Connect) -> None:
    for _ in range(THREADS * 3):
        assert ask(connect(), post(b"Content-Length: 50")).startswith(b"HTTP/1.1 401 ")

    assert ask(connect(), GET).startswith(b"HTTP/1.1 200 ")


def test_a_health_check_is_answered_while_requests_hold_all_threads() -> None:
    held, let_go = threading.Semaphore(0), threading.Event()

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if environ["PATH_INFO"] == "/":
            held.release()
            let_go.wait(10)
        start("200 OK", [("Content-Length", "0")])
        return []

    with served(application) as address, connecting(address) as connect:
        waiting = [connect() for _ in range(THREADS * 2)]
        for connection in waiting:
            connection.sendall(GET)
        for _ in range(THREADS):
            assert held.acquire(timeout=5)
        checking = connect()
        for line in (b"GET /healthcheck ", b"HEAD /healthcheck ", b"GET /healthcheck/ "):
            assert ask(checking, GET.replace(b"GET / ", line)).startswith(b"HTTP/1.1 200 ")
        let_go.set()
        assert all(answer(connection).startswith(b"HTTP/1.1 200 ") for connection in waiting)


def test_a_head_in_pieces_is_put_together(connect: Connect) -> None:
    connection = connect()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for position in range(len(GET) - 1):
        connection.sendall(GET[position : position + 1])

    assert ask(connection, GET[-1:]).startswith(b"HTTP/1.1 200 ")


def test_a_connection_is_kept_for_more_requests(connect: Connect) -> None:
    connection = connect()

    for _ in range(3):
        assert ask(connection, GET).startswith(b"HTTP/1.1 200 ")


def test_requests_sent_together_are_all_answered(connect: Connect) -> None:
    connection = connect()
    connection.sendall(GET * 2 + GET.replace(b"Host", b"Connection: close\r\nHost"))

    received = b""
    while data := connection.recv(65536):
        received += data
    assert received.count(b"HTTP/1.1 200 ") == 3


def test_a_silent_connection_ends(connect_hurried: Connect) -> None:
    assert is_closed(connect_hurried())


def test_a_head_that_drips_ends_when_its_time_is_over(connect_hurried: Connect) -> None:
    connection = connect_hurried()
    connection.settimeout(0.1)
    connection.sendall(GET[:-2])
    started = time.monotonic()

    ended = False
    while not ended and time.monotonic() - started < 5:
        try:
            connection.sendall(b"X-Another: line\r\n")
            ended = connection.recv(1) == b""
        except TimeoutError:
            pass
        except ConnectionError:
            ended = True
    assert ended


def test_a_head_without_end_is_refused(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000)

    assert connection.recv(12) == b"HTTP/1.1 413"


@pytest.mark.parametrize(
    "head",
    [b"Content-Length: 50000000", b"Transfer-Encoding: chunked"],
    ids=["declared length", "chunked"],
)
def test_a_refused_body_ends_its_connection_after_the_client_has_read_why(
    connect: Connect, head: bytes
) -> None:
    connection = connect()

    received = ask(connection, post(head))

    assert received.startswith(b"HTTP/1.1 401 ")
    assert b"\r\nConnection: close\r\n" in received
    connection.sendall(b"4\r\nbody\r\n" * 1000)  # A reset would raise here, or in the next line.
    connection.sendall(b"4\r\nbody\r\n" * 1000)
    assert connection.recv(1) == b""


def test_a_refused_body_that_has_come_does_not_end_its_connection(connect: Connect) -> None:
    connection = connect()

    assert ask(connection, post(b"Content-Length: 4", b"body")).startswith(b"HTTP/1.1 401 ")
    assert ask(connection, GET).startswith(b"HTTP/1.1 200 ")


def test_a_refused_body_takes_no_memory(connect: Connect) -> None:
    connection = connect()
    piece = bytes(1024 * 1024)
    tracemalloc.start()
    try:
        connection.sendall(post(b"Content-Length: %d" % (32 * len(piece))))
        for _ in range(32):
            connection.sendall(piece)
        assert answer(connection).startswith(b"HTTP/1.1 401 ")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(piece)


CHUNKED = b"Authorization: alice\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"


def test_a_chunked_body_is_read_and_its_connection_kept(connect: Connect) -> None:
    connection = connect()
    chunks = b'7\r\n{"image\r\nB;extension\r\n": "nginx"}\r\n0\r\n\r\n'

    assert ask(connection, post(CHUNKED, chunks)).startswith(b"HTTP/1.1 202 ")
    assert ask(connection, GET).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "body",
    [
        b"zz\r\n\r\n",
        b"-4\r\n",
        b"0x4\r\nbody\r\n0\r\n\r\n",
        b"4\r\nbodyXX",
        b"\xff\r\n",
        b"9" * 1025,
        b"0\r\nGET / HTTP/1.1\r\n\r\n",
    ],
)
def test_a_chunk_that_is_none_is_400(connect: Connect, body: bytes) -> None:
    connection = connect()

    received = ask(connection, post(CHUNKED, body))

    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"container.malformed-request-body" in received
    assert is_closed(connection)


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 2\r\nContent-Length: 3",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked",
        b"Content-Length: +2",
        b"Content-Length: 0_2",
        b"Content-Length: 2\r\n 3",
        b"Transfer-Encoding : chunked",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"Authorization: Basic YTph\r\nAuthorization: Basic Yjpi",
        b"X-Auth-Token: a\r\nX-Auth-Token: b",
        b"Host: other",
        b": nameless",
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_400_and_ends_its_connection(
    connect: Connect, headers: bytes
) -> None:
    """Behind a proxy, what one of the two takes for a body the other takes for somebody's next request."""
    connection = connect()
    assert ask(connection, post(headers, b"{}")).startswith(b"HTTP/1.1 400 ")
    assert connection.recv(1) == b""


def test_a_header_with_underscores_is_not_taken_for_the_one_with_dashes(connect: Connect) -> None:
    head = b"GET /v1 HTTP/1.1\r\nHost: x\r\nOpenStack_API_Version: container 9.9\r\n\r\n"
    assert ask(connect(), head).startswith(b"HTTP/1.1 200 ")


def test_versions_of_several_services_may_have_a_header_each(connect: Connect) -> None:
    versions = b"OpenStack-API-Version: container 1.12\r\nOpenStack-API-Version: compute 2.1"
    reply = ask(connect(), b"GET /v1 HTTP/1.1\r\nHost: x\r\n" + versions + b"\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 200 ")
    assert b"container 1.12\r\n" in reply


def test_a_chunk_over_the_limit_is_413_before_it_has_come(edge: Edge) -> None:
    edge.conf.set_override("max_request_body_size", 2000, group="api")

    with serving(edge) as address, connecting(address) as connect:
        received = ask(connect(), post(CHUNKED, b"FFFFFFFF\r\n" + b" " * 2001))

    assert received.startswith(b"HTTP/1.1 413 ")


def test_a_body_that_stalls_is_400(connect_hurried: Connect) -> None:
    headers = b"Authorization: alice\r\nContent-Type: application/json\r\nContent-Length: 50"

    received = ask(connect_hurried(), post(headers, b"{"))

    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"container.malformed-request-body" in received


def test_when_all_places_are_taken_those_who_wait_lose_theirs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server_module, "_MAX_CONNECTIONS", 3)
    with serving(make_edge()) as address, connecting(address) as connect, caplog.at_level(logging.ERROR):
        for _ in range(3):
            connect()
        assert answered_before(address, time.monotonic() + 10)
    assert 1 <= len(caplog.records) <= 5
    assert not any(record.exc_info for record in caplog.records)


def answered_before(address: Address, deadline: float) -> bool:
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=5) as connection:
            if ask(connection, GET).startswith(b"HTTP/1.1 200 "):
                return True
    return False


def test_without_descriptors_it_pauses_and_goes_on(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = socket.socket.accept
    failed = threading.Event()

    def accept(listener: socket.socket) -> Any:
        if failed.is_set():
            return real(listener)
        failed.set()
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(socket.socket, "accept", accept)

    with caplog.at_level(logging.ERROR):
        assert ask(connect(), GET).startswith(b"HTTP/1.1 200 ")
    (record,) = caplog.records
    assert record.exc_info is None


def test_connections_that_are_reset_disturb_nobody(
    standing: tuple[Edge, Address], connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    reset = struct.pack("ii", 1, 0)
    for said in [b"", b"GET", GET, post(b"Content-Length: 50000000", b"a" * 100_000)] * 5:
        with socket.create_connection(standing[1], timeout=5) as connection:
            connection.sendall(said)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)

    assert ask(connect(), GET).startswith(b"HTTP/1.1 200 ")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_it_stops_at_once_while_connections_wait() -> None:
    server = ApiServer(make_edge().client.app, "127.0.0.1", 0, THREADS)
    address = server.start()
    with socket.create_connection(address) as silent, socket.create_connection(address) as slow:
        slow.sendall(GET[:-2])
        assert silent
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 5
