"""The HTTP server in this process: threads, keep-alive, and a stop that lets requests end.

Why this server: `benchmarks/servers.py` compares it with others on our own list route.
"""

import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

from cheroot import wsgi

from tierce import __version__
from tierce.model.errors import TierceError

LOG = logging.getLogger(__name__)

_SHUTDOWN_TIMEOUT = 10
"""Seconds that requests under way get when the server stops."""

_BACKLOG = 128


class AddressInUse(TierceError):
    """Another program listens there."""


class _Server(wsgi.Server):
    """Errors go to the log instead of standard error."""

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        LOG.log(level, "%s", msg, exc_info=traceback)


class ApiServer:
    def __init__(self, application: Callable[..., Any], host: str, port: int, threads: int) -> None:
        self._server = _Server(
            (host, port),
            application,
            numthreads=threads,
            server_name=f"tierce/{__version__}",
            request_queue_size=_BACKLOG,
            shutdown_timeout=_SHUTDOWN_TIMEOUT,
        )
        self._thread = threading.Thread(target=self._server.serve, name="tierce-http", daemon=True)

    def start(self) -> tuple[str, int]:
        """Listen and serve; returns the address. Raises AddressInUse, or OSError for another reason."""
        host, port = self._server.bind_addr
        if port and _listened_on(host, port):
            raise AddressInUse(f"Another program listens on {host}:{port}. Stop it, or set [api] port.")
        self._server.prepare()
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
