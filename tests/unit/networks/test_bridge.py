"""Docker's bridge networks as the networks of projects."""

import re
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.model.container import AddressRange, Endpoint
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
from tierce.networks.base import RequestedNetwork
from tierce.networks.bridge import BridgeNetworks, BridgeResolver

DEADLINE = 10.0
LABELS = {"tierce.node": "node1"}
NODE = "2f1c0f7e-54b7-4f7e-9b8e-7d8d1f5e0c22"
ALPHA = RequestContext(project_id="alpha")
BETA = RequestContext(project_id="beta")
POOL = AddressPool(IPv4Network("10.213.0.0/16"), list)


class Engine:
    """An engine's networks; those in `in_use` refuse to go, and ranges in `taken` to be given again."""

    def __init__(self) -> None:
        self.networks: dict[str, Mapping[str, str]] = {}
        self.ranges: dict[str, AddressRange | None] = {}
        self.in_use: set[str] = set()
        self.taken: set[str] = set()

    def ensure(self, name: str, labels: Mapping[str, str], addresses: AddressRange | None = None) -> str:
        if name not in self.networks:
            if addresses and addresses.subnet in self.taken:
                raise RuntimeConflict("Pool overlaps with other one on this address space")
            self.ranges[name] = addresses
            self.networks[name] = dict(labels)
        return f"id of {name}"

    def remove(self, name: str) -> None:
        if name in self.in_use:
            raise RuntimeConflict("It has active endpoints.")
        self.networks.pop(name, None)

    def list(self, labels: Mapping[str, str]) -> list[str]:
        return [name for name, own in self.networks.items() if labels.items() <= own.items()]


def resolve(context: RequestContext, *names: str) -> list[RequestedNetwork]:
    return BridgeResolver(NODE, POOL).resolve(context, [{"network": name} for name in names])


def ids(requested: list[RequestedNetwork]) -> list[str]:
    return [item.network for item in requested]


# --- the API half ---------------------------------------------------------------------------------


def test_a_name_means_a_network_of_the_project_that_asks() -> None:
    [alpha], [beta] = resolve(ALPHA, "web"), resolve(BETA, "web")
    assert re.fullmatch(r"tierce-[0-9a-f]{12}-web", alpha.network)
    assert alpha.network != beta.network
    assert resolve(ALPHA, "web") == [alpha]


def test_no_nets_means_the_default_network_of_the_project() -> None:
    assert resolve(ALPHA) == resolve(ALPHA, "default")
    assert resolve(ALPHA) != resolve(BETA)


def test_the_order_of_the_request_is_kept() -> None:
    assert [network.rsplit("-", 1)[1] for network in ids(resolve(ALPHA, "b", "a"))] == ["b", "a"]


def test_an_id_that_was_shown_is_taken_back_as_a_name() -> None:
    shown = ids(resolve(ALPHA, "web"))
    assert ids(resolve(ALPHA, *shown)) == shown


def test_the_id_of_another_project_is_not_found() -> None:
    with pytest.raises(NetworkNotFound):
        resolve(BETA, *ids(resolve(ALPHA, "web")))


def test_an_id_cannot_hide_behind_the_own_prefix() -> None:
    own, foreign = ids(resolve(BETA, "x"))[0].removesuffix("x"), ids(resolve(ALPHA, "web"))[0]
    with pytest.raises(NetworkNotFound):
        resolve(BETA, own + foreign)


@pytest.mark.parametrize("nets", [("web", "web"), ("web", "db", "web"), ("default", "default")])
def test_the_same_network_twice_is_refused(nets: tuple[str, ...]) -> None:
    with pytest.raises(Invalid):
        resolve(ALPHA, *nets)


def test_the_same_network_by_name_and_by_id_is_refused() -> None:
    with pytest.raises(Invalid):
        resolve(ALPHA, "web", *ids(resolve(ALPHA, "web")))


def test_a_port_is_not_found() -> None:
    with pytest.raises(PortNotFound):
        BridgeResolver(NODE, POOL).resolve(ALPHA, [{"network": "web"}, {"port": "some-port"}])


