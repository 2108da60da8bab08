"""The operations on everything but containers."""

from typing import Final

from tierce.api.openapi.operations import Errors, Operation, body, either, query
from tierce.api.requests.images import PullImage, SearchImages
from tierce.api.requests.listing import FLAG, PAGE, filters
from tierce.api.requests.networking import CreateNetwork
from tierce.api.requests.quotas import SetLimits
from tierce.api.requests.registries import FILTERS as REGISTRY_FILTERS
from tierce.api.requests.registries import ChangedRegistry, NewRegistry
from tierce.api.requests.services import ForceDown, ServiceName
from tierce.api.resources.availability_zones import AvailabilityZones
from tierce.api.resources.discovery import V1, Root
from tierce.api.resources.hosts import Hosts
from tierce.api.resources.images import Images
from tierce.api.resources.networks import Networks
from tierce.api.resources.openapi import OpenApi
from tierce.api.resources.quotas import QuotaClasses, Quotas
from tierce.api.resources.registries import Registries
from tierce.api.resources.services import Services
from tierce.api.versions import Version
from tierce.api.views import discovery, hosts, images, networks, node_answers, quotas, registries, services
from tierce.api.views.shapes import STRING, Shape, array, page, record
from tierce.model import errors

_CALLED: Final[Errors] = (
    errors.Conflict,
    errors.HostNotUp,
    errors.ServiceBusy,
    errors.BusUnavailable,
    errors.RpcTimeout,
    errors.RuntimeFailure,
    errors.RuntimeUnreachable,
    errors.RuntimeTimeout,
)
"""A node's own answer is waited for."""

_REGISTRY: Final[Errors] = (errors.RegistryNotFound, errors.Conflict)


def _limits_or_usages(_version: Version) -> Shape:
    return {"anyOf": [quotas.LIMITS, quotas.USAGES]}


