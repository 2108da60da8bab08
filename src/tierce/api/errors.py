"""How errors look outside: status, public code and envelope. The one place that knows.

A code is a promise: it is never reused and never changed. `container.` plus the kebab-cased name of the
reference's exception class, where there is one; a class without a line here is reported as its nearest
parent that has one. What is neither domain error nor framework error says nothing to the caller but an
id, under which the log has the rest.
"""

import dataclasses
import functools
import http
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import falcon
import orjson

from tierce.api.http import Request
from tierce.api.versions import MAXIMUM, MINIMUM, UnsupportedVersion
from tierce.identity.base import Unauthenticated
from tierce.model import errors
from tierce.model.context import RequestContext

LOG = logging.getLogger(__name__)

INTERNAL: Final = "container.internal-server-error"
VERSION_UNSUPPORTED: Final = "container.microversion-unsupported"
MICROVERSION_GUIDE: Final = (
    "https://specs.openstack.org/openstack/api-sig/guidelines/microversion_specification.html"
)

DOMAIN: Final[Mapping[type[errors.TierceError], tuple[int, str]]] = {
    errors.Invalid: (400, "container.invalid"),
    errors.InvalidValue: (400, "container.invalid-value"),
    errors.InvalidParameterValue: (400, "container.invalid-parameter-value"),
    errors.InvalidParamInVersion: (400, "container.invalid-param-in-version"),
    errors.SchemaInvalid: (400, "container.schema-validation-error"),
    errors.MalformedBody: (400, "container.malformed-request-body"),
    errors.ImageNotFound: (400, "container.image-not-found"),
    errors.NoInteractiveFlag: (400, "container.no-interactive-flag"),
    errors.Base64Invalid: (400, "container.base-64-exception"),
    errors.ArchiveTooLarge: (413, "container.archive-too-large"),
    errors.OperationNotSupported: (400, "container.operation-not-supported"),
    errors.NotAuthorized: (403, "container.not-authorized"),
    errors.PolicyNotAuthorized: (403, "container.policy-not-authorized"),
    errors.ExternalNetworkAttachForbidden: (403, "container.external-network-attach-forbidden"),
    errors.OverQuota: (403, "container.over-quota"),
    errors.NotFound: (404, "container.resource-not-found"),
    errors.ContainerNotFound: (404, "container.container-not-found"),
    errors.ComputeNodeNotFound: (404, "container.compute-node-not-found"),
    errors.RequestedHostNotFound: (404, "container.requested-host-not-found"),
    errors.ServiceNotFound: (404, "container.zun-service-not-found"),
    errors.ImageRecordNotFound: (404, "container.image-not-found"),
    errors.NetworkNotFound: (404, "container.network-not-found"),
    errors.PortNotFound: (404, "container.port-not-found"),
    errors.VolumeNotFound: (404, "container.volume-not-found"),
    errors.RegistryNotFound: (404, "container.registry-not-found"),
    errors.ExecNotFound: (404, "container.exec-instance-not-found"),
    errors.Conflict: (409, "container.conflict"),
    errors.InvalidState: (409, "container.invalid-state-exception"),
    errors.ContainerAlreadyExists: (409, "container.container-already-exists"),
    errors.ImageAlreadyExists: (409, "container.image-already-exists"),
    errors.ContainerHostNotUp: (409, "container.container-host-not-up"),
    errors.HostNotUp: (409, "container.host-not-up"),
    errors.ResourcesUnavailable: (409, "container.resources-unavailable"),
    errors.RuntimeFailure: (500, "container.docker-error"),
    errors.InvalidEncryptionKey: (500, "container.invalid-encryption-key"),
    errors.RuntimeConflict: (409, "container.conflict"),
    errors.RuntimeNotFound: (409, "container.conflict"),
    errors.RuntimeBadRequest: (400, "container.invalid"),
    errors.RuntimeUnreachable: (503, "container.runtime-unreachable"),
    errors.RuntimeTimeout: (504, "container.runtime-timeout"),
    errors.ImageSearchFailed: (503, "container.image-search-failed"),
    errors.NoNodeUp: (503, "container.no-node-up"),
    errors.BusUnavailable: (503, "container.bus-unavailable"),
    errors.RpcTimeout: (504, "container.rpc-timeout"),
    errors.DatabaseBusy: (503, "container.database-busy"),
    errors.ServiceBusy: (503, "container.service-busy"),
}
"""Domain errors that a caller may read: the messages go out as they are, or as their summaries."""