def with_address(address: str) -> list[RequestedNetwork]:
    return BridgeResolver(NODE, POOL).resolve(ALPHA, [{"network": "web", "v4-fixed-ip": address}])


@pytest.mark.parametrize("address", ["10.213.7.2", "10.213.0.127", "10.213.255.99"])
def test_an_address_of_the_pool_can_be_asked_for(address: str) -> None:
    assert [item.ipv4 for item in with_address(address)] == [address]


@pytest.mark.parametrize(
    "address", ["10.213.7.0", "10.213.7.1", "10.213.7.128", "10.213.7.255", "10.214.0.5", "8.8.8.8"]
)
def test_an_address_that_is_not_for_those_who_ask_is_refused_saying_which_are(address: str) -> None:
    with pytest.raises(InvalidValue, match=rf"{address}.*10\.213\.0\.0/16.* 2 to 127"):
        with_address(address)


def test_an_ipv6_address_is_refused() -> None:
    with pytest.raises(InvalidValue, match="v6-fixed-ip"):
        BridgeResolver(NODE, POOL).resolve(ALPHA, [{"network": "web", "v6-fixed-ip": "fd00::5"}])


def test_without_a_pool_no_address_can_be_asked_for() -> None:
    with pytest.raises(InvalidValue, match="address_pool"):
        BridgeResolver(NODE, AddressPool(None, list)).resolve(
            ALPHA, [{"network": "web", "v4-fixed-ip": "10.213.7.5"}]
        )


def test_a_port_is_what_the_engine_calls_an_endpoint() -> None:
    endpoint = "0f" * 32
    assert BridgeResolver(NODE, POOL).find_port(ALPHA, endpoint) == endpoint
    with pytest.raises(PortNotFound):
        BridgeResolver(NODE, POOL).find_port(ALPHA, "some-port")


def test_there_are_no_security_groups() -> None:
    assert BridgeResolver(NODE, POOL).security_groups(ALPHA, []) == []
    with pytest.raises(InvalidValue, match="Security group web not found"):
        BridgeResolver(NODE, POOL).security_groups(ALPHA, ["web", "db"])
    with pytest.raises(Invalid):
        BridgeNetworks(Engine(), LABELS, NODE, POOL).secure("c1", [], ["web"])


def test_keys_that_are_empty_count_as_absent() -> None:
    item = {"network": "web", "port": None, "v4-fixed-ip": "", "v6-fixed-ip": None}
    assert BridgeResolver(NODE, POOL).resolve(ALPHA, [item]) == resolve(ALPHA, "web")


@pytest.mark.parametrize("name", ["", "-web", ".", "a b", "a/b", "web\n", "é", "a\x00", "n" * 65])
def test_a_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(Invalid):
        resolve(ALPHA, name)


def test_a_request_without_a_project_has_no_networks() -> None:
    with pytest.raises(Invalid):
        resolve(RequestContext(), "web")


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,12}", fullmatch=True)


@given(st.tuples(st.text(max_size=5), names), st.tuples(st.text(max_size=5), names))
def test_different_projects_or_names_never_meet(one: tuple[str, str], other: tuple[str, str]) -> None:
    [first], [second] = (resolve(RequestContext(project_id=project), name) for project, name in (one, other))
    assert (first == second) == (one == other)


# --- the node half --------------------------------------------------------------------------------


def test_networks_are_made_with_the_owners_labels_and_joined_in_the_order_asked_for() -> None:
    engine = Engine()
    requested = resolve(ALPHA, "web", "db", "main")
    attachments = BridgeNetworks(engine, LABELS, NODE, POOL).ensure("c1", "alpha", "front", requested)
    web, db, main = ids(requested)
    assert engine.networks == {web: LABELS, db: LABELS, main: LABELS}
    assert [attachment.network for attachment in attachments] == [web, db, main]


def test_ensuring_again_changes_nothing() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    first = networks.ensure("c1", "alpha", "front", resolve(ALPHA))
    assert networks.ensure("c1", "alpha", "front", resolve(ALPHA)) == first
    assert len(engine.networks) == 1


