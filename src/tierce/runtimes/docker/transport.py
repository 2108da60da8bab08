"""HTTP over a unix socket, with one pool of kept-alive connections.

docker-py's own adapter keeps a pool for each URL, so that calls about different containers never
share a connection, and leaves the socket of a failed connect to the garbage collector.
"""

import socket
from collections.abc import Mapping
from typing import Any

import requests
import requests.adapters
import urllib3
import urllib3.connection


class UnixAdapter(requests.adapters.HTTPAdapter):
    """Takes every request to the socket at `path`, whatever host its URL names."""

    def __init__(self, path: str, *, pool_size: int) -> None:
        super().__init__()
        self._pool = _Pool(path, maxsize=pool_size)

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: bool | str | None,
        proxies: Mapping[str, str] | None = None,
        cert: Any = None,
    ) -> urllib3.HTTPConnectionPool:
        return self._pool

    def request_url(
        self,
        request: requests.PreparedRequest,
        proxies: Mapping[str, str] | None,
    ) -> str:
        return request.path_url

    def close(self) -> None:
        super().close()
        self._pool.close()


class _Pool(urllib3.HTTPConnectionPool):
    def __init__(self, path: str, *, maxsize: int) -> None:
        super().__init__("localhost", maxsize=maxsize)
        self._path = path

    def _new_conn(self) -> "_Connection":
        return _Connection(self._path)


class _Connection(urllib3.connection.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            opened.settimeout(self.timeout)
            opened.connect(self._path)
        except OSError:
            opened.close()
            raise
        self.sock = opened
