"""The `bridge` network plug: Docker's own bridge networks, for one machine without Neutron.

A network belongs to one project and exists when somebody asks for it: `{"network": "web"}` means the
project's own `web`, and no `nets` at all its network `default`. Two projects never share one, whatever
names they use. Docker gives the addresses and serves the names.

Not here: ports, subnets, security groups. A bridge network has none that a user could name.
"""

import contextlib
import hashlib
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from tierce.model.container import Endpoint, NetworkAttachment
from tierce.model.context import RequestContext
from tierce.model.errors import Invalid, NetworkNotFound, PortNotFound, RuntimeConflict
from tierce.networks.base import Addresses, RequestedNetwork

DEFAULT_NETWORK = "default"

# A subset of what Docker takes, kept as it is: different names make different networks.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PREFIX = re.compile(r"tierce-[0-9a-f]{12}-")
_DNS_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


class EngineNetworks(Protocol):
    """The part of a runtime that the node half needs (its contract: `runtimes.base.EngineNetworks`)."""

    def ensure(self, name: str, labels: Mapping[str, str]) -> str: ...

    def remove(self, name: str) -> None: ...

    def list(self, labels: Mapping[str, str]) -> list[str]: ...


class BridgeResolver:
    """The API half: names to network ids. It needs no engine, so it runs in any process.

    `node` is the uuid of the one node: another service on the same engine makes networks of its own.
    """

    def __init__(self, node: str) -> None:
        self._node = node

    def resolve(self, context: RequestContext, nets: Sequence[Mapping[str, Any]]) -> list[RequestedNetwork]:
        """The project's own networks of these names; its `default` when there are none.

        A name may also be a network id of the same project, as `addresses` shows it. Raises Invalid
        (fixed addresses, a malformed or repeated name), PortNotFound for any port, NetworkNotFound
        for another project's network id.
        """
        if context.project_id is None:
            raise Invalid("A network belongs to a project, and the request has none.")
        names = [_name_of(item) for item in nets] or [DEFAULT_NETWORK]
        prefix = self._prefix(context.project_id)
        networks = [_network_id(prefix, name) for name in names]
        for position, network in enumerate(networks):
            if network in networks[:position]:
                raise Invalid(f"Network {names[position]} is given more than once.")
        return [RequestedNetwork(network=network) for network in networks]

    def _prefix(self, project_id: str) -> str:
        """What the names of all of a project's networks begin with."""
        return f"tierce-{hashlib.sha256(f'{self._node} {project_id}'.encode()).hexdigest()[:12]}-"


class BridgeNetworks(BridgeResolver):
    """Both halves, for a process that has the engine. `owner_labels` mark its networks as ours."""

    def __init__(self, engine: EngineNetworks, owner_labels: Mapping[str, str], node: str) -> None:
        super().__init__(node)
        self._engine = engine
        self._owner_labels = owner_labels
        self._guard = threading.Lock()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        # Projects (by prefix) with a container that may be on its way: the engine does not know yet
        # that it needs its network, and would let it go.
        self._in_hand: set[str] = set()

    def ensure(
        self,
        container_uuid: str,
        project_id: str,
        name: str,
        requested: Sequence[RequestedNetwork],
    ) -> list[NetworkAttachment]:
        """Ensure the networks exist.

        The first one requested is the primary. The container answers to its `name` in each, if that is
        a legal DNS label. Raises NetworkNotFound for another project's.
        """
        prefix = self._prefix(project_id)
        for item in requested:
            if not item.network.startswith(prefix):
                raise NetworkNotFound(item.network)
        with self._lock_of(prefix):
            self._in_hand.add(prefix)
            for item in requested:
                self._engine.ensure(item.network, self._owner_labels)
        aliases = (name,) if _DNS_LABEL.fullmatch(name) else ()
        return [NetworkAttachment(network=item.network, aliases=aliases) for item in requested]

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

    def _ours(self) -> list[str]:
        return self._engine.list(self._owner_labels)

    def _remove(self, networks: Iterable[str]) -> None:
        for network in networks:
            with contextlib.suppress(RuntimeConflict):
                self._engine.remove(network)

    def _lock_of(self, prefix: str) -> threading.Lock:
        """One for each project: what makes its networks and what removes them take turns."""
        with self._guard:
            return self._locks[prefix]


def _name_of(item: Mapping[str, Any]) -> str:
    if port := item.get("port"):
        raise PortNotFound(port)
    if item.get("v4-fixed-ip") or item.get("v6-fixed-ip"):
        raise Invalid(
            "Docker's bridge networks give addresses themselves: a fixed address cannot be asked for."
        )
    return item.get("network") or ""


def _network_id(prefix: str, name: str) -> str:
    """The engine's network of that name in the project; one way round only, so that no two meet."""
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
