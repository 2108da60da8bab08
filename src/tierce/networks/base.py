"""The contract of a network plug: an API half, which resolves what the user asked for, and a node half."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Protocol

from tierce.model.container import Endpoint, NetworkAttachment
from tierce.model.context import RequestContext
from tierce.model.errors import Invalid

MAX_NETWORKS: Final = 8
"""Of one container. Each is a network of the node, and an engine has address ranges for few of them."""


@dataclasses.dataclass(frozen=True, slots=True)
class RequestedNetwork:
    """One resolved network of a container: ids, as they travel to the node.

    Its dict form is the element of `requested_networks` on the wire.
    """

    network: str
    port: str = ""
    ipv4: str = ""
    ipv6: str = ""
    external: bool = False
    shared: bool = False
    preserve_on_delete: bool = False

    def to_wire(self) -> dict[str, Any]:
        return {
            "network": self.network,
            "port": self.port,
            "router:external": self.external,
            "shared": self.shared,
            "fixed_ip": self.ipv4 or self.ipv6,
            "v6_fixed_ip": self.ipv6,
            "preserve_on_delete": self.preserve_on_delete,
            "pci_request_id": None,
        }

    @classmethod
    def from_wire(cls, data: object) -> "RequestedNetwork":
        """Raises Invalid for what is no such dict: another program may have sent it."""
        if not isinstance(data, Mapping):
            raise Invalid("A requested network is no object.")
        network, port = _text(data, "network"), _text(data, "port")
        if not network:
            raise Invalid("A requested network does not say which one it is.")
        fixed, v6 = _text(data, "fixed_ip"), _text(data, "v6_fixed_ip")
        if ":" in fixed:
            fixed, v6 = "", v6 or fixed
        return cls(
            network=network,
            port=port,
            ipv4=fixed,
            ipv6=v6,
            external=bool(data.get("router:external")),
            shared=bool(data.get("shared")),
            preserve_on_delete=bool(data.get("preserve_on_delete")),
        )


def _text(data: Mapping[Any, Any], name: str) -> str:
    value = data.get(name) or ""
    if not isinstance(value, str) or not value.isprintable():
        raise Invalid(f"The {name} of a requested network is no text.")
    return value


Addresses = dict[str, list[dict[str, Any]]]
"""Network id -> its addresses: `{"addr", "version", "port", "subnet_id", "preserve_on_delete"}`."""


class NetworkResolver(Protocol):
    """The API half: runs while the user's request is alive, as the user.

    `context.project_id` is the project whose networks, ports and groups are meant.
    """

    def resolve(self, context: RequestContext, nets: Sequence[Mapping[str, Any]]) -> list[RequestedNetwork]:
        """What the items of `nets` (`network` | `port`, `v4-fixed-ip`, `v6-fixed-ip`) mean.

        Empty is the default network. Raises NetworkNotFound, PortNotFound, Conflict for an ambiguous name,
        Invalid.
        """

    def find_port(self, context: RequestContext, ident: str) -> str:
        """The id of the port of this id or name, whoever uses it. Raises PortNotFound, Conflict."""

    def security_groups(self, context: RequestContext, names: Sequence[str]) -> list[str]:
        """The ids of the groups of these ids or names, each once, in order.

        Raises InvalidValue for one that does not exist, Conflict for an ambiguous name.
        """


class NodeNetworks(Protocol):
    """The node half: runs in the agent, on any attempt of an operation."""

    def ensure(
        self,
        container_uuid: str,
        project_id: str,
        name: str,
        requested: Sequence[RequestedNetwork],
        *,
        anew: bool = False,
    ) -> list[NetworkAttachment]:
        """Ensure the networks exist here, and say how the runtime joins them, primary first.

        One that was there before may be taken to be there still, unless `anew`: whoever finds that it is
        not asks again.
        """

    def addresses(self, networks: Sequence[str], endpoints: Sequence[Endpoint]) -> Addresses:
        """The `addresses` of a container in these networks, from what the runtime reports."""

    def make(self, project_id: str, network: str) -> str:
        """Ensure a network of the project exists here, and return its id in the engine."""

    def remove(self, network: str, *, still_used: Callable[[], Collection[str]]) -> None:
        """Ensure the network is gone here. Conflict while containers need it.

        `still_used` names those that they need; it is asked under the lock that `ensure` takes.
        """

    def secure(self, container_uuid: str, networks: Sequence[str], groups: Sequence[str]) -> None:
        """Ensure the container's ports in these networks have exactly these security groups."""

    def release(
        self,
        container_uuid: str,
        project_id: str,
        networks: Sequence[str],
        *,
        still_used: Callable[[], Collection[str]],
    ) -> None:
        """Ensure nothing of this container is left in `networks`, nor a network that only it needed.

        `still_used` names the networks that other containers of the project need here. It is asked under
        the lock that `ensure` takes, so a container that is accepted meanwhile either counts in the
        answer or finds the network made again.
        """

    def sweep(self, projects: Collection[str]) -> None:
        """Ensure nothing is left here of projects other than these."""
