"""Which addresses networks get."""

import sys
from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce import config
from tierce.model.container import AddressRange
from tierce.model.errors import InvalidValue
from tierce.networks.addresses import AddressPool, parse_routes

SIXTEEN = IPv4Network("10.213.0.0/16")


def subnets(pool: AddressPool, name: str) -> list[IPv4Network]:
    """The ranges that are tried before the engine's own choice."""
    *ranges, engines_own = pool.candidates(name)
    assert engines_own is None
    return [IPv4Network(each.subnet) for each in ranges if each]


@given(st.text(), st.integers(20, 24))
def test_every_range_of_the_pool_is_tried_once(name: str, prefix: int) -> None:
    whole = IPv4Network(("10.0.0.0", prefix))
    tried = subnets(AddressPool(whole, list), name)
    assert sorted(tried) == list(whole.subnets(new_prefix=24))


def test_different_networks_begin_at_different_places() -> None:
    pool = AddressPool(SIXTEEN, list)
    assert len({subnets(pool, f"net-{number}")[0] for number in range(20)}) > 10


def test_the_engine_gives_the_upper_half() -> None:
    first = next(AddressPool(IPv4Network("10.213.7.0/24"), list).candidates("web"))
    assert first == AddressRange("10.213.7.0/24", "10.213.7.1", "10.213.7.128/25")


@pytest.mark.parametrize("route", ["10.213.0.0/17", "10.213.5.7/32", "10.0.0.0/8"])
def test_what_the_machine_reaches_elsewhere_is_passed_over(route: str) -> None:
    elsewhere = IPv4Network(route)
    tried = subnets(AddressPool(SIXTEEN, lambda: [elsewhere]), "web")
    assert not any(subnet.overlaps(elsewhere) for subnet in tried)
    assert len(tried) == {17: 128, 32: 255, 8: 0}[elsewhere.prefixlen]


def pool_of(text: str) -> AddressPool:
    return AddressPool.from_conf(config.load(overrides=[("network", "address_pool", text)]))


@pytest.mark.parametrize("text", ["much", "10.213.0.1/16", "10.213.0.0/25", "fd00::/16"])
def test_a_pool_that_makes_no_sense_is_refused_naming_the_option(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"\[network\] address_pool"):
        pool_of(text)


def test_without_a_pool_the_engine_chooses() -> None:
    assert list(pool_of("").candidates("web")) == [None]


def test_the_pool_of_the_configuration_is_used() -> None:
    pool_of("172.28.0.0/16").require_fixed("172.28.3.4")


def row(destination: str, prefix: int) -> str:
    def number(network: IPv4Network, mask: bool) -> str:
        address = network.netmask if mask else network.network_address
        return f"{int.from_bytes(address.packed, sys.byteorder):08X}"

    network = IPv4Network((destination, prefix))
    return f"eth0\t{number(network, False)}\t00000000\t0001\t0\t0\t0\t{number(network, True)}\t0\t0\t0"


def test_routes_are_read_and_the_default_one_does_not_count() -> None:
    head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
    table = "\n".join([head, row("0.0.0.0", 0), row("172.16.5.0", 24), row("10.1.2.3", 32)]) + "\n"
    assert parse_routes(table) == [IPv4Network("172.16.5.0/24"), IPv4Network("10.1.2.3/32")]