@pytest.mark.parametrize(
    ("name", "aliases"),
    [
        ("front", ("front",)),
        ("Web-1", ("Web-1",)),
        ("a_b", ()),
        ("a.b", ()),
        ("a-", ()),
        ("a" * 64, ()),
        ("", ()),
    ],
)
def test_a_container_answers_to_its_name_where_that_is_a_dns_label(
    name: str, aliases: tuple[str, ...]
) -> None:
    [attachment] = BridgeNetworks(Engine(), LABELS, NODE, POOL).ensure("c1", "alpha", name, resolve(ALPHA))
    assert tuple(attachment.aliases) == aliases


def test_a_network_has_the_same_addresses_each_time_it_is_made() -> None:
    made = []
    for _ in range(2):
        engine = Engine()
        BridgeNetworks(engine, LABELS, NODE, POOL).ensure("c1", "alpha", "front", resolve(ALPHA))
        made += engine.ranges.values()
    assert made[0] == made[1]
    assert isinstance(made[0], AddressRange)


def test_networks_whose_addresses_would_meet_get_others() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.ensure("c1", "alpha", "front", resolve(ALPHA))
    [(name, first)] = engine.ranges.items()
    assert first is not None
    networks.remove(name, still_used=last)
    engine.taken.add(first.subnet)
    networks.ensure("c1", "alpha", "front", resolve(ALPHA))
    second = engine.ranges[name]
    assert second is not None
    assert second.subnet != first.subnet


def test_when_the_pool_is_used_up_the_engine_chooses() -> None:
    engine = Engine()
    small = AddressPool(IPv4Network("10.213.0.0/24"), list)
    engine.taken.add("10.213.0.0/24")
    BridgeNetworks(engine, LABELS, NODE, small).ensure("c1", "alpha", "front", resolve(ALPHA))
    assert list(engine.ranges.values()) == [None]


def test_a_new_network_has_the_addresses_around_the_one_asked_for() -> None:
    engine = Engine()
    requested = with_address("10.213.7.5")
    attached = BridgeNetworks(engine, LABELS, NODE, POOL).ensure("c1", "alpha", "front", requested)
    assert [attachment.ipv4 for attachment in attached] == ["10.213.7.5"]
    assert list(engine.ranges.values()) == [AddressRange("10.213.7.0/24", "10.213.7.1", "10.213.7.128/25")]


def test_addresses_that_the_machine_uses_otherwise_are_not_given_to_a_network() -> None:
    pool = AddressPool(IPv4Network("10.213.0.0/16"), lambda: [IPv4Network("10.213.0.0/20")])
    networks = BridgeNetworks(Engine(), LABELS, NODE, pool)
    with pytest.raises(Conflict, match="in use on the node"):
        networks.ensure("c1", "alpha", "front", with_address("10.213.7.5"))


def test_addresses_that_another_network_has_are_not_given_to_a_second_one() -> None:
    engine = Engine()
    engine.taken.add("10.213.7.0/24")
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    with pytest.raises(Conflict, match="another network's"):
        networks.ensure("c1", "alpha", "front", with_address("10.213.7.5"))
    assert engine.networks == {}


def test_a_network_that_is_there_already_is_joined_at_the_address_asked_for() -> None:
    """The machine routes its addresses then, which must not count."""
    engine = Engine()
    routes: list[IPv4Network] = []
    networks = BridgeNetworks(engine, LABELS, NODE, AddressPool(IPv4Network("10.213.0.0/16"), lambda: routes))
    networks.ensure("c1", "alpha", "front", with_address("10.213.7.5"))
    routes.append(IPv4Network("10.213.7.0/24"))
    attached = networks.ensure("c2", "alpha", "back", with_address("10.213.7.6"))
    assert [attachment.ipv4 for attachment in attached] == ["10.213.7.6"]


def test_a_network_that_containers_need_is_not_removed() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    [web] = ids(resolve(ALPHA, "web"))
    assert networks.make("alpha", web) == f"id of {web}"
    with pytest.raises(Conflict):
        networks.remove(web, still_used=lambda: [web])
    assert list(engine.networks) == [web]
    for _ in range(2):
        networks.remove(web, still_used=last)
    assert engine.networks == {}


