"""Networks and security groups of containers as their users see them; networks that are kept on nodes."""

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from oslo_config import cfg
from sqlalchemy import select

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tests.support.waiting import until
from tierce.db.tables import Network
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, InvalidValue, RuntimeFailure
from tierce.networks.base import NetworkResolver, RequestedNetwork

INVALID = (400, "container.invalid")


def networks(client: Client, uuid: str, version: str = "1.40") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call(f"GET /containers/{uuid}/network_list", version=version)[
        "networks"
    ]
    return found


# --- listing ----------------------------------------------------------------------------------------


def test_the_list_has_an_item_a_port_since_1_18_and_an_item_an_address_before(client: Client) -> None:
    uuid = client.running(nets=[{"network": "web", "v4-fixed-ip": "10.213.7.5"}])
    [(network, [entry])] = (client.show(uuid) or {})["addresses"].items()
    ip = {"subnet_id": entry["subnet_id"], "version": 4, "ip_address": "10.213.7.5"}
    assert networks(client, uuid) == networks(client, uuid, "1.18")
    assert networks(client, uuid) == [{"net_id": network, "port_id": entry["port"], "fixed_ips": [ip]}]
    for version in ("1.13", "1.17"):
        assert networks(client, uuid, version) == [{"net_id": network, "port_id": entry["port"], **ip}]


def test_a_container_that_does_not_run_is_listed_in_its_networks_without_addresses(client: Client) -> None:
    uuid = client.created()
    [item] = networks(client, uuid)
    assert (item["port_id"], item["fixed_ips"]) == (None, [])
    assert networks(client, uuid, "1.17") == []


def test_a_container_in_no_network_has_an_empty_list(client: Client) -> None:
    uuid = client.running()
    client.call(f"POST /containers/{uuid}/network_detach?network=default")
    client.wait(uuid, "Running")
    assert networks(client, uuid) == []


@pytest.mark.parametrize(
    ("line", "last_without", "first_with"),
    [
        ("GET network_list", "1.12", "1.13"),
        ("POST network_attach", "1.7", "1.8"),
        ("POST network_detach?network=default", "1.5", "1.6"),
        ("POST add_security_group?name=web", "1.15", "1.14"),
        ("POST remove_security_group?name=web", "1.40", "1.1"),
    ],
)
def test_an_action_exists_in_its_microversions_alone(
    client: Client, line: str, last_without: str, first_with: str
) -> None:
    uuid = client.running()
    method, _, action = line.partition(" ")
    request = f"{method} /containers/{uuid}/{action}"
    assert client.request(request, version=last_without).status_code == 406
    assert client.request(request, version=first_with).status_code != 406


# --- joining and leaving ----------------------------------------------------------------------------


def test_what_is_already_joined_is_refused_naming_both(client: Client) -> None:
    uuid = client.running()
    network = networks(client, uuid)[0]["net_id"]
    for query, name in (("?network=default", "default"), ("", network), (f"?network={network}", network)):
        assert client.error(f"POST /containers/{uuid}/network_attach{query}") == (
            *INVALID,
            f"Network '{name}' is already connected to container '{uuid}'.",
        )
    assert client.actions(uuid) == [("create", None)]


def test_the_parameters_may_be_in_the_body(client: Client) -> None:
    uuid = client.running()
    assert client.call(f"POST /containers/{uuid}/network_attach", {"network": "web"}) is None
    client.wait(uuid, "Running")
    assert client.call(f"POST /containers/{uuid}/network_detach", {"network": "web"}) is None
    client.wait(uuid, "Running")
    assert [action for action, _ in client.actions(uuid)] == ["create", "network_attach", "network_detach"]


def test_an_attach_is_answered_with_200_and_a_detach_with_202(client: Client) -> None:
    uuid = client.running()
    attached = client.request(f"POST /containers/{uuid}/network_attach?network=web")
    assert (attached.status_code, attached.text) == (200, "null")
    client.wait(uuid, "Running")
    detached = client.request(f"POST /containers/{uuid}/network_detach?network=web")
    assert (detached.status_code, detached.text) == (202, "null")


def test_a_port_that_the_list_shows_names_the_network_to_leave(client: Client) -> None:
    uuid, other = client.running(), client.running()
    [own], [foreign] = networks(client, uuid), networks(client, other)
    line = f"POST /containers/{uuid}/network_detach?port="
    assert client.error(line + foreign["port_id"])[:2] == INVALID
    client.call(line + own["port_id"])
    client.wait(uuid, "Running")
    assert networks(client, uuid) == []