FRAMEWORK: Final[Mapping[int, str]] = {
    400: "container.bad-request",
    404: "container.not-found",
    405: "container.method-not-allowed",
    406: "container.not-acceptable",
    413: "container.request-too-large",
    415: "container.unsupported-media-type",
}
"""Errors of HTTP itself: routing, headers, bodies."""

RETRY_AFTER: Final = "5"
"""Seconds, on a 503: the dependency may be back by then."""

_FAIL_ON_RETRY_AFTER: Final = ("python-zunclient", "python-urllib3")
"""What python-zunclient calls itself, alone and as a plugin of the `openstack` command.

It raises a TypeError of its own when a 503 has that header, and its users never read what ours says.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """One error as the envelope shows it."""

    status: int
    code: str
    title: str
    detail: str
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def install(app: falcon.App[Any, Any], knows_nodes: Callable[[RequestContext], bool]) -> None:
    """Make the app answer every exception in the service's own shape.

    Callers whom `knows_nodes` does not let know the names of nodes read an error's summary.
    """
    app.add_error_handler(Exception, _unexpected)
    app.add_error_handler(errors.TierceError, functools.partial(_domain, knows_nodes))
    app.add_error_handler(falcon.HTTPError, _framework)
    app.add_error_handler(UnsupportedVersion, _unsupported_version)
    app.add_error_handler(Unauthenticated, _unauthenticated)


def _domain(
    knows_nodes: Callable[[RequestContext], bool],
    req: Request,
    resp: falcon.Response,
    exc: errors.TierceError,
    params: Any,
) -> None:
    public = next((DOMAIN[kind] for kind in type(exc).__mro__ if kind in DOMAIN), None)
    if public is None:
        _unexpected(req, resp, exc, params)
        return
    status, code = public
    told = exc.message if exc.summary == exc.message or knows_nodes(req.caller) else exc.summary
    if status >= 500 or told != exc.message:
        level = logging.ERROR if status >= 500 else logging.INFO
        LOG.log(level, "%s: %s: %s", req.line, type(exc).__name__, exc)
    if status == 503 and not (req.user_agent or "").startswith(_FAIL_ON_RETRY_AFTER):
        resp.set_header("Retry-After", RETRY_AFTER)
    # Clients print the title in one line of theirs.
    _send(req, resp, Problem(status, code, " ".join(told.splitlines()), told))


def _framework(req: Request, resp: falcon.Response, exc: falcon.HTTPError, _params: Any) -> None:
    if exc.headers is not None:
        resp.set_headers(exc.headers)
    reason = http.HTTPStatus(exc.status_code).phrase
    code = FRAMEWORK.get(exc.status_code, FRAMEWORK[400])
    _send(req, resp, Problem(exc.status_code, code, reason, exc.description or reason))


def _unsupported_version(req: Request, resp: falcon.Response, exc: UnsupportedVersion, _params: Any) -> None:
    extra = {
        "max_version": str(MAXIMUM),
        "min_version": str(MINIMUM),
        "links": [{"rel": "help", "href": MICROVERSION_GUIDE}],
    }
    _send(req, resp, Problem(406, VERSION_UNSUPPORTED, exc.title or "", exc.description or "", extra))


def _unexpected(req: Request, resp: falcon.Response, exc: Exception, _params: Any) -> None:
    correlation = req.request_id.removeprefix("req-")
    LOG.error("%s failed, error correlation id %s", req.line, correlation, exc_info=exc)
    detail = (
        "Your request could not be handled because of a problem in the server. "
        f"Error Correlation id is: {correlation}"
    )
    _send(req, resp, Problem(500, INTERNAL, http.HTTPStatus(500).phrase, detail))


def _send(req: Request, resp: falcon.Response, problem: Problem) -> None:
    error = {
        "request_id": req.request_id,
        "code": problem.code,
        "status": problem.status,
        "title": problem.title,
        "detail": problem.detail,
        "links": [],
        **problem.extra,
    }
    resp.status = problem.status
    resp.data = orjson.dumps({"errors": [error]})


def _unauthenticated(_req: Request, resp: falcon.Response, exc: Unauthenticated, _params: Any) -> None:
    """401 has the identity service's shape, not ours: clients know it from there."""
    resp.status = 401
    resp.set_header("WWW-Authenticate", exc.challenge)
    resp.data = orjson.dumps({"error": {"code": 401, "title": "Unauthorized", "message": exc.message}})
