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
from tierce.api.openapi import document
from tierce.api.resources.archives import Archives
from tierce.api.resources.availability_zones import AvailabilityZones
from tierce.api.resources.changes import Changes
from tierce.api.resources.container_actions import ContainerActions
from tierce.api.resources.container_networks import ContainerNetworks
from tierce.api.resources.containers import Containers
from tierce.api.resources.discovery import V1, Root
from tierce.api.resources.hosts import Hosts
from tierce.api.resources.images import Images
from tierce.api.resources.inspection import Inspection
from tierce.api.resources.lifecycle import Lifecycle
from tierce.api.resources.networks import Networks
from tierce.api.resources.openapi import OpenApi
from tierce.api.resources.quotas import QuotaClasses, Quotas
from tierce.api.resources.registries import Registries
from tierce.api.resources.services import Services as ServicesResource
from tierce.api.resources.terminals import Terminals
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
    errors.install(app, services.policy.knows_nodes)
    for path, resource, suffix in _routes(conf, services, clock):
        app.add_route(path, resource, suffix=suffix)
    return app


def _routes(conf: cfg.ConfigOpts, services: Services, clock: Clock) -> list[tuple[str, object, str | None]]:
    """Path, resource, and which of the resource's responders (`on_<method>_<suffix>`).

    Exactly one segment after a collection is an identifier, whatever it looks like. Methods without a
    responder are answered 405, with those that have one in `Allow`.
    """
    containers = Containers(services, conf, clock)
    changes = Changes(services, conf, clock)
    lifecycle = Lifecycle(services, conf, clock)
    inspection = Inspection(services, conf)
    container_networks = ContainerNetworks(services, conf)
    networks = Networks(services, conf)
    terminals = Terminals(services, conf)
    archives = Archives(services, conf)
    actions = ContainerActions(services)
    hosts = Hosts(services, conf)
    images = Images(services, conf)
    agents = ServicesResource(services, conf)
    quotas = Quotas(services, conf)
    registries = Registries(services, conf)
    return [
        ("/", Root(), None),
        ("/v1", V1(), None),
        ("/v1/openapi", OpenApi(document.rendered), None),
        ("/v1/containers", containers, None),
        ("/v1/containers/{ident}", containers, "one"),
        ("/v1/containers/{ident}/start", lifecycle, "start"),
        ("/v1/containers/{ident}/stop", lifecycle, "stop"),
        ("/v1/containers/{ident}/reboot", lifecycle, "reboot"),
        ("/v1/containers/{ident}/pause", lifecycle, "pause"),
        ("/v1/containers/{ident}/unpause", lifecycle, "unpause"),
        ("/v1/containers/{ident}/kill", lifecycle, "kill"),
        ("/v1/containers/{ident}/resize_container", changes, "resize_container"),
        ("/v1/containers/{ident}/rebuild", changes, "rebuild"),
        ("/v1/containers/{ident}/commit", changes, "commit"),
        ("/v1/containers/{ident}/rename", lifecycle, "rename"),
        ("/v1/containers/{ident}/logs", inspection, "logs"),
        ("/v1/containers/{ident}/execute", inspection, "execute"),
        ("/v1/containers/{ident}/top", inspection, "top"),
        ("/v1/containers/{ident}/stats", inspection, "stats"),
        ("/v1/containers/{ident}/attach", terminals, "attach"),
        ("/v1/containers/{ident}/resize", terminals, "resize"),
        ("/v1/containers/{ident}/execute_resize", terminals, "execute_resize"),
        ("/v1/containers/{ident}/get_archive", archives, "get_archive"),
        ("/v1/containers/{ident}/put_archive", archives, "put_archive"),
        ("/v1/containers/{ident}/network_list", container_networks, "list"),
        ("/v1/containers/{ident}/network_attach", container_networks, "attach"),
        ("/v1/containers/{ident}/network_detach", container_networks, "detach"),
        ("/v1/containers/{ident}/add_security_group", container_networks, "add_group"),
        ("/v1/containers/{ident}/remove_security_group", container_networks, "remove_group"),
        ("/v1/containers/{ident}/container_actions", actions, None),
        ("/v1/containers/{ident}/container_actions/{request_id}", actions, "one"),
        ("/v1/services", agents, None),
        ("/v1/services/enable", agents, "enable"),
        ("/v1/services/disable", agents, "disable"),
        ("/v1/services/force_down", agents, "force_down"),
        ("/v1/availability_zones", AvailabilityZones(services, conf), None),
        ("/v1/hosts", hosts, None),
        ("/v1/hosts/{ident}", hosts, "one"),
        ("/v1/images", images, None),
        ("/v1/images/{ident}", images, "one"),
        ("/v1/images/{ident}/search", images, "search"),
        ("/v1/networks", networks, None),
        ("/v1/networks/{network}", networks, "one"),
        ("/v1/quotas/{project_id}", quotas, "one"),
        ("/v1/quotas/{project_id}/defaults", quotas, "defaults"),
        ("/v1/quota_classes/{name}", QuotaClasses(services, conf), "one"),
        ("/v1/registries", registries, None),
        ("/v1/registries/{ident}", registries, "one"),
    ]
