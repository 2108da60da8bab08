"""The operations on containers."""

from typing import Final

from tierce.api.openapi.operations import Errors, Operation, body, either, query
from tierce.api.requests import actions as actions_requests
from tierce.api.requests.archives import GetArchive, PutArchive
from tierce.api.requests.changes import CommitContainer, RebuildContainer, ResizeContainer, UpdateContainer
from tierce.api.requests.containers import CreateContainer, CreateFlags, DeleteContainer
from tierce.api.requests.listing import CONTAINER_FILTERS, FLAG, PAGE, filters
from tierce.api.requests.networking import NetworkAttach, NetworkDetach, SecurityGroup
from tierce.api.requests.terminals import ExecuteResize, Resize
from tierce.api.resources.archives import Archives
from tierce.api.resources.changes import Changes
from tierce.api.resources.container_actions import ContainerActions
from tierce.api.resources.container_networks import GROUPED_LIST, ContainerNetworks
from tierce.api.resources.containers import Containers
from tierce.api.resources.inspection import Inspection
from tierce.api.resources.lifecycle import Lifecycle
from tierce.api.resources.terminals import Terminals
from tierce.api.versions import Version
from tierce.api.views import container_actions, containers, networks, node_answers
from tierce.api.views.shapes import STRING, Shape, array, page, record
from tierce.model import errors

_COLLECTION: Final = "/v1/containers"
_ONE: Final = "/v1/containers/{ident}"

_FOUND: Final[Errors] = (errors.ContainerNotFound, errors.Conflict)
"""By uuid, or by a name that one has alone."""

_QUEUED: Final[Errors] = (*_FOUND, errors.InvalidState, errors.ContainerHostNotUp)
"""Accepted for the node to do later."""

_CALLED: Final[Errors] = (
    *_QUEUED,
    errors.Invalid,
    errors.HostNotUp,
    errors.ServiceBusy,
    errors.BusUnavailable,
    errors.RpcTimeout,
    errors.RuntimeFailure,
    errors.RuntimeUnreachable,
    errors.RuntimeTimeout,
)
"""The node's own answer is waited for."""

_NAMED: Final[Errors] = (errors.Invalid, errors.NetworkNotFound, errors.PortNotFound)
"""Networks and ports that a request names."""

_PLACED: Final[Errors] = (
    *_NAMED,
    errors.Conflict,
    errors.ContainerAlreadyExists,
    errors.ExternalNetworkAttachForbidden,
    errors.ImageNotFound,
    errors.OverQuota,
    errors.RegistryNotFound,
    errors.RequestedHostNotFound,
    errors.VolumeNotFound,
)
"""What a new container needs."""

_RESIZED: Final[Errors] = (errors.ContainerAlreadyExists, errors.OverQuota, errors.ResourcesUnavailable)


def _network_list(version: Version) -> Shape:
    item = networks.BY_PORT if version >= GROUPED_LIST else networks.FLAT
    return record({"networks": array(item)})