def test_leaving_what_it_is_not_in_is_refused(client: Client) -> None:
    uuid, port = client.running(), "0f" * 32
    assert client.error(f"POST /containers/{uuid}/network_detach?network=web") == (
        *INVALID,
        f"Network 'web' is not attached to container '{uuid}'.",
    )
    assert client.error(f"POST /containers/{uuid}/network_detach?port={port}") == (
        *INVALID,
        f"Port '{port}' is not attached to container '{uuid}'.",
    )
    assert client.error(f"POST /containers/{uuid}/network_detach?port=eth0")[:2] == (
        404,
        "container.port-not-found",
    )


def test_a_network_of_another_project_is_not_found(cloud: Cloud, client: Client) -> None:
    foreign = networks(client, client.running())[0]["net_id"]
    alice = cloud.user("alice", project="p1")
    uuid = alice.running()
    for action in ("attach", "detach"):
        assert alice.error(f"POST /containers/{uuid}/network_{action}?network={foreign}")[:2] == (
            404,
            "container.network-not-found",
        )
    assert alice.error(f"POST /containers/{uuid}/network_attach?port=eth0")[:2] == (
        404,
        "container.port-not-found",
    )


def test_an_administrator_attaches_a_container_to_networks_of_its_own_project(cloud: Cloud) -> None:
    alice = cloud.user("alice", project="p1")
    uuid, other = alice.running(), alice.running(nets=[{"network": "web"}])
    cloud.client.call(f"POST /containers/{uuid}/network_attach?network=web")
    alice.wait(uuid, "Running")
    web = networks(alice, other)[0]["net_id"]
    assert web in [item["net_id"] for item in networks(alice, uuid)]


def test_a_container_is_in_eight_networks_at_most(client: Client) -> None:
    uuid = client.running(nets=[{"network": f"net{number}"} for number in range(8)])
    assert client.error(f"POST /containers/{uuid}/network_attach")[:2] == INVALID


@pytest.mark.parametrize("action", ["attach", "detach"])
def test_a_state_that_does_not_allow_it_is_a_conflict(cloud: Cloud, client: Client, action: str) -> None:
    failed = client.create(run=True, command=["/nosuch/program"])
    client.wait(failed, "Error")
    status, code, text = client.error(f"POST /containers/{failed}/network_{action}?network=default")
    assert (status, code) == (409, "container.invalid-state-exception")
    assert f"Cannot network_{action} container {failed} in Error state" in text


