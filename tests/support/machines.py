"""A machine that outlives its agents: a fake engine in this process, for agents in processes of their own.

    machine = Machine(socket, engine)   # here
    RemoteRuntime(socket, around)       # in an agent; `around` is told before and after each call
    machine.close()

A call that an agent made before it was killed is carried out all the same, as an Engine does.
"""

import contextlib
import functools
import pathlib
import pickle
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tierce.model.container import RuntimeEvent
from tierce.model.errors import RuntimeUnreachable, TierceError
from tierce.runtimes.fake import FakeEngine, FakeRuntime

_GONE = (EOFError, OSError, pickle.UnpicklingError)
"""What reading from or writing to a peer raises that was killed."""


class Machine:
    def __init__(self, path: pathlib.Path, engine: FakeEngine) -> None:
        self.engine = engine
        self._server = _Server(str(path), _Connection)
        self._server.runtime = FakeRuntime(engine)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    runtime: FakeRuntime


class _Connection(socketserver.StreamRequestHandler):
    """One thread of an agent, until it closes or dies."""

    server: _Server

    def handle(self) -> None:
        with contextlib.suppress(*_GONE):
            while True:
                face, method, arguments, more = pickle.load(self.rfile)
                call = getattr(getattr(self.server.runtime, face), method)
                if method == "events":
                    self._stream(call(*arguments, **more))
                    return
                self._answer(functools.partial(call, *arguments, **more))

    def _answer(self, call: Callable[[], Any]) -> None:
        try:
            answer = call()
        except TierceError as exc:
            self._send(False, exc)
        else:
            self._send(True, answer)

    def _send(self, good: bool, answer: Any) -> None:
        self.wfile.write(pickle.dumps((good, answer)))

    def _stream(self, events: Any) -> None:
        with contextlib.closing(events):
            self._send(True, None)  # from now on nothing is missed
            for event in events:
                self._send(True, event)


class RemoteRuntime:
    """`Runtime` of `runtimes/base.py`, without archives, which are streams."""

    name = "the machine"

    def __init__(self, path: pathlib.Path, around: Callable[[str, str], None]) -> None:
        self._path = path
        self._around = around
        self._threads = threading.local()

    @property
    def containers(self) -> Any:
        return _Face(self, "containers")

    @property
    def images(self) -> Any:
        return _Face(self, "images")

    @property
    def networks(self) -> Any:
        return _Face(self, "networks")

    @property
    def terminals(self) -> Any:
        return _Face(self, "terminals")

    def close(self) -> None:
        """Each thread's connection ends with it."""

    def ask(self, face: str, method: str, arguments: tuple[Any, ...], more: dict[str, Any]) -> Any:
        if not hasattr(self._threads, "connection"):
            self._threads.connection = _Client(self._path)
        connection: _Client = self._threads.connection
        self._around(f"{face}.{method}", "before")
        connection.send(face, method, arguments, more)
        answer = connection.receive()
        self._around(f"{face}.{method}", "after")
        return answer

    def events(self, arguments: tuple[Any, ...], more: dict[str, Any]) -> "RemoteEvents":
        connection = _Client(self._path)
        connection.send("containers", "events", arguments, more)
        connection.receive()
        return RemoteEvents(connection)


class _Face:
    def __init__(self, runtime: RemoteRuntime, name: str) -> None:
        self._runtime = runtime
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            if method == "events":
                return self._runtime.events(arguments, more)
            more.pop("progress", None)  # stays here: what it reports is of no use in a test
            return self._runtime.ask(self._name, method, arguments, more)

        return call


class RemoteEvents:
    """`EventStream` of `runtimes/base.py`."""

    def __init__(self, connection: "_Client") -> None:
        self._connection = connection
        self._closed = False

    def __iter__(self) -> Iterator[RuntimeEvent]:
        while True:
            try:
                yield self._connection.receive()
            except RuntimeUnreachable:
                if self._closed:
                    return
                raise

    def close(self) -> None:
        self._closed = True
        self._connection.shut()


class _Client:
    def __init__(self, path: pathlib.Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("rb")

    def send(self, face: str, method: str, arguments: tuple[Any, ...], more: Mapping[str, Any]) -> None:
        self._socket.sendall(pickle.dumps((face, method, arguments, more)))

    def receive(self) -> Any:
        try:
            good, answer = pickle.load(self._file)
        except _GONE as exc:
            raise RuntimeUnreachable("The machine is gone.") from exc
        if not good:
            raise answer
        return answer

    def shut(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
