"""What `runtimes/base.py` promises of networks that a container joins and leaves, for every runtime.

A subclass provides the fixture `runtime`, as for `runtime_contract`.
"""

import ipaddress
import random
import uuid
from collections.abc import Iterator

import pytest

from tests.support.runtime_contract import Bench
from tierce.model.container import AddressRange, NetworkAttachment, RuntimeState
from tierce.model.errors import RuntimeConflict, RuntimeFailure, RuntimeNotFound
from tierce.runtimes.base import Runtime

STATES = ["created", "running", "paused", "stopped"]


def container(bench: Bench, state: str, *networks: str) -> str:
    """A container in these networks; returns its name."""
    name = bench.create(networks=tuple(NetworkAttachment(network) for network in networks))
    if state != "created":
        bench.containers.start(name)
    if state == "paused":
        bench.containers.pause(name)
    if state == "stopped":
        bench.containers.stop(name, 0)
    return name


def joined(bench: Bench, name: str) -> set[str]:
    return {endpoint.network for endpoint in bench.report(name).endpoints}


def addresses(bench: Bench, name: str) -> dict[str, str | None]:
    return {endpoint.network: endpoint.ipv4 for endpoint in bench.report(name).endpoints}


def some_range() -> AddressRange:
    """A /24 that hardly anybody else has."""
    subnet = ipaddress.IPv4Network((f"10.{random.randrange(100, 200)}.{random.randrange(256)}.0", 24))
    return AddressRange(str(subnet), str(subnet[1]), f"{subnet[128]}/25")


def network_with(bench: Bench, given: AddressRange) -> str:
    name = f"tierce-{uuid.uuid4()}"
    bench.runtime.networks.ensure(name, bench.labels, given)
    return name


class NetworkContract:
    @pytest.fixture
    def bench(self, runtime: Runtime) -> Iterator[Bench]:
        bench = Bench(runtime, {"tierce.test": uuid.uuid4().hex})
        yield bench
        bench.clear()

    @pytest.mark.parametrize("state", STATES)
    def test_a_container_joins_a_network_and_leaves_another_in_any_state(
        self, bench: Bench, state: str
    ) -> None:
        first, second = bench.network(), bench.network()
        name = container(bench, state, first)
        for _ in range(2):
            bench.containers.join(name, NetworkAttachment(second))
        assert joined(bench, name) == {first, second}
        for _ in range(2):
            bench.containers.leave(name, first)
        assert joined(bench, name) == {second}

        if state == "paused":
            bench.containers.unpause(name)
        bench.runtime.networks.remove(first)
        bench.containers.restart(name, 0)
        assert [*addresses(bench, name)] == [second]
        assert addresses(bench, name)[second]

    @pytest.mark.parametrize("state", STATES)
    def test_who_left_the_last_network_stays_without_until_it_joins_again(
        self, bench: Bench, state: str
    ) -> None:
        network = bench.network()
        name = container(bench, state, network)
        for _ in range(2):
            bench.containers.leave(name, network)
        if state == "paused":
            bench.containers.unpause(name)
        bench.runtime.networks.remove(network)
        bench.containers.restart(name, 0)
        assert joined(bench, name) == set()

        other = bench.network()
        bench.containers.join(name, NetworkAttachment(other))
        assert addresses(bench, name)[other]

    def test_who_never_was_in_a_network_may_join_one(self, bench: Bench) -> None:
        name, network = container(bench, "running"), bench.network()
        bench.containers.join(name, NetworkAttachment(network))
        assert addresses(bench, name)[network]

    def test_a_network_that_is_gone_can_be_left(self, bench: Bench) -> None:
        first, second = bench.network(), bench.network()
        name = container(bench, "stopped", first, second)
        bench.runtime.networks.remove(first)
        bench.containers.leave(name, first)
        bench.containers.start(name)
        assert joined(bench, name) == {second}

    def test_what_is_not_there_is_not_found(self, bench: Bench) -> None:
        name, network = container(bench, "running"), bench.network()
        with pytest.raises(RuntimeNotFound):
            bench.containers.join(name, NetworkAttachment("tierce-absent"))
        with pytest.raises(RuntimeNotFound):
            bench.containers.join("zun-absent", NetworkAttachment(network))
        with pytest.raises(RuntimeNotFound):
            bench.containers.leave("zun-absent", network)

    # --- addresses ------------------------------------------------------------------------------

    def test_an_address_that_was_asked_for_is_had_at_every_start(self, bench: Bench) -> None:
        given, other = some_range(), some_range()
        first, second = network_with(bench, given), network_with(bench, other)
        wanted = {
            first: str(ipaddress.IPv4Network(given.subnet)[5]),
            second: str(ipaddress.IPv4Network(other.subnet)[6]),
        }
        name = bench.start(networks=(NetworkAttachment(first, ipv4=wanted[first]),))
        bench.containers.join(name, NetworkAttachment(second, ipv4=wanted[second]))
        assert addresses(bench, name) == wanted
        bench.containers.restart(name, 0)
        assert addresses(bench, name) == wanted

    def test_the_engine_gives_addresses_of_its_own_part(self, bench: Bench) -> None:
        given = some_range()
        network = network_with(bench, given)
        address = addresses(bench, container(bench, "running", network))[network]
        assert address
        assert ipaddress.IPv4Address(address) in ipaddress.IPv4Network(given.dynamic)

    def test_addresses_of_two_networks_do_not_meet(self, bench: Bench) -> None:
        given = some_range()
        network_with(bench, given)
        with pytest.raises(RuntimeConflict):
            network_with(bench, given)

    def test_an_address_is_had_by_one_container(self, bench: Bench) -> None:
        given = some_range()
        network = network_with(bench, given)
        wanted = NetworkAttachment(network, ipv4=str(ipaddress.IPv4Network(given.subnet)[5]))
        bench.start(networks=(wanted,))
        name = container(bench, "running")
        with pytest.raises(RuntimeConflict):
            bench.containers.join(name, wanted)
        assert joined(bench, name) == set()
        bench.containers.restart(name, 0)
        second = bench.create(networks=(wanted,))
        with pytest.raises(RuntimeConflict):
            bench.containers.start(second)
        assert bench.state(second) == RuntimeState.CREATED

    def test_an_address_of_elsewhere_is_refused(self, bench: Bench) -> None:
        network = network_with(bench, some_range())
        name = container(bench, "running")
        with pytest.raises(RuntimeFailure):
            bench.containers.join(name, NetworkAttachment(network, ipv4="192.0.2.5"))
        assert joined(bench, name) == set()
        bench.containers.join(name, NetworkAttachment(network))
        assert addresses(bench, name)[network]
