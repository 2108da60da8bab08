"""Networks as clients read them: those of a container, and those that nodes keep."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tierce.api.views.shapes import INTEGER, STRING, Shape, array, nullable, record

_FIELDS: Final = ("uuid", "name", "project_id", "user_id", "network_id", "neutron_net_id")

_NETWORK: Final[Mapping[str, Shape]] = {"net_id": STRING}
_PORT: Final[Mapping[str, Shape]] = {"port_id": nullable(STRING)}
_ADDRESS: Final[Mapping[str, Shape]] = {
    "subnet_id": nullable(STRING),
    "version": nullable(INTEGER),
    "ip_address": nullable(STRING),
}
FLAT: Final[Shape] = record({**_NETWORK, **_PORT, **_ADDRESS})
BY_PORT: Final[Shape] = record({**_NETWORK, **_PORT, "fixed_ips": array(record(_ADDRESS))})
KEPT: Final[Shape] = record(dict.fromkeys(_FIELDS, nullable(STRING)))

Addresses = Mapping[str, Sequence[Mapping[str, Any]]]


def flat(addresses: Addresses) -> list[dict[str, Any]]:
    """One item an address (microversions 1.13 to 1.17)."""
    return [
        {
            "net_id": network,
            "subnet_id": entry.get("subnet_id"),
            "port_id": entry.get("port"),
            "version": entry.get("version"),
            "ip_address": entry.get("addr"),
        }
        for network, entries in addresses.items()
        for entry in entries
    ]


def by_port(addresses: Addresses) -> list[dict[str, Any]]:
    """One item a port; one without port for a network in which a stopped container has none."""
    items = []
    for network, entries in addresses.items():
        for port in dict.fromkeys(entry.get("port") for entry in entries) or [None]:
            fixed_ips = [_fixed_ip(entry) for entry in entries if entry.get("port") == port]
            items.append({"net_id": network, "port_id": port, "fixed_ips": fixed_ips})
    return items


def kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """A network that a node keeps."""
    return {field: row.get(field) for field in _FIELDS}


def _fixed_ip(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "subnet_id": entry.get("subnet_id"),
        "version": entry.get("version"),
        "ip_address": entry.get("addr"),
    }
