"""Containers join networks and leave them, with python-zunclient and the API, on a real Engine."""

import itertools

import docker
import pytest
from keystoneauth1 import loading, session
from zunclient import api_versions, exceptions
from zunclient.v1.client import Client

from tests.support.containers import POLITE, behind, execute, run
from tests.support.service import Http
from tests.support.team import Team
from tests.support.waiting import until

_names = itertools.count()


@pytest.fixture
def zun(team: Team) -> Client:
    """ann's python-zunclient."""
    plugin = loading.get_plugin_loader("http_basic").load_from_options(
        endpoint=team.service.url, username="ann", password=team.passwords["ann"]
    )
    return Client(session=session.Session(auth=plugin), api_version=api_versions.APIVersion("1.40"))


@pytest.fixture
def olga(team: Team, _cleared: None) -> Http:
    """An administrator; all containers are deleted at the end."""
    return team.client("olga")


def address(user: Http, ident: str, network: str) -> str:
    """The container's address in a network, by the network's short name."""
    found = user.call("GET", f"/containers/{ident}")["addresses"]
    [[entry]] = [entries for name, entries in found.items() if name.endswith(f"-{network}")]
    return str(entry["addr"])


def joined(user: Http, ident: str) -> set[str]:
    """Short names of its networks, when nothing is under way."""
    shown = until(lambda: user.call("GET", f"/containers/{ident}"), lambda each: each["task_state"] is None)
    return {name.rsplit("-", 1)[1] for name in shown["addresses"]}


def test_python_zunclient_attaches_lists_and_detaches(ann: Http, zun: Client) -> None:
    ident = run(ann, name="attached")
    zun.containers.network_attach("attached", network="web", fixed_ip="10.213.77.5")
    until(lambda: joined(ann, ident), lambda networks: networks == {"default", "web"})
    found = {item.net_id.rsplit("-", 1)[1]: item.fixed_ips for item in zun.containers.network_list(ident)}
    assert [ip["ip_address"] for ip in found["web"]] == ["10.213.77.5"]
    with pytest.raises(exceptions.BadRequest, match="already connected"):
        zun.containers.network_attach("attached", network="web")
    [port] = [item.port_id for item in zun.containers.network_list(ident) if "-default" in item.net_id]
    zun.containers.network_detach(ident, port=port)
    assert joined(ann, ident) == {"web"}
    zun.containers.network_detach(ident, network="web")
    assert joined(ann, ident) == set()
    assert zun.containers.network_list(ident) == []


@pytest.mark.parametrize("state", ["Running", "Paused", "Stopped"])
def test_an_attached_container_reaches_the_network_also_after_a_restart(ann: Http, state: str) -> None:
    server = run(ann, name=f"server{next(_names)}", nets=[{"network": "back"}])
    ident = run(ann, nets=[{"network": "front"}], command=POLITE)
    if state != "Running":
        ann.call("POST", f"/containers/{ident}/{'pause' if state == 'Paused' else 'stop'}")
        ann.wait(ident, state)
    ann.call("POST", f"/containers/{ident}/network_attach?network=back")
    assert joined(ann, ident) == {"front", "back"}
    if state == "Paused":
        ann.call("POST", f"/containers/{ident}/unpause")
        ann.wait(ident, "Running")
    for _ in range(2):
        if state != "Paused":
            ann.call("POST", f"/containers/{ident}/reboot")
            ann.wait(ident, "Running")
        there = address(ann, server, "back")
        assert execute(ann, ident, "ping", "-c", "1", "-W", "1", there)[0] == 0
    ann.call("POST", f"/containers/{ident}/network_detach?network=back")
    assert joined(ann, ident) == {"front"}
    assert execute(ann, ident, "ping", "-c", "1", "-W", "1", there)[0] != 0


def test_a_fixed_address_is_had_from_the_first_start_on(ann: Http) -> None:
    nets = [{"network": "fixed", "v4-fixed-ip": "10.213.78.9"}]
    ident = run(ann, nets=nets, command=POLITE)
    assert "inet 10.213.78.9/24" in execute(ann, ident, "ip", "-4", "address")[1]
    for action in ("stop", "start"):
        ann.call("POST", f"/containers/{ident}/{action}")
        ann.wait(ident, "Stopped" if action == "stop" else "Running")
        # Nobody else gets it meanwhile.
        assert address(ann, run(ann, nets=[{"network": "fixed"}]), "fixed") != "10.213.78.9"
    assert address(ann, ident, "fixed") == "10.213.78.9"


def test_an_address_that_another_container_has_is_an_error_that_leaves_nothing(
    ann: Http, engine: docker.DockerClient
) -> None:
    run(ann, nets=[{"network": "fixed", "v4-fixed-ip": "10.213.79.9"}])
    ident = run(ann, command=POLITE)
    ann.call("POST", f"/containers/{ident}/network_attach?network=fixed&fixed_ip=10.213.79.9")
    assert joined(ann, ident) == {"default"}
    assert "in use" in ann.call("GET", f"/containers/{ident}")["status_reason"]
    assert len(behind(engine, ident).attrs["NetworkSettings"]["Networks"]) == 1
    ann.call("POST", f"/containers/{ident}/reboot")
    ann.wait(ident, "Running")
    assert joined(ann, ident) == {"default"}


def test_a_kept_network_outlives_its_containers(olga: Http, engine: docker.DockerClient) -> None:
    made = olga.call("POST", "/networks", json={"neutron_net_id": "kept"})
    name = made["neutron_net_id"]
    assert engine.networks.get(made["network_id"]).name == name
    ident = run(olga, nets=[{"network": "kept"}], command=POLITE)
    olga.call("DELETE", f"/containers/{ident}?stop=true")
    olga.wait(ident, None)
    assert len(engine.networks.list(names=[name])) == 1
    olga.call("DELETE", f"/networks/{name}")
    assert engine.networks.list(names=[name]) == []
