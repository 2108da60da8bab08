"""The `bridge` network plug: Docker's own bridge networks, for clouds without Neutron.

A network belongs to one project and exists when somebody asks for it: `{"network": "web"}` means the
project's own `web`, and no `nets` at all its network `default`. Two projects never share one, whatever
names they use. Docker gives the addresses that nobody asks for, and serves the names.

A container's endpoint in a network stands for the port. Not here: IPv6, security groups.
"""

import contextlib
import hashlib
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from tierce.model.container import AddressRange, Endpoint, NetworkAttachment
from tierce.model.context import RequestContext
from tierce.model.errors import (
    Conflict,
    Invalid,
    InvalidValue,
    NetworkNotFound,
    PortNotFound,
    RuntimeConflict,
)
from tierce.networks.addresses import AddressPool
from tierce.networks.base import Addresses, RequestedNetwork

DEFAULT_NETWORK = "default"

# A subset of what Docker takes, kept as it is: different names make different networks.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PREFIX = re.compile(r"tierce-[0-9a-f]{12}-")
_ENDPOINT = re.compile(r"[0-9a-f]{64}")
_DNS_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


class EngineNetworks(Protocol):
    """The part of a runtime that the node half needs (its contract: `runtimes.base.EngineNetworks`)."""

    def ensure(self, name: str, labels: Mapping[str, str], addresses: AddressRange | None = None) -> str: ...

    def remove(self, name: str) -> None: ...

    def list(self, labels: Mapping[str, str]) -> list[str]: ...


class BridgeResolver:
    """The API half: names to network ids. It needs no engine, so it runs in any process.

    `cloud` is the uuid of the cloud: another service on the same engine makes networks of its own.
    """

    def __init__(self, cloud: str, addresses: AddressPool) -> None:
        self._cloud = cloud
        self._addresses = addresses

    def resolve(self, context: RequestContext, nets: Sequence[Mapping[str, Any]]) -> list[RequestedNetwork]:
        """The project's own networks of these names; its `default` when there are none.

        A name may also be a network id of the same project, as `addresses` shows it. Raises Invalid
        (an address that is not to be had, a malformed or repeated name), PortNotFound for any port,
        NetworkNotFound for another project's network id.
        """
        if context.project_id is None:
            raise Invalid("A network belongs to a project, and the request has none.")
        prefix = self._prefix(context.project_id)
        resolved: dict[str, RequestedNetwork] = {}
        for item in nets or [{"network": DEFAULT_NETWORK}]:
            name = _name_of(item)
            network = _network_id(prefix, name)
            if network in resolved:
                raise Invalid(f"Network {name} is given more than once.")
            resolved[network] = RequestedNetwork(network=network, ipv4=self._fixed_address(item))
        return list(resolved.values())

    def find_port(self, context: RequestContext, ident: str) -> str:
        """An endpoint's id itself: it has no name. Raises PortNotFound for what cannot be one."""
        if not _ENDPOINT.fullmatch(ident):
            raise PortNotFound(ident)
        return ident

    def security_groups(self, context: RequestContext, names: Sequence[str]) -> list[str]:
        """None: Docker has no such thing. Raises InvalidValue for any name."""
        if names:
            raise InvalidValue(f"Security group {names[0]} not found.")
        return []

    def _fixed_address(self, item: Mapping[str, Any]) -> str:
        if item.get("v6-fixed-ip"):
            raise InvalidValue("Fixed address v6-fixed-ip cannot be had: networks have IPv4 alone here.")
        address = str(item.get("v4-fixed-ip") or "")
        if address:
            self._addresses.require_fixed(address)
        return address

    def _prefix(self, project_id: str) -> str:
        """What the names of all of a project's networks begin with."""
        return f"tierce-{hashlib.sha256(f'{self._cloud} {project_id}'.encode()).hexdigest()[:12]}-"


