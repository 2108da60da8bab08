"""Which addresses a network has: a /24 of the operator's pool, the same one each time if that is free.

    .1            the gateway
    .2 to .127    for containers that ask for one of them
    .128 to .254  given by the engine

So what somebody asked for is never given to somebody else while its container is stopped.
"""

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from oslo_config import cfg

from tierce.model.container import AddressRange
from tierce.model.errors import Conflict, InvalidValue

_PREFIX = 24
_FIXED = range(2, 128)


class AddressPool:
    """The pool of one node. Without one, the engine chooses addresses, and none can be asked for."""

    def __init__(self, pool: IPv4Network | None, routed: Callable[[], Iterable[IPv4Network]]) -> None:
        """`routed` tells what this machine reaches elsewhere, or has given to a network already."""
        self._pool = pool
        self._routed = routed

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "AddressPool":
        """By `[network] address_pool`. Raises InvalidValue for what is no network of at least a /24."""
        text = conf.network.address_pool
        if not text:
            return cls(None, host_routes)
        try:
            pool = IPv4Network(text)
        except ValueError as exc:
            raise InvalidValue(f"[network] address_pool is no IPv4 network: {exc}.") from exc
        if pool.prefixlen > _PREFIX:
            raise InvalidValue(
                f"[network] address_pool {text} is too small: it must be a /{_PREFIX} or larger."
            )
        return cls(pool, host_routes)

    def require_fixed(self, address: str) -> None:
        """Raises InvalidValue unless a container can ask for this address in some network."""
        if self._pool is None:
            raise InvalidValue(
                f"Fixed address {address} cannot be had: addresses are Docker's choice here, "
                "unless the operator sets [network] address_pool."
            )
        parsed = IPv4Address(address)
        if parsed not in self._pool or int(parsed) % 256 not in _FIXED:
            raise InvalidValue(
                f"Fixed address {address} cannot be had: it must be in {self._pool}, "
                f"and its last number from {_FIXED[0]} to {_FIXED[-1]}."
            )

    def around(self, address: str) -> AddressRange:
        """The range that a new network must have to contain this address.

        Raises Conflict when this machine uses its addresses otherwise.
        """
        subnet = IPv4Network((address, _PREFIX), strict=False)
        if _overlaps_any(subnet, self._routed()):
            raise Conflict(
                f"Addresses of {subnet} are in use on the node already. Ask for one of another range."
            )
        return _range(subnet)

    def candidates(self, network: str) -> Iterator[AddressRange | None]:
        """Ranges for a new network of this name, to be tried in this order; last, the engine's own choice."""
        if self._pool is not None:
            routed = list(self._routed())
            count = 2 ** (_PREFIX - self._pool.prefixlen)
            first = int(hashlib.sha256(network.encode()).hexdigest(), 16) % count
            for number in range(first, first + count):
                base = int(self._pool.network_address) + number % count * 2 ** (32 - _PREFIX)
                subnet = IPv4Network((base, _PREFIX))
                if not _overlaps_any(subnet, routed):
                    yield _range(subnet)
        yield None


def host_routes() -> list[IPv4Network]:
    """Where this machine's routes lead, but for the default one."""
    try:
        return parse_routes(Path("/proc/net/route").read_text())
    except FileNotFoundError:  # a kernel without IPv4
        return []


def parse_routes(table: str) -> list[IPv4Network]:
    """The destinations in a table as /proc/net/route has it, the default route left out.

    Addresses are in there as numbers of the machine's byte order.
    """
    rows = [line.split() for line in table.splitlines()[1:]]
    networks = [IPv4Network((_number(row[1]), str(IPv4Address(_number(row[7]))))) for row in rows]
    return [network for network in networks if network.prefixlen]


def _number(text: str) -> int:
    return int.from_bytes(int(text, 16).to_bytes(4, sys.byteorder), "big")


def _overlaps_any(subnet: IPv4Network, others: Iterable[IPv4Network]) -> bool:
    return any(subnet.overlaps(other) for other in others)


def _range(subnet: IPv4Network) -> AddressRange:
    _, upper = subnet.subnets()
    return AddressRange(subnet=str(subnet), gateway=str(subnet[1]), dynamic=str(upper))
