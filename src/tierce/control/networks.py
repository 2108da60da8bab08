"""Networks that are kept on nodes, whether or not a container needs them."""

from sqlalchemy.orm import Session

from tierce.control.liveness import Liveness
from tierce.control.places import Places
from tierce.control.policy import Policy
from tierce.db import networks, services
from tierce.db.engine import Database
from tierce.db.tables import Network
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, Invalid, NetworkNotFound, TierceError
from tierce.networks.base import NetworkResolver
from tierce.rpc.client import Columns, ComputeClient


class Networks:
    """Each method raises PolicyNotAuthorized, ServiceBusy, RpcTimeout, and what the node answers."""

    def __init__(
        self,
        database: Database,
        policy: Policy,
        liveness: Liveness,
        resolver: NetworkResolver,
        compute: ComputeClient,
        places: Places,
    ) -> None:
        self._database = database
        self._policy = policy
        self._liveness = liveness
        self._resolver = resolver
        self._compute = compute
        self._places = places

    def create(self, context: RequestContext, network: str) -> Columns:
        """Have a network made on a node that is up, and kept there; its row.

        Making it again changes nothing. Raises NetworkNotFound, Invalid, Conflict when no node is up.
        """
        self._policy.require(context, "network:create")
        [requested] = self._resolver.resolve(context, [{"network": network}])
        host = self._database.read(self._live_host)
        with self._places.one(context):
            return self._compute.network_create(context, host, neutron_net_id=requested.network)

    def delete(self, context: RequestContext, network: str) -> None:
        """Have a network removed from every node that keeps it.

        Raises NetworkNotFound. Where it cannot be removed (containers need it, the node is down) it
        stays, and Conflict says so; the other nodes are done.
        """
        self._policy.require(context, "network:delete")
        rows = self._rows(context, network)
        failures = []
        for row in rows:
            try:
                self._delete_from_node(context, row)
            except TierceError as exc:
                if len(rows) == 1:
                    raise
                failures.append((row.host, exc))
        if failures:
            where = ", ".join(f"{host} ({exc.message})" for host, exc in failures)
            why = " ".join(dict.fromkeys(exc.summary for _, exc in failures))
            raise Conflict(
                f"Network {network} is still on: {where}",
                f"Network {network} is still on {len(failures)} of {len(rows)} nodes. {why}",
            )

    def _rows(self, context: RequestContext, network: str) -> list[Network]:
        """By the network's id, or by the name that it has in the caller's project."""
        found = self._database.read(lambda session: networks.of_network(session, context, network))
        if not found:
            try:
                [resolved] = self._resolver.resolve(context, [{"network": network}])
            except Invalid:
                raise NetworkNotFound(network) from None
            found = self._database.read(
                lambda session: networks.of_network(session, context, resolved.network)
            )
        if not found:
            raise NetworkNotFound(network)
        return list(found)

    def _delete_from_node(self, context: RequestContext, row: Network) -> None:
        host = row.host or ""
        self._database.read(lambda session: self._liveness.require_up(session, host))
        with self._places.one(context):
            self._compute.network_delete(context, host, row)

    def _live_host(self, session: Session) -> str:
        up = [
            service.host
            for service in services.every(session)
            if service.host
            and service.binary == services.BINARY
            and not service.disabled
            and self._liveness.of(service)
        ]
        if not up:
            raise Conflict("No node is up, so that no network can be made. Try again when one is.")
        return min(up)
