"""The networks that a container of the Engine is in.

Two habits of the Engine make this more than a call. A container in no network at all is put, at its next
start, into the one that it was created in: so one that leaves its last network joins the Engine's `none`,
which in turn allows no other beside it. And a network that a running container failed to join is noted
as if it had joined, so that every later start fails as the joining did: that note is taken back here.
"""

import contextlib
import dataclasses
from collections.abc import Sequence

from tierce.model.container import NetworkAttachment
from tierce.model.errors import RuntimeFailure, RuntimeNotFound, RuntimeUnreachable
from tierce.runtimes.docker.connection import Connection
from tierce.runtimes.docker.report import readable
from tierce.runtimes.docker.spec import endpoint_config

_NOWHERE = "none"


@dataclasses.dataclass(frozen=True, slots=True)
class _Noted:
    """The networks that the Engine notes of a container."""

    joined: frozenset[str]
    failed: frozenset[str]


def connect(connection: Connection, ref: str, attachment: NetworkAttachment) -> None:
    """Join a network that it is not in."""
    body = {"Container": ref, "EndpointConfig": endpoint_config(attachment)}
    connection.call("POST", "/networks/{}/connect", attachment.network, body=body)


def join(connection: Connection, ref: str, attachment: NetworkAttachment) -> None:
    """As `Containers.join` of the protocol."""
    noted = _noted(connection, ref)
    if attachment.network in noted.joined:
        return
    if _NOWHERE in noted.joined:
        _disconnect(connection, ref, _NOWHERE)
    try:
        connect(connection, ref, attachment)
    except RuntimeUnreachable:
        raise
    except RuntimeFailure:
        leave(connection, ref, attachment.network)
        raise


def leave(connection: Connection, ref: str, network: str) -> None:
    """As `Containers.leave` of the protocol."""
    noted = _noted(connection, ref)
    if network in noted.failed:
        # Only what has joined can leave, so it joins first. If the network is gone, the note can be dropped.
        with contextlib.suppress(RuntimeNotFound):
            connect(connection, ref, NetworkAttachment(network))
    if network in noted.failed | noted.joined:
        try:
            _disconnect(connection, ref, network)
        except RuntimeUnreachable:
            raise
        except RuntimeFailure:  # that it left meanwhile, too: whatever the status, the state tells
            if network in _noted(connection, ref).joined:
                raise
    if not noted.joined - {network}:
        connect(connection, ref, NetworkAttachment(_NOWHERE))


def rejoin(connection: Connection, ref: str, networks: Sequence[NetworkAttachment]) -> None:
    """As `Containers.rejoin` of the protocol."""
    noted = _noted(connection, ref)
    for attachment in networks:
        if attachment.network in noted.joined:
            _disconnect(connection, ref, attachment.network)
        join(connection, ref, attachment)


def _disconnect(connection: Connection, ref: str, network: str) -> None:
    """With force, which takes it out of a network that does not exist any more."""
    body = {"Container": ref, "Force": True}
    connection.call("POST", "/networks/{}/disconnect", network, body=body)


def _noted(connection: Connection, ref: str) -> _Noted:
    """Only while it runs does a network that it has joined show an endpoint."""
    with readable():
        inspection = connection.call("GET", "/containers/{}/json", ref)
        networks = inspection["NetworkSettings"]["Networks"] or {}
        runs = inspection["State"].get("Running", False)
        failed = {name for name, endpoint in networks.items() if runs and not endpoint.get("EndpointID")}
        return _Noted(frozenset(networks.keys() - failed), frozenset(failed))