def test_another_project_s_network_is_not_made() -> None:
    engine = Engine()
    with pytest.raises(NetworkNotFound):
        BridgeNetworks(engine, LABELS, NODE, POOL).make("beta", *ids(resolve(ALPHA, "web")))
    assert engine.networks == {}


def test_a_network_of_another_project_is_not_joined() -> None:
    engine = Engine()
    with pytest.raises(NetworkNotFound):
        BridgeNetworks(engine, LABELS, NODE, POOL).ensure("c1", "beta", "front", resolve(ALPHA, "web"))
    assert engine.networks == {}


def test_addresses_come_from_the_runtimes_report() -> None:
    requested = resolve(ALPHA, "web", "db")
    web, db = ids(requested)
    endpoints = [
        Endpoint(db, endpoint_id="e2", network_id="n2", ipv4="172.19.0.2"),
        Endpoint(web, endpoint_id="e1", network_id="n1", ipv4="172.18.0.2", ipv6="fd00::2"),
        Endpoint("bridge", endpoint_id="e3", network_id="n3", ipv4="172.17.0.2"),
    ]
    assert BridgeNetworks(Engine(), LABELS, NODE, POOL).addresses([web, db], endpoints) == {
        web: [
            {
                "addr": "172.18.0.2",
                "version": 4,
                "port": "e1",
                "subnet_id": "n1",
                "preserve_on_delete": False,
            },
            {"addr": "fd00::2", "version": 6, "port": "e1", "subnet_id": "n1", "preserve_on_delete": False},
        ],
        db: [
            {"addr": "172.19.0.2", "version": 4, "port": "e2", "subnet_id": "n2", "preserve_on_delete": False}
        ],
    }


def test_a_network_without_an_address_keeps_its_place_with_an_empty_list() -> None:
    """A stopped container is still in its networks, whether the runtime lists them or not."""
    web, db = ids(resolve(ALPHA, "web", "db"))
    assert BridgeNetworks(Engine(), LABELS, NODE, POOL).addresses([web, db], [Endpoint(web)]) == {
        web: [],
        db: [],
    }


def test_a_container_that_is_in_no_network_has_no_addresses() -> None:
    endpoint = Endpoint("bridge", ipv4="172.17.0.2")
    assert BridgeNetworks(Engine(), LABELS, NODE, POOL).addresses([], [endpoint]) == {}


def last() -> list[str]:
    """No other container of the project is on the node."""
    return []


def test_the_last_container_takes_every_network_of_its_project_and_of_no_other() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.ensure("c1", "alpha", "front", resolve(ALPHA, "web", "db"))
    networks.ensure("c2", "beta", "front", resolve(BETA, "web"))
    networks.release("c1", "alpha", ids(resolve(ALPHA, "web")), still_used=last)
    assert list(engine.networks) == ids(resolve(BETA, "web"))


def test_a_container_that_is_not_the_last_takes_what_no_other_needs() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    both = resolve(ALPHA, "web", "db")
    networks.ensure("c1", "alpha", "front", both)
    networks.release("c1", "alpha", ids(both), still_used=lambda: ids(resolve(ALPHA, "db")))
    assert list(engine.networks) == ids(resolve(ALPHA, "db"))


def test_a_release_after_a_restart_takes_what_an_earlier_run_made() -> None:
    engine = Engine()
    BridgeNetworks(engine, LABELS, NODE, POOL).ensure("c1", "alpha", "front", resolve(ALPHA))
    BridgeNetworks(engine, LABELS, NODE, POOL).release("c1", "alpha", [], still_used=last)
    assert engine.networks == {}


def test_a_network_still_in_use_stays_and_the_others_go() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.ensure("c1", "alpha", "front", resolve(ALPHA, "web", "db"))
    engine.in_use = {*ids(resolve(ALPHA, "web"))}
    networks.release("c1", "alpha", ids(resolve(ALPHA, "web", "db")), still_used=last)
    assert list(engine.networks) == ids(resolve(ALPHA, "web"))


