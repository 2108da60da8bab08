"""The Engine's own bridge networks."""

import collections
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from tierce.model.container import AddressRange
from tierce.model.errors import RuntimeConflict, RuntimeNotFound
from tierce.runtimes.docker.connection import Connection, json_filter, label_filter
from tierce.runtimes.docker.report import readable, timestamp


class BridgeNetworks:
    """`EngineNetworks` of `runtimes/base.py`.

    The Engine lets two networks have one name, and then refuses that name as ambiguous. So threads
    take turns by name, and against other programs the oldest network of a name wins: who finds a
    newer one of its own making removes it again.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._locks: collections.defaultdict[str, threading.Lock] = collections.defaultdict(threading.Lock)
        self._guard = threading.Lock()

    def ensure(self, name: str, labels: Mapping[str, str], addresses: AddressRange | None = None) -> str:
        """As the protocol says; one that has the name already is taken as it is."""
        with self._turn(name):
            existing = self._named(name)
            return existing[0] if existing else self._create(name, labels, addresses)

    def remove(self, name: str) -> None:
        with self._turn(name):
            for network_id in self._named(name):
                self._delete(network_id)

    def list(self, labels: Mapping[str, str]) -> list[str]:
        with readable():
            return [network["Name"] for network in self._query(label=label_filter(labels))]

    def _create(self, name: str, labels: Mapping[str, str], addresses: AddressRange | None) -> str:
        body: dict[str, Any] = {
            "Name": name,
            "CheckDuplicate": True,
            "Driver": "bridge",
            "Labels": dict(labels),
        }
        if addresses is not None:
            # Without a gateway named, older Engines take one from the range.
            pool = {
                "Subnet": addresses.subnet,
                "IPRange": addresses.dynamic,
                "Gateway": addresses.gateway,
            }
            body["IPAM"] = {"Config": [pool]}
        try:
            with readable():
                made = str(self._connection.call("POST", "/networks/create", body=body)["Id"])
        except RuntimeConflict:
            if existing := self._named(name):  # another program made it since this one looked
                return existing[0]
            raise
        oldest = next(iter(self._named(name)), made)
        if oldest != made:
            self._delete(made)
        return oldest

    def _turn(self, name: str) -> threading.Lock:
        with self._guard:
            return self._locks[name]

    def _named(self, name: str) -> Sequence[str]:
        """Ids of the networks of exactly this name, oldest first (the Engine's filter matches substrings)."""
        with readable():
            same = [network for network in self._query(name=[name]) if network["Name"] == name]
            return [network["Id"] for network in sorted(same, key=_age)]

    def _query(self, **conditions: Any) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self._connection.call(
            "GET", "/networks", params={"filters": json_filter(**conditions)}
        )
        return found

    def _delete(self, network_id: str) -> None:
        try:
            self._connection.call("DELETE", "/networks/{}", network_id)
        except RuntimeNotFound:
            return


def _age(network: Mapping[str, Any]) -> tuple[str, str]:
    """Orders networks from old to new, the same for all who look."""
    return str(timestamp(network["Created"])), network["Id"]
