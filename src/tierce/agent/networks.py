"""Networks that an operator keeps on this node: they stay whether or not a container needs them.

The row comes first: what has one is not removed with its last container. It may stand for a network that
is not there (the agent died in between), which is made by the first who needs it, or asks again.
"""

from typing import Protocol

from sqlalchemy.orm import Session

from tierce.agent.operations.base import Plugs
from tierce.db import containers, networks
from tierce.db.tables import Network
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, TierceError


class WireNetwork(Protocol):
    """What a message says of a network: enough to find it."""

    neutron_net_id: str
    project_id: str | None
    host: str | None


class KeptNetworks:
    def __init__(self, plugs: Plugs) -> None:
        self._plugs = plugs

    def create(self, context: RequestContext, network: str) -> Network:
        """Ensure the network is here and stays; its row. Raises NetworkNotFound, Conflict, RuntimeFailure."""
        database, host, now = self._plugs.database, self._plugs.host, self._plugs.clock.now()
        row, is_new = database.write(lambda session: networks.insert(session, context, network, host, now))
        try:
            engine_id = self._plugs.networks.make(row.project_id or "", network)
        except TierceError:
            if is_new:
                database.write(lambda session: networks.destroy(session, network, host))
            raise
        if row.network_id != engine_id:
            database.write(lambda session: networks.set_engine_id(session, row, engine_id, now))
        return row

    def delete(self, network: WireNetwork) -> None:
        """Ensure the network is not here, and then that it has no row.

        Raises Conflict while containers need it, and when it is another node's; RuntimeFailure.
        """
        name, host = network.neutron_net_id, self._plugs.host
        if network.host != host:
            raise Conflict(f"Network {name} of host {network.host} is not on host {host}.")

        def used(session: Session) -> set[str]:
            return containers.networks_of_neighbours(session, network.project_id, host, "")

        database = self._plugs.database
        self._plugs.networks.remove(name, still_used=lambda: database.read(used))
        database.write(lambda session: networks.destroy(session, name, host))
