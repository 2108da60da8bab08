"""A unix socket in front of a Docker Engine that a test can switch off and on, and that can hold requests.

To its clients the Engine is gone while the proxy is off: connections break, and the socket is not there.
"""

import contextlib
import pathlib
import socket
import threading
from collections.abc import Callable

_CHUNK = 64 * 1024
_DEADLINE = 10.0
"""Seconds in which broken connections must have been let go."""


class EngineProxy:
    """Passes bytes both ways as they come, so streams and hijacked connections work too.

    `on`, `off`, `hold` and `release` may be called in any order and repeatedly.
    """

    def __init__(self, path: pathlib.Path, engine: pathlib.Path) -> None:
        """`path` is the socket to listen on, `engine` the Engine's own. Nothing listens before `on`."""
        self._path = path
        self._engine = engine
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        self._held: bytes | None = None
        self._released = threading.Event()
        self.holding = threading.Event()
        """Set while a request is held back."""

    @property
    def url(self) -> str:
        return f"unix://{self._path}"

    def on(self) -> None:
        """Listen, and pass on what comes."""
        if self._listener is None:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(self._path))
            self._listener.listen(64)
            _start(self._accept, self._listener)

    def off(self) -> None:
        """Break every connection, drop what is held back, and take no more."""
        listener, self._listener = self._listener, None
        if listener is not None:
            self._path.unlink()
            _shut(listener)
            listener.close()
        with self._changed:
            for each in self._open:
                _shut(each)
        self.release()
        with self._changed:
            assert self._changed.wait_for(lambda: not self._open, _DEADLINE)

    def hold(self, text: str = "") -> None:
        """Hold back requests whose first line has `text` in it, until `release`: the Engine hangs."""
        self._released.clear()
        self.holding.clear()
        self._held = text.encode()

    def release(self) -> None:
        """Pass on what is held back, and hold nothing more."""
        self._held = None
        self._released.set()
        self.holding.clear()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                _start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as engine, contextlib.suppress(OSError):
            engine.connect(str(self._engine))
            try:
                if self._register(client, engine):
                    answers = _start(self._pump, engine, client)
                    self._pump(client, engine, self._wait_if_held)
                    answers.join()
            finally:
                with self._changed:
                    self._open -= {client, engine}
                    self._changed.notify_all()

    def _register(self, *sockets: socket.socket) -> bool:
        """Note what `off` has to break; False when it was off already."""
        with self._changed:
            if self._listener is None:
                return False
            self._open.update(sockets)
            return True

    def _pump(
        self, source: socket.socket, target: socket.socket, before: Callable[[bytes], None] | None = None
    ) -> None:
        """Pass on until the source's end, then that too: the other direction may go on."""
        with contextlib.suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if before is not None:
                    before(chunk)
                target.sendall(chunk)
        _shut(target, socket.SHUT_WR)

    def _wait_if_held(self, chunk: bytes) -> None:
        held = self._held
        if held is not None and held in chunk.partition(b"\r\n")[0]:
            self.holding.set()
            self._released.wait()


def _start(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _shut(each: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(how)
