"""What stands before the application: health checks, browsers from other origins, proxies.

All of it is oslo.middleware with its own options, in `[healthcheck]`, `[cors]` and `[oslo_middleware]`,
which are read once, when the service starts. What is not configured costs nothing per request.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import oslo_middleware
from oslo_config import cfg
from oslo_middleware import cors, http_proxy_to_wsgi
from oslo_middleware.healthcheck import opts as healthcheck_options

from tierce.api import health
from tierce.api.health import Dependency, Health
from tierce.api.versions import HEADER

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_DISABLE_FILE: Final = "/etc/zun/healthcheck_disable"

_ALLOW_HEADERS: Final = (
    "Authorization",
    "X-Auth-Token",
    "X-Identity-Status",
    "X-Roles",
    "X-Service-Catalog",
    "X-User-Id",
    "X-Project-Id",
    "X-OpenStack-Request-ID",
    "X-Server-Management-Url",
    HEADER,
)
_EXPOSE_HEADERS: Final = (
    "X-Auth-Token",
    "X-Subject-Token",
    "X-Service-Token",
    "X-OpenStack-Request-ID",
    "X-Server-Management-Url",
    HEADER,
    "OpenStack-API-Minimum-Version",
    "OpenStack-API-Maximum-Version",
    "Location",
)
_ALLOW_METHODS: Final = ("GET", "PUT", "POST", "DELETE", "PATCH")


def put_before(application: Wsgi, conf: cfg.ConfigOpts, dependencies: Sequence[Dependency] = ()) -> Wsgi:
    """The application as it is to be served. Health checks look at the `dependencies`."""
    _register(conf)
    served = application
    if conf.cors.allowed_origin:
        served = cors.CORS(served, conf)
    # Health checks come without credentials, and know nothing of versions.
    served = _Fork(health.PATH, Health(served, conf, dependencies), served)
    if conf.oslo_middleware.enable_proxy_headers_parsing:
        # First of all: the links of every answer are made from what the proxy says.
        served = oslo_middleware.HTTPProxyToWSGI(served, conf)
    return served


class _Fork:
    """One application for a path and what is below it, another for the rest."""

    def __init__(self, path: str, there: Wsgi, elsewhere: Wsgi) -> None:
        self._path = path
        self._there = there
        self._elsewhere = elsewhere

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        inside = path == self._path or path.startswith(f"{self._path}/")
        return (self._there if inside else self._elsewhere)(environ, start_response)


def _register(conf: cfg.ConfigOpts) -> None:
    """The library's options, with the defaults of this service."""
    conf.register_opts(cors.CORS_OPTS, "cors")
    conf.set_default("allow_headers", list(_ALLOW_HEADERS), "cors")
    conf.set_default("expose_headers", list(_EXPOSE_HEADERS), "cors")
    conf.set_default("allow_methods", list(_ALLOW_METHODS), "cors")
    conf.register_opts(healthcheck_options.HEALTHCHECK_OPTS, "healthcheck")
    conf.register_opts(healthcheck_options.DISABLE_BY_FILE_OPTS, "healthcheck")
    conf.set_default("backends", ["disable_by_file"], "healthcheck")
    conf.set_default("disable_by_file_path", _DISABLE_FILE, "healthcheck")
    conf.register_opts(http_proxy_to_wsgi.OPTS, "oslo_middleware")