def test_releasing_twice_is_releasing_once() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.ensure("c1", "alpha", "front", resolve(ALPHA))
    for _ in range(2):
        networks.release("c1", "alpha", ids(resolve(ALPHA)), still_used=last)
    assert engine.networks == {}


@pytest.mark.parametrize("foreign", ["tierce-0123456789ab-web", "bridge"])
def test_networks_that_do_not_carry_the_owners_labels_stay(foreign: str) -> None:
    engine = Engine()
    [network] = ids(resolve(ALPHA, "web"))
    engine.ensure(network, {"tierce.node": "node2"})
    engine.ensure(foreign, {})
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.release("c1", "alpha", [network], still_used=last)
    networks.sweep([])
    assert list(engine.networks) == [network, foreign]


def test_networks_are_not_made_between_the_question_and_the_removal() -> None:
    """A container that is accepted in between finds its network made again, not taken away."""
    removing, made = threading.Event(), threading.Event()
    made_too_early: list[bool] = []

    class Watched(Engine):
        def ensure(self, name: str, labels: Mapping[str, str], addresses: AddressRange | None = None) -> str:
            made.set()
            return super().ensure(name, labels, addresses)

    def nobody_yet() -> list[str]:
        removing.set()
        made_too_early.append(made.wait(0.2))
        return []

    engine = Watched()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.ensure("c1", "alpha", "old", resolve(ALPHA))
    made.clear()
    with ThreadPoolExecutor(2) as threads:
        release = threads.submit(networks.release, "c1", "alpha", [], still_used=nobody_yet)
        assert removing.wait(DEADLINE)
        ensure = threads.submit(networks.ensure, "c2", "alpha", "new", resolve(ALPHA))
        release.result(DEADLINE)
        ensure.result(DEADLINE)
    assert made_too_early == [False]
    assert list(engine.networks) == ids(resolve(ALPHA))


def test_projects_do_not_wait_for_each_other() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)

    def meanwhile() -> list[str]:
        other = threading.Thread(
            target=networks.ensure, args=("c2", "beta", "front", resolve(BETA)), daemon=True
        )
        other.start()
        other.join(DEADLINE)
        assert not other.is_alive()
        return []

    networks.release("c1", "alpha", [], still_used=meanwhile)
    assert list(engine.networks) == ids(resolve(BETA))


def test_a_sweep_takes_the_networks_of_projects_that_are_gone() -> None:
    engine = Engine()
    before = BridgeNetworks(engine, LABELS, NODE, POOL)
    before.ensure("c1", "alpha", "front", resolve(ALPHA, "web", "db"))
    before.ensure("c2", "beta", "front", resolve(BETA))
    BridgeNetworks(engine, LABELS, NODE, POOL).sweep(["beta"])
    assert list(engine.networks) == ids(resolve(BETA))


def test_a_sweep_takes_what_was_in_use_when_it_was_released() -> None:
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.ensure("c1", "alpha", "front", resolve(ALPHA))
    engine.in_use = {*ids(resolve(ALPHA))}
    networks.release("c1", "alpha", [], still_used=last)
    networks.sweep([])
    assert list(engine.networks) == ids(resolve(ALPHA))
    engine.in_use = set()
    networks.sweep([])
    assert engine.networks == {}


def test_a_sweep_spares_a_project_that_came_after_the_count() -> None:
    """Its container is not in the engine yet, so that the engine would let the network go."""
    engine = Engine()
    networks = BridgeNetworks(engine, LABELS, NODE, POOL)
    networks.ensure("c1", "alpha", "front", resolve(ALPHA))
    networks.sweep([])
    assert list(engine.networks) == ids(resolve(ALPHA))


def test_two_services_on_one_engine_never_share_a_network() -> None:
    [here] = BridgeResolver(NODE, POOL).resolve(ALPHA, [])
    [there] = BridgeResolver("5d0c1f8e-0000-4f7e-9b8e-7d8d1f5e0c22", POOL).resolve(ALPHA, [])
    assert here.network != there.network