OPERATIONS: Final = (
    Operation("GET", "/", Root.on_get, "The versions of this service", answer=discovery.ROOT, public=True),
    Operation("GET", "/v1", V1.on_get, "What this version has", answer=discovery.V1, public=True),
    Operation(
        "GET",
        "/v1/openapi",
        OpenApi.on_get,
        "This document, of the microversion of the request (`/v1/openapi.json` too)",
        answer={"type": "object", "required": ["openapi"]},
        public=True,
    ),
    Operation(
        "GET",
        "/v1/services",
        Services.on_get,
        "List the node agents",
        answer=record({"services": array(services.SERVICE)}),
    ),
    Operation(
        "DELETE",
        "/v1/services",
        Services.on_delete,
        "Forget a node agent",
        inputs=either(ServiceName),
        errors=(errors.ServiceNotFound,),
    ),
    Operation(
        "PUT",
        "/v1/services/enable",
        Services.on_put_enable,
        "Let a node have new containers",
        answer=services.DISABLED,
        inputs=either(ServiceName),
        errors=(errors.ServiceNotFound,),
    ),
    Operation(
        "PUT",
        "/v1/services/disable",
        Services.on_put_disable,
        "Let a node have no new containers",
        answer=services.DISABLED,
        inputs=either(ServiceName),
        errors=(errors.ServiceNotFound,),
    ),
    Operation(
        "PUT",
        "/v1/services/force_down",
        Services.on_put_force_down,
        "Have a node count as down, or not any more",
        answer=services.FORCED_DOWN,
        inputs=either(ForceDown),
        errors=(errors.ServiceNotFound,),
    ),
    Operation(
        "GET",
        "/v1/availability_zones",
        AvailabilityZones.on_get,
        "List the zones of the nodes",
        answer=page("availability_zones", record({"availability_zone": STRING})),
        filters=PAGE,
        errors=(errors.InvalidParameterValue,),
    ),
    Operation(
        "GET",
        "/v1/hosts",
        Hosts.on_get,
        "List the nodes",
        answer=page("hosts", hosts.HOST),
        filters=PAGE,
        errors=(errors.ComputeNodeNotFound, errors.InvalidParameterValue),
    ),
    Operation(
        "GET",
        "/v1/hosts/{ident}",
        Hosts.on_get_one,
        "Show a node",
        answer=hosts.HOST,
        errors=(errors.ComputeNodeNotFound, errors.Conflict),
    ),
    Operation(
        "GET",
        "/v1/images",
        Images.on_get,
        "List the images that were pulled to nodes",
        answer=page("images", images.IMAGE),
        filters=PAGE,
        errors=(errors.ImageRecordNotFound, errors.InvalidParameterValue),
    ),
    Operation(
        "POST",
        "/v1/images",
        Images.on_post,
        "Pull an image to a node",
        202,
        images.IMAGE,
        body(PullImage, declared=True),
        errors=(errors.Conflict, errors.HostNotUp, errors.ImageAlreadyExists),
        located=True,
    ),
    Operation(
        "GET",
        "/v1/images/{ident}",
        Images.on_get_one,
        "Show such an image",
        answer=images.IMAGE,
        errors=(errors.ImageRecordNotFound,),
    ),
    Operation(
        "DELETE",
        "/v1/images/{ident}",
        Images.on_delete_one,
        "Remove it from its node",
        errors=(*_CALLED, errors.ImageRecordNotFound, errors.Invalid),
    ),
    Operation(
        "GET",
        "/v1/images/{ident}/search",
        Images.on_get_search,
        "Search for images by name",
        answer=array(node_answers.FOUND_IMAGE),
        inputs=query(SearchImages),
        errors=(*_CALLED, errors.OperationNotSupported, errors.NoNodeUp, errors.ImageSearchFailed),
    ),
    Operation(
        "POST",
        "/v1/networks",
        Networks.on_post,
        "Have a node keep a network",
        answer=networks.KEPT,
        inputs=body(CreateNetwork, declared=True),
        errors=(*_CALLED, errors.Invalid, errors.NetworkNotFound),
    ),
    Operation(
        "DELETE",
        "/v1/networks/{network}",
        Networks.on_delete_one,
        "Have no node keep it any more",
        204,
        None,
        errors=(*_CALLED, errors.Invalid, errors.NetworkNotFound),
    ),
    Operation(
        "GET",
        "/v1/quotas/{project_id}",
        Quotas.on_get_one,
        "Show a project's limits, and how much is used",
        answer=_limits_or_usages,
        filters={"usages": {**STRING, "description": "Whether to tell what is used; a word for no is no."}},
    ),
    Operation(
        "PUT",
        "/v1/quotas/{project_id}",
        Quotas.on_put_one,
        "Set a project's limits",
        answer=quotas.LIMITS,
        inputs=either(SetLimits),
    ),
    Operation(
        "DELETE", "/v1/quotas/{project_id}", Quotas.on_delete_one, "Let a project have the limits of all"
    ),
    Operation(
        "GET",
        "/v1/quotas/{project_id}/defaults",
        Quotas.on_get_defaults,
        "Show the limits of a project without limits of its own",
        answer=quotas.LIMITS,
    ),
    Operation(
        "GET",
        "/v1/quota_classes/{name}",
        QuotaClasses.on_get_one,
        "Show the limits of a class; that of all projects is `default`",
        answer=quotas.LIMITS,
    ),
    Operation(
        "PUT",
        "/v1/quota_classes/{name}",
        QuotaClasses.on_put_one,
        "Set the limits of a class",
        answer=quotas.LIMITS,
        inputs=either(SetLimits),
    ),
    Operation(
        "GET",
        "/v1/registries",
        Registries.on_get,
        "List registries",
        answer=page("registries", registries.LISTED),
        filters={**PAGE, "all_projects": FLAG, **filters(REGISTRY_FILTERS)},
        errors=(errors.RegistryNotFound, errors.InvalidParameterValue),
    ),
    Operation(
        "POST",
        "/v1/registries",
        Registries.on_post,
        "Make a registry known, with credentials",
        201,
        registries.SHOWN,
        body(NewRegistry, declared=True, wrapped="registry"),
        located=True,
    ),
    Operation(
        "GET",
        "/v1/registries/{ident}",
        Registries.on_get_one,
        "Show a registry",
        answer=registries.SHOWN,
        errors=_REGISTRY,
    ),
    Operation(
        "PATCH",
        "/v1/registries/{ident}",
        Registries.on_patch_one,
        "Change a registry",
        answer=registries.SHOWN,
        inputs=body(ChangedRegistry, wrapped="registry"),
        errors=_REGISTRY,
    ),
    Operation(
        "DELETE",
        "/v1/registries/{ident}",
        Registries.on_delete_one,
        "Forget a registry",
        204,
        None,
        errors=_REGISTRY,
    ),
)