class BridgeNetworks(BridgeResolver):
    """Both halves, for a process that has the engine. `owner_labels` mark its networks as ours."""

    def __init__(
        self, engine: EngineNetworks, owner_labels: Mapping[str, str], cloud: str, addresses: AddressPool
    ) -> None:
        super().__init__(cloud, addresses)
        self._engine = engine
        self._owner_labels = owner_labels
        self._guard = threading.Lock()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        # Projects (by prefix) with a container that may be on its way: the engine does not know yet
        # that it needs its network, and would let it go.
        self._in_hand: set[str] = set()
        # Networks that were there when this process last looked.
        self._seen: set[str] = set()

    def ensure(
        self,
        container_uuid: str,
        project_id: str,
        name: str,
        requested: Sequence[RequestedNetwork],
        *,
        anew: bool = False,
    ) -> list[NetworkAttachment]:
        """Ensure the networks exist; those seen before are looked for only if `anew`.

        The first one requested is the primary. The container answers to its `name` in each, if that is
        a legal DNS label. A new network has the addresses that include the one asked for. Raises
        NetworkNotFound for another project's, Conflict when there are no such addresses left.
        """
        prefix = self._prefix(project_id)
        for item in requested:
            _require_own(prefix, item.network)
        with self._lock_of(prefix):
            self._in_hand.add(prefix)
            for item in requested:
                if anew or item.network not in self._seen:
                    self._make(item.network, item.ipv4)
                    self._seen.add(item.network)
        aliases = (name,) if _DNS_LABEL.fullmatch(name) else ()
        return [NetworkAttachment(item.network, aliases, ipv4=item.ipv4 or None) for item in requested]

    def make(self, project_id: str, network: str) -> str:
        """As the protocol says. Raises NetworkNotFound for another project's."""
        prefix = self._prefix(project_id)
        _require_own(prefix, network)
        with self._lock_of(prefix):
            self._in_hand.add(prefix)
            return self._make(network, "")

    def remove(self, network: str, *, still_used: Callable[[], Collection[str]]) -> None:
        """As the protocol says; also a network that is not of this plug's making."""
        prefix = _PREFIX.match(network)
        with self._lock_of(prefix[0] if prefix else network):
            if network in still_used():
                raise Conflict(f"Network {network} has containers: detach or delete them first.")
            self._seen.discard(network)
            self._engine.remove(network)

    def secure(self, container_uuid: str, networks: Sequence[str], groups: Sequence[str]) -> None:
        """Raises Invalid for any group."""
        if groups:
            raise Invalid("Docker's bridge networks have no security groups.")

    def addresses(self, networks: Sequence[str], endpoints: Sequence[Endpoint]) -> Addresses:
        """The addresses of a container in its `networks`, as the runtime reports them.

        A network in which it has none now (it is stopped, say) keeps its place with an empty list. The
        engine's endpoint stands for the port, its network's own id for the subnet.
        """
        by_network = {endpoint.network: endpoint for endpoint in endpoints}
        return {name: _entries(by_network[name]) if name in by_network else [] for name in networks}

    def release(
        self,
        container_uuid: str,
        project_id: str,
        networks: Sequence[str],
        *,
        still_used: Callable[[], Collection[str]],
    ) -> None:
        """Ensure those of the project's networks are gone that none of its other containers needs.

        Also those of an earlier run, of which nobody knows any more who asked for them. One that the
        engine says is in use stays: the next release takes it, or `sweep`.
        """
        prefix = self._prefix(project_id)
        with self._lock_of(prefix):
            needed = still_used()
            if not needed:
                self._in_hand.discard(prefix)
            own = [network for network in self._ours() if network.startswith(prefix)]
            self._remove(network for network in own if network not in needed)

    def sweep(self, projects: Collection[str]) -> None:
        """Ensure no network is left of projects other than these, where nothing uses it.

        A project whose networks this process has made and not released is left alone: its container
        may have been accepted after the caller counted the projects.
        """
        kept = {self._prefix(project) for project in projects}
        leftovers = defaultdict(list)
        for network in self._ours():
            if (prefix := _PREFIX.match(network)) and prefix[0] not in kept:
                leftovers[prefix[0]].append(network)
        for project, networks in leftovers.items():
            with self._lock_of(project):
                if project not in self._in_hand:
                    self._remove(networks)

    def _make(self, network: str, address: str) -> str:
        """Ensure the network; the lock of its project is held."""
        if address and network not in self._ours():
            return self._make_around(network, address)
        for addresses in self._addresses.candidates(network):
            with contextlib.suppress(RuntimeConflict):
                return self._engine.ensure(network, self._owner_labels, addresses)
        raise Conflict("Docker has no addresses left for another network.")

    def _make_around(self, network: str, address: str) -> str:
        addresses = self._addresses.around(address)
        try:
            return self._engine.ensure(network, self._owner_labels, addresses)
        except RuntimeConflict as exc:
            raise Conflict(
                f"Addresses of {addresses.subnet} are another network's. Ask for one of another range."
            ) from exc

    def _ours(self) -> list[str]:
        return self._engine.list(self._owner_labels)

    def _remove(self, networks: Iterable[str]) -> None:
        for network in networks:
            self._seen.discard(network)
            with contextlib.suppress(RuntimeConflict):
                self._engine.remove(network)

    def _lock_of(self, prefix: str) -> threading.Lock:
        """One for each project: what makes its networks and what removes them take turns."""
        with self._guard:
            return self._locks[prefix]


def _name_of(item: Mapping[str, Any]) -> str:
    if port := item.get("port"):
        raise PortNotFound(port)
    return item.get("network") or ""


def _require_own(prefix: str, network: str) -> None:
    if not network.startswith(prefix):
        raise NetworkNotFound(network)


def _network_id(prefix: str, name: str) -> str:
    """The engine's name of the project's network `name`, which may be given as that already.

    Raises NetworkNotFound for another project's, and Invalid: no two networks are ever one in the engine.
    """
    own_name = name.removeprefix(prefix)
    if _PREFIX.match(own_name):
        raise NetworkNotFound(name)
    if not _NAME.fullmatch(own_name):
        raise Invalid(
            "The name of a network is 1 to 64 letters, digits, underscores, dots and dashes, "
            "beginning with a letter or a digit."
        )
    return prefix + own_name


def _entries(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {
            "addr": address,
            "version": version,
            "port": endpoint.endpoint_id,
            "subnet_id": endpoint.network_id,
            "preserve_on_delete": False,
        }
        for version, address in ((4, endpoint.ipv4), (6, endpoint.ipv6))
        if address
    ]