def test_two_at_once_are_decided_one_after_the_other(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("join")
    client.call(f"POST /containers/{uuid}/network_attach?network=web")
    for line in ("network_attach?network=web", "network_attach?network=db", "network_detach?network=default"):
        status, _, text = client.error(f"POST /containers/{uuid}/{line}")
        assert status == 409
        assert "network_attaching is in progress" in text
    release.set()
    client.wait(uuid, "Running")
    assert len(networks(client, uuid)) == 2


def test_on_a_node_that_is_down_nothing_is_accepted_and_the_list_is_there(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running()
    cloud.lose_node("node1")
    for line in ("network_attach?network=web", "network_detach?network=default"):
        assert client.error(f"POST /containers/{uuid}/{line}")[:2] == (
            409,
            "container.container-host-not-up",
        )
    assert len(networks(client, uuid)) == 1
    assert client.actions(uuid) == [("create", None)]


@pytest.mark.parametrize(
    "nets",
    [
        [{"network": "web", "v4-fixed-ip": "192.168.0.5"}],
        [{"network": "web", "v6-fixed-ip": "fd00::5"}],
        [{"network": "a/b"}],
        [{"network": "web"}, {"port": "eth0"}],
    ],
)
def test_a_create_with_a_network_that_cannot_be_leaves_nothing(
    cloud: Cloud, client: Client, nets: list[dict[str, str]]
) -> None:
    assert client.error("POST /containers", {"image": IMAGE, "nets": nets})[0] in (400, 404)
    assert cloud.rows() == []
    assert not cloud.claims()


# --- security groups and outside networks -----------------------------------------------------------


def test_without_security_groups_none_is_found(cloud: Cloud, client: Client) -> None:
    expected = (400, "container.invalid-value", "Security group web not found.")
    assert client.error("POST /containers", {"image": IMAGE, "security_groups": ["web"]}) == expected
    assert cloud.rows() == []
    uuid = client.running()
    for action in ("add", "remove"):
        line = f"POST /containers/{uuid}/{action}_security_group"
        assert client.error(f"{line}?name=web", version="1.14") == expected
        assert client.error(line, version="1.14")[:2] == (400, "container.schema-validation-error")


class Neutron:
    """The API half of a plug with security groups and outside networks."""

    GROUPS: Mapping[str, str] = {"web": "sg-1", "sg-1": "sg-1", "db": "sg-2"}

    def __init__(self, bridges: NetworkResolver) -> None:
        self._bridges = bridges

    def resolve(self, context: RequestContext, nets: Sequence[Mapping[str, Any]]) -> list[RequestedNetwork]:
        if [item["network"] for item in nets] in (["outside"], ["lent"]):
            shared = nets[0]["network"] == "lent"
            return [RequestedNetwork(network="net-1", external=True, shared=shared)]
        return self._bridges.resolve(context, nets)

    def find_port(self, context: RequestContext, ident: str) -> str:
        return self._bridges.find_port(context, ident)

    def security_groups(self, context: RequestContext, names: Sequence[str]) -> list[str]:
        if "twins" in names:
            raise Conflict("Multiple security group matches found for name twins, use an ID.")
        for name in names:
            if name not in self.GROUPS:
                raise InvalidValue(f"Security group {name} not found.")
        return list(dict.fromkeys(self.GROUPS[name] for name in names))


class NeutronCloud(Cloud):
    def _networks(self, conf: cfg.ConfigOpts) -> NetworkResolver:
        return Neutron(super()._networks(conf))


@pytest.fixture
def neutron(tmp_path: pathlib.Path) -> Iterator[Cloud]:
    cloud = NeutronCloud(tmp_path)
    yield cloud
    cloud.wait_sound()
    cloud.close()


def test_groups_are_kept_as_ids_each_once_in_order(neutron: Cloud) -> None:
    uuid = neutron.client.created(security_groups=["db", "web", "sg-1"])
    assert (neutron.client.show(uuid) or {})["security_groups"] == ["sg-2", "sg-1"]
    assert neutron.client.error("POST /containers", {"image": IMAGE, "security_groups": ["twins"]})[0] == 409


def test_a_group_is_added_once_and_removed_once(neutron: Cloud) -> None:
    client = neutron.client
    uuid = client.created(security_groups=["web"])
    assert client.error(f"POST /containers/{uuid}/add_security_group?name=web", version="1.14") == (
        *INVALID,
        "Security group sg-1 has been added to container.",
    )
    assert client.error(f"POST /containers/{uuid}/remove_security_group?name=db", version="1.14") == (
        *INVALID,
        "Security group sg-2 was not added to container.",
    )
    client.call(f"POST /containers/{uuid}/remove_security_group?name=web", version="1.14")
    until(lambda: (client.show(uuid) or {})["security_groups"] == [])
    assert client.actions(uuid)[-1] == ("remove_security_group", None)


def test_a_node_without_groups_says_so_and_the_container_stays_as_it_is(neutron: Cloud) -> None:
    client = neutron.client
    uuid = client.created()
    client.call(f"POST /containers/{uuid}/add_security_group", {"name": "web"}, version="1.1")
    neutron.wait_idle()
    shown = client.wait(uuid, "Created")
    assert (shown["security_groups"], shown["status_reason"]) == (
        [],
        "Docker's bridge networks have no security groups.",
    )
    assert client.actions(uuid)[-1] == ("add_security_group", "Error")


def test_an_outside_network_is_for_administrators_unless_it_is_shared(neutron: Cloud) -> None:
    alice = neutron.user("alice", project="p1")
    uuid = alice.running()
    refusal = (
        403,
        "container.external-network-attach-forbidden",
        "It is not allowed to create an interface on external network net-1",
    )
    nets = {"image": IMAGE, "nets": [{"network": "outside"}]}
    assert alice.error("POST /containers", nets) == refusal
    assert alice.error(f"POST /containers/{uuid}/network_attach?network=outside") == refusal
    alice.call(f"POST /containers/{uuid}/network_attach?network=lent")
    alice.wait(uuid, "Running")
    neutron.client.call(f"POST /containers/{uuid}/network_attach?network=outside")
    alice.wait(uuid, "Running")


# --- networks that are kept -------------------------------------------------------------------------


def kept(cloud: Cloud) -> list[tuple[str | None, str | None]]:
    """Host and engine's id of every row."""
    rows = cloud.database.read(lambda session: list(session.scalars(select(Network))))
    return [(row.host, row.network_id) for row in rows]


def test_a_network_is_made_and_stays_without_containers(cloud: Cloud, client: Client) -> None:
    made = client.call("POST /networks", {"neutron_net_id": "web"})
    network = cloud.engine.networks[made["neutron_net_id"]]
    assert set(made) == {"uuid", "name", "project_id", "user_id", "network_id", "neutron_net_id"}
    assert (made["network_id"], made["name"], made["project_id"]) == (
        network.id,
        made["neutron_net_id"],
        "admin",
    )
    uuid = client.running(nets=[{"network": "web"}])
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)
    cloud.restart()
    cloud.wait_sound()
    assert made["neutron_net_id"] in cloud.engine.networks

    assert client.call("POST /networks", {"neutron_net_id": "web"}, version="1.1") == made
    assert kept(cloud) == [("node1", network.id)]


def test_made_by_many_at_once_there_is_one(cloud: Cloud, client: Client) -> None:
    with ThreadPoolExecutor(10) as pool:
        made = list(
            pool.map(lambda _: client.call("POST /networks", {"neutron_net_id": "web"})["uuid"], range(10))
        )
    assert len(set(made)) == len(kept(cloud)) == 1


@pytest.mark.parametrize("by", ["id", "name"])
def test_a_kept_network_is_deleted(cloud: Cloud, client: Client, by: str) -> None:
    made = client.call("POST /networks", {"neutron_net_id": "web", "name": "ignored"})
    ident = made["neutron_net_id"] if by == "id" else "web"
    assert client.request(f"DELETE /networks/{ident}", version="1.26").status_code == 406
    answer = client.request(f"DELETE /networks/{ident}", version="1.27")
    assert (answer.status_code, answer.text) == (204, "")
    assert kept(cloud) == []
    assert made["neutron_net_id"] not in cloud.engine.networks
    assert client.error(f"DELETE /networks/{ident}")[:2] == (404, "container.network-not-found")


def test_a_kept_network_that_containers_need_is_not_deleted(cloud: Cloud, client: Client) -> None:
    client.call("POST /networks", {"neutron_net_id": "web"})
    uuid = client.created(nets=[{"network": "web"}])
    status, code, text = client.error("DELETE /networks/web")
    assert (status, code) == (409, "container.conflict")
    assert "detach or delete them first" in text
    client.call(f"POST /containers/{uuid}/network_detach?network=web")
    client.wait(uuid, "Created")
    client.call("DELETE /networks/web")
    assert kept(cloud) == []


def test_a_network_that_the_engine_refuses_leaves_no_row(cloud: Cloud, client: Client) -> None:
    cloud.engine.script("networks.ensure", error=RuntimeFailure("no space left"))
    assert client.error("POST /networks", {"neutron_net_id": "web"})[1] == "container.docker-error"
    assert kept(cloud) == []


def test_a_kept_network_that_was_removed_behind_our_back_is_made_again(cloud: Cloud, client: Client) -> None:
    made = client.call("POST /networks", {"neutron_net_id": "web"})
    with cloud.engine.lock:
        del cloud.engine.networks[made["neutron_net_id"]]
    again = client.call("POST /networks", {"neutron_net_id": "web"})
    assert again["uuid"] == made["uuid"]
    assert again["network_id"] == cloud.engine.networks[made["neutron_net_id"]].id != made["network_id"]


def test_while_no_node_is_up_no_network_is_made(cloud: Cloud, client: Client) -> None:
    cloud.lose_node("node1")
    status, code, text = client.error("POST /networks", {"neutron_net_id": "web"})
    assert (status, code) == (409, "container.conflict")
    assert "No node is up" in text


@pytest.mark.parametrize(
    "body", [{}, {"neutron_net_id": None}, {"name": "web"}, {"neutron_net_id": "w"}, {"neutron_net_id": 5}]
)
def test_a_network_must_be_named(cloud: Cloud, client: Client, body: dict[str, Any]) -> None:
    status, code, text = client.error("POST /networks", body)
    assert (status, code) == (400, "container.schema-validation-error")
    assert "neutron_net_id" in text
    assert kept(cloud) == []


def test_a_network_is_deleted_from_every_node_and_what_could_not_be_done_is_told(
    tmp_path: pathlib.Path,
) -> None:
    cloud = Cloud(tmp_path, hosts=("node1", "node2", "node3"))
    try:
        hosts = list(cloud.nodes)
        rows = [Network(neutron_net_id="net-1", host=host, uuid=host, project_id="admin") for host in hosts]
        cloud.database.write(lambda session: session.add_all(rows))
        for node in cloud.nodes.values():
            node.engine.add_network("net-1", {})
        cloud.lose_node("node2")
        status, _, text = cloud.client.error("DELETE /networks/net-1")
        assert status == 409
        assert "node2 (Host node2 is not up.)" in text
        assert "node3" not in text
        assert [host for host, _ in kept(cloud)] == ["node2"]
        assert ["net-1" in node.engine.networks for node in cloud.nodes.values()] == [False, True, False]
    finally:
        cloud.close()


def test_who_may_not_know_the_nodes_reads_on_how_many_a_network_is_still(tmp_path: pathlib.Path) -> None:
    cloud = Cloud(tmp_path, hosts=("node1", "node2", "node3"))
    try:
        rows = [
            Network(neutron_net_id="net-1", host=host, uuid=host, project_id="p1") for host in cloud.nodes
        ]
        cloud.database.write(lambda session: session.add_all(rows))
        cloud.policy_file.write_text('{"network:delete": "role:member"}')
        cloud.restart()
        cloud.lose_node("node2")
        status, _, text = cloud.user("alice", project="p1").error("DELETE /networks/net-1")
        assert (status, text) == (409, "Network net-1 is still on 1 of 3 nodes. The node is not up.")
    finally:
        cloud.close()