OPERATIONS: Final = (
    Operation(
        "GET",
        _COLLECTION,
        Containers.on_get,
        "List containers",
        answer=page("containers", containers.LISTED),
        filters={**PAGE, "all_projects": FLAG, **filters(CONTAINER_FILTERS)},
        errors=(errors.ContainerNotFound, errors.InvalidParameterValue),
    ),
    Operation(
        "POST",
        _COLLECTION,
        Containers.on_post,
        "Create a container, and run it if asked to",
        202,
        containers.SHOWN,
        (*query(CreateFlags), *body(CreateContainer, declared=True)),
        errors=_PLACED,
        located=True,
    ),
    Operation(
        "GET",
        _ONE,
        Containers.on_get_one,
        "Show a container",
        answer=containers.SHOWN,
        filters={"all_projects": FLAG},
        errors=_FOUND,
    ),
    Operation(
        "PATCH",
        _ONE,
        Containers.on_patch_one,
        "Change a container's name, size or healing",
        answer=containers.SHOWN,
        inputs=body(UpdateContainer),
        errors=(*_CALLED, *_RESIZED),
    ),
    Operation(
        "DELETE",
        _ONE,
        Containers.on_delete_one,
        "Delete a container",
        204,
        None,
        query(DeleteContainer),
        errors=(*_QUEUED, errors.InvalidParamInVersion),
    ),
    Operation("POST", f"{_ONE}/start", Lifecycle.on_post_start, "Start it", 202, errors=_QUEUED),
    Operation(
        "POST",
        f"{_ONE}/stop",
        Lifecycle.on_post_stop,
        "Stop it",
        202,
        inputs=either(actions_requests.Stop),
        errors=_QUEUED,
    ),
    Operation(
        "POST",
        f"{_ONE}/reboot",
        Lifecycle.on_post_reboot,
        "Stop and start it",
        202,
        inputs=either(actions_requests.Stop),
        errors=_QUEUED,
    ),
    Operation("POST", f"{_ONE}/pause", Lifecycle.on_post_pause, "Freeze its processes", 202, errors=_QUEUED),
    Operation("POST", f"{_ONE}/unpause", Lifecycle.on_post_unpause, "Let them run on", 202, errors=_QUEUED),
    Operation(
        "POST",
        f"{_ONE}/kill",
        Lifecycle.on_post_kill,
        "Send it a signal",
        202,
        inputs=either(actions_requests.Kill),
        errors=_QUEUED,
    ),
    Operation(
        "POST",
        f"{_ONE}/rename",
        Lifecycle.on_post_rename,
        "Give it another name",
        answer=containers.SHOWN,
        inputs=either(actions_requests.Rename),
        errors=(*_FOUND, errors.ContainerAlreadyExists),
    ),
    Operation(
        "POST",
        f"{_ONE}/resize_container",
        Changes.on_post_resize_container,
        "Change its size, later",
        202,
        containers.SHOWN,
        either(ResizeContainer),
        errors=(*_QUEUED, *_RESIZED),
    ),
    Operation(
        "POST",
        f"{_ONE}/rebuild",
        Changes.on_post_rebuild,
        "Make it anew, of another image if one is given",
        202,
        inputs=either(RebuildContainer),
        errors=(*_QUEUED, errors.ResourcesUnavailable),
    ),
    Operation(
        "POST",
        f"{_ONE}/commit",
        Changes.on_post_commit,
        "Make an image of it",
        202,
        record({"uuid": STRING}),
        either(CommitContainer),
        errors=(*_QUEUED, errors.ImageAlreadyExists, errors.OverQuota),
    ),
    Operation(
        "GET",
        f"{_ONE}/logs",
        Inspection.on_get_logs,
        "What it wrote",
        answer=node_answers.LOGS,
        inputs=query(actions_requests.Logs),
        errors=_CALLED,
    ),
    Operation(
        "POST",
        f"{_ONE}/execute",
        Inspection.on_post_execute,
        "Run a program in it",
        answer=node_answers.EXECUTED,
        inputs=either(actions_requests.Execute),
        errors=_CALLED,
    ),
    Operation(
        "GET",
        f"{_ONE}/top",
        Inspection.on_get_top,
        "Its processes",
        answer=node_answers.PROCESSES,
        inputs=query(actions_requests.Top),
        errors=_CALLED,
    ),
    Operation(
        "GET",
        f"{_ONE}/stats",
        Inspection.on_get_stats,
        "What it uses",
        answer=node_answers.SAMPLE,
        errors=_CALLED,
    ),
    Operation(
        "GET",
        f"{_ONE}/attach",
        Terminals.on_get_attach,
        "Where to connect to its terminal",
        answer=node_answers.TERMINAL,
        errors=(*_CALLED, errors.NoInteractiveFlag),
    ),
    Operation(
        "POST",
        f"{_ONE}/resize",
        Terminals.on_post_resize,
        "Set the size of its terminal",
        inputs=either(Resize),
        errors=_CALLED,
    ),
    Operation(
        "POST",
        f"{_ONE}/execute_resize",
        Terminals.on_post_execute_resize,
        "Set the size of the terminal of a program that was run in it",
        inputs=either(ExecuteResize),
        errors=(*_CALLED, errors.ExecNotFound),
    ),
    Operation(
        "GET",
        f"{_ONE}/get_archive",
        Archives.on_get_get_archive,
        "Files out of it",
        answer=node_answers.ARCHIVE,
        inputs=query(GetArchive),
        errors=(*_CALLED, errors.ArchiveTooLarge),
    ),
    Operation(
        "POST",
        f"{_ONE}/put_archive",
        Archives.on_post_put_archive,
        "Files into it",
        inputs=either(PutArchive),
        errors=(*_CALLED, errors.ArchiveTooLarge, errors.Base64Invalid),
    ),
    Operation(
        "GET",
        f"{_ONE}/network_list",
        ContainerNetworks.on_get_list,
        "Its networks",
        answer=_network_list,
        errors=_FOUND,
    ),
    Operation(
        "POST",
        f"{_ONE}/network_attach",
        ContainerNetworks.on_post_attach,
        "Have it join a network",
        inputs=either(NetworkAttach),
        errors=(*_QUEUED, *_NAMED, errors.ExternalNetworkAttachForbidden),
    ),
    Operation(
        "POST",
        f"{_ONE}/network_detach",
        ContainerNetworks.on_post_detach,
        "Have it leave a network",
        202,
        inputs=either(NetworkDetach),
        errors=(*_QUEUED, *_NAMED),
    ),
    Operation(
        "POST",
        f"{_ONE}/add_security_group",
        ContainerNetworks.on_post_add_group,
        "Have a security group's rules hold for it too",
        202,
        inputs=either(SecurityGroup),
        errors=(*_QUEUED, errors.Invalid),
    ),
    Operation(
        "POST",
        f"{_ONE}/remove_security_group",
        ContainerNetworks.on_post_remove_group,
        "Have a security group's rules not hold for it any more",
        202,
        inputs=either(SecurityGroup),
        errors=(*_QUEUED, errors.Invalid),
    ),
    Operation(
        "GET",
        f"{_ONE}/container_actions",
        ContainerActions.on_get,
        "What was done to it",
        answer=record({"containerActions": array(container_actions.ACTION)}),
        errors=_FOUND,
    ),
    Operation(
        "GET",
        f"{_ONE}/container_actions/{{request_id}}",
        ContainerActions.on_get_one,
        "One of these, with its events",
        answer=container_actions.ACTION_WITH_EVENTS,
        errors=(*_FOUND, errors.NotFound),
    ),
)
