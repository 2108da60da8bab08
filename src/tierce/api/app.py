"""The WSGI application: the middleware, and the one table of routes."""

import falcon
from oslo_config import cfg

from tierce.api import errors
from tierce.api.http import Request
from tierce.api.middleware.authentication import Authentication
from tierce.api.middleware.body_limit import BodyLimit
from tierce.api.middleware.negotiation import Negotiation
from tierce.api.middleware.paths import Paths
from tierce.api.middleware.request_id import RequestId
from tierce.api.resources.container_actions import ContainerActions
from tierce.api.resources.containers import Containers
from tierce.api.resources.discovery import V1, Root
from tierce.api.resources.hosts import Hosts
from tierce.api.resources.images import Images
from tierce.api.resources.inspection import Inspection
from tierce.api.resources.lifecycle import Lifecycle
from tierce.api.resources.services import Services as ServicesResource
from tierce.control import Services
from tierce.identity.base import Identity
from tierce.model.clock import Clock

App = falcon.App[Request, falcon.Response]


def create_app(conf: cfg.ConfigOpts, services: Services, identity: Identity, clock: Clock) -> App:
    """The application. `conf` is read at each request, so what may change in it changes here."""
    app = App(
        request_type=Request,
        middleware=[
            RequestId(),
            Paths(),
            BodyLimit(conf),
            Authentication(identity, services.policy),
            Negotiation(),
        ],
    )
    errors.install(app)
    for path, resource, suffix in _routes(conf, services, clock):
        app.add_route(path, resource, suffix=suffix)
    return app


def _routes(conf: cfg.ConfigOpts, services: Services, clock: Clock) -> list[tuple[str, object, str | None]]:
    """Path, resource, and which of the resource's responders (`on_<method>_<suffix>`).

    Exactly one segment after a collection is an identifier, whatever it looks like. Methods without a
    responder are answered 405, with those that have one in `Allow`.
    """
    containers = Containers(services, conf, clock)
    lifecycle = Lifecycle(services, conf, clock)
    inspection = Inspection(services, conf)
    actions = ContainerActions(services)
    hosts = Hosts(services, conf)
    images = Images(services, conf)
    return [
        ("/", Root(), None),
        ("/v1", V1(), None),
        ("/v1/containers", containers, None),
        ("/v1/containers/{ident}", containers, "one"),
        ("/v1/containers/{ident}/start", lifecycle, "start"),
        ("/v1/containers/{ident}/stop", lifecycle, "stop"),
        ("/v1/containers/{ident}/reboot", lifecycle, "reboot"),
        ("/v1/containers/{ident}/pause", lifecycle, "pause"),
        ("/v1/containers/{ident}/unpause", lifecycle, "unpause"),
        ("/v1/containers/{ident}/kill", lifecycle, "kill"),
        ("/v1/containers/{ident}/rename", lifecycle, "rename"),
        ("/v1/containers/{ident}/logs", inspection, "logs"),
        ("/v1/containers/{ident}/execute", inspection, "execute"),
        ("/v1/containers/{ident}/top", inspection, "top"),
        ("/v1/containers/{ident}/stats", inspection, "stats"),
        ("/v1/containers/{ident}/container_actions", actions, None),
        ("/v1/containers/{ident}/container_actions/{request_id}", actions, "one"),
        ("/v1/services", ServicesResource(services, conf), None),
        ("/v1/hosts", hosts, None),
        ("/v1/hosts/{ident}", hosts, "one"),
        ("/v1/images", images, None),
        ("/v1/images/{uuid}", images, "one"),
    ]
