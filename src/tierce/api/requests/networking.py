"""Parameters of a container's networks and security groups, and of `/v1/networks`."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from tierce.api.requests.container_parts import address
from tierce.api.requests.fields import LooseName, Name, Reference
from tierce.api.requests.schema import Params


class NetworkAttach(Params):
    """A network, perhaps with an address, or a port; nothing at all is the default network."""

    network: Reference | None = None
    port: Reference | None = None
    fixed_ip: Annotated[str, Field(strict=True), AfterValidator(address)] | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> "NetworkAttach":
        if self.network is not None and self.port is not None:
            raise ValueError("Invalid input for field 'port'. It excludes network.")
        if self.fixed_ip is not None and self.network is None:
            raise ValueError("Invalid input for field 'fixed_ip'. It goes with network.")
        return self

    def to_item(self) -> dict[str, Any]:
        """As an item of `nets`; empty for the default network."""
        version = 6 if ":" in (self.fixed_ip or "") else 4
        item = {"network": self.network, "port": self.port, f"v{version}-fixed-ip": self.fixed_ip}
        return {key: value for key, value in item.items() if value is not None}


class NetworkDetach(Params):
    """The network to leave, by itself or by the container's port in it."""

    network: Reference | None = None
    port: Reference | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> "NetworkDetach":
        if (self.network is None) == (self.port is None):
            raise ValueError("Exactly one of network and port must be given.")
        return self


class SecurityGroup(Params):
    """A group by name or id."""

    name: Reference


class CreateNetwork(Params):
    """The network to keep on a node. `name` was never looked at."""

    neutron_net_id: Name
    name: LooseName | None = None
