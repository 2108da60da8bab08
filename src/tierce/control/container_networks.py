"""The networks and security groups of a container: joining, leaving, listing."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from tierce.control import lookup
from tierce.control.intake import Intake
from tierce.control.messages import Messages
from tierce.control.policy import Policy
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import ExternalNetworkAttachForbidden, Invalid
from tierce.networks.base import MAX_NETWORKS, NetworkResolver, RequestedNetwork

EXTERNAL = "network:attach_external_network"


def require_attachable(
    policy: Policy, context: RequestContext, requested: Sequence[RequestedNetwork]
) -> None:
    """Raises ExternalNetworkAttachForbidden for an outside network that is not shared with the caller."""
    for network in requested:
        if network.external and not network.shared and not policy.allows(context, EXTERNAL):
            raise ExternalNetworkAttachForbidden(network.network)


class ContainerNetworks:
    """What changes something raises ContainerNotFound, Conflict, PolicyNotAuthorized, InvalidState when
    the container's status or another action forbids it, ContainerHostNotUp; and for what the request
    names NetworkNotFound, PortNotFound, Invalid.

    Names are looked up in the container's project, also for an administrator of another one.
    """

    def __init__(
        self,
        intake: Intake,
        database: Database,
        policy: Policy,
        networks: NetworkResolver,
        messages: Messages,
    ) -> None:
        self._intake = intake
        self._database = database
        self._policy = policy
        self._networks = networks
        self._messages = messages

    def addresses(self, context: RequestContext, ident: str) -> dict[str, list[dict[str, Any]]]:
        """The addresses of a container by network, an empty list where it has none at present."""
        container = self._database.read(
            lambda session: lookup.permitted(session, self._policy, context, ident, "container:get_one")
        )
        return dict(container.addresses or {})

    def attach(self, context: RequestContext, ident: str, net: Mapping[str, Any]) -> None:
        """Accept that it joins a network: `net` is as an item of `nets`; empty is the default network."""
        action = "network_attach"
        seen = self._admitted(context, ident, action)
        [requested] = self._networks.resolve(_owner(context, seen), [net] if net else [])
        require_attachable(self._policy, context, [requested])

        def work(session: Session) -> Container:
            container = self._intake.admit(session, context, seen.uuid, action)
            _require_joinable(container, requested, net, ident)
            arguments = {"requested_networks": [requested.to_wire()]}
            self._intake.queue(session, context, container, action, action, arguments)
            return container

        self._messages.network_attach(context, self._intake.decide(work), requested)

    def detach(self, context: RequestContext, ident: str, *, network: str | None, port: str | None) -> None:
        """Accept that it leaves a network, which is given by itself or by the container's port in it."""
        action = "network_detach"
        seen = self._admitted(context, ident, action)
        if port is not None:
            subject, left = f"Port '{port}'", self._network_of_port(_owner(context, seen), seen, port)
        else:
            subject, left = f"Network '{network}'", self._network(_owner(context, seen), seen, network or "")

        def work(session: Session) -> Container:
            container = self._intake.admit(session, context, seen.uuid, action)
            if left not in (container.addresses or {}):
                raise Invalid(f"{subject} is not attached to container '{ident}'.")
            self._intake.queue(session, context, container, action, action, {"left_network": left})
            return container

        self._messages.network_detach(context, self._intake.decide(work), left or "")

    def add_security_group(self, context: RequestContext, ident: str, name: str) -> None:
        """Accept that a group's rules hold for the container's ports too. Conflict for an ambiguous name."""
        action = "add_security_group"
        container, group = self._security_group(context, ident, action, name, present=False)
        self._messages.add_security_group(context, container, group)

    def remove_security_group(self, context: RequestContext, ident: str, name: str) -> None:
        """Accept that a group's rules do not hold any more. Conflict for an ambiguous name."""
        action = "remove_security_group"
        container, group = self._security_group(context, ident, action, name, present=True)
        self._messages.remove_security_group(context, container, group)

    # --- parts ----------------------------------------------------------------------------------

    def _security_group(
        self, context: RequestContext, ident: str, action: str, name: str, *, present: bool
    ) -> tuple[Container, str]:
        seen = self._admitted(context, ident, action)
        [group] = self._networks.security_groups(_owner(context, seen), [name])

        def work(session: Session) -> Container:
            container = self._intake.admit(session, context, seen.uuid, action)
            if (group in (container.security_groups or ())) is not present:
                was = "was not" if present else "has been"
                raise Invalid(f"Security group {group} {was} added to container.")
            self._intake.queue(session, context, container, action, action, {"security_group": group})
            return container

        return self._intake.decide(work), group

    def _admitted(self, context: RequestContext, ident: str, action: str) -> Container:
        """The container as it is before anything is looked up: no more is told to who may not do this."""
        return self._database.read(lambda session: self._intake.admit(session, context, ident, action))

    def _network(self, owner: RequestContext, container: Container, network: str) -> str:
        if network in (container.addresses or {}):
            return network
        return self._networks.resolve(owner, [{"network": network}])[0].network

    def _network_of_port(self, owner: RequestContext, container: Container, port: str) -> str | None:
        found = self._networks.find_port(owner, port)
        for network, entries in (container.addresses or {}).items():
            if any(entry.get("port") == found for entry in entries):
                return network
        return None


def _owner(context: RequestContext, container: Container) -> RequestContext:
    return context.replace(project_id=container.project_id)


def _require_joinable(
    container: Container, requested: RequestedNetwork, net: Mapping[str, Any], ident: str
) -> None:
    joined = container.addresses or {}
    if requested.network in joined and net.get("port"):
        raise Invalid(
            f"Cannot attach port '{net['port']}' to container '{ident}' because another port on the same "
            "network is already attached to this container."
        )
    if requested.network in joined:
        name = net.get("network") or requested.network
        raise Invalid(f"Network '{name}' is already connected to container '{ident}'.")
    if len(joined) >= MAX_NETWORKS:
        raise Invalid(f"A container may be in {MAX_NETWORKS} networks. Detach it from another one first.")
