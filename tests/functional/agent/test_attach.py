"""A container joins networks and leaves them, whatever happens in between."""

import itertools

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Death
from tests.support.waiting import until
from tierce.model.container import RuntimeState
from tierce.model.errors import RuntimeFailure, RuntimeTimeout, RuntimeUnreachable

BOUNDARIES = {
    "attach": [*itertools.product(["network", "joined"], ["before", "after"])],
    "detach": [*itertools.product(["left", "network"], ["before", "after"])],
}


def attach(client: Client, uuid: str, query: str) -> None:
    client.call(f"POST /containers/{uuid}/network_attach?{query}")


def detach(client: Client, uuid: str, query: str) -> None:
    client.call(f"POST /containers/{uuid}/network_detach?{query}")


def settled(cloud: Cloud, client: Client, uuid: str) -> dict[str, int]:
    """Number of addresses in each network of the container, by the network's short name, when all rests.

    The engine has it in the same networks, and no network that nobody is in.
    """
    cloud.wait_sound()
    shown = client.show(uuid) or {}
    assert shown["task_state"] is None
    with cloud.engine.lock:
        assert set(cloud.engine.container(f"zun-{uuid}").addresses) == set(shown["addresses"])
        assert cloud.engine.networks.keys() - {"bridge"} == {
            name for each in cloud.engine.containers.values() for name in each.addresses
        }
    return {name.rsplit("-", 1)[1]: len(entries) for name, entries in shown["addresses"].items()}


@pytest.mark.parametrize("state", ["Created", "Running", "Stopped", "Paused"])
def test_a_container_joins_and_leaves_in_every_state_that_allows_it(
    cloud: Cloud, client: Client, state: str
) -> None:
    uuid = client.created() if state == "Created" else client.running()
    if state in ("Stopped", "Paused"):
        client.call(f"POST /containers/{uuid}/{'stop' if state == 'Stopped' else 'pause'}")
        client.wait(uuid, state)
    there = int(state in ("Running", "Paused"))

    attach(client, uuid, "network=web")
    assert settled(cloud, client, uuid) == {"default": there, "web": there}
    detach(client, uuid, "network=default")
    assert settled(cloud, client, uuid) == {"web": there}

    assert (client.show(uuid) or {})["status"] == state
    assert client.actions(uuid)[-2:] == [("network_attach", None), ("network_detach", None)]


def test_it_is_in_the_same_networks_after_a_restart(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    attach(client, uuid, "network=web")
    client.wait(uuid, "Running")
    detach(client, uuid, "network=default")
    client.wait(uuid, "Running")
    client.call(f"POST /containers/{uuid}/reboot")
    client.wait(uuid, "Running")
    assert settled(cloud, client, uuid) == {"web": 1}


def test_it_may_leave_its_last_network_and_come_back(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    detach(client, uuid, "network=default")
    assert settled(cloud, client, uuid) == {}
    client.call(f"POST /containers/{uuid}/reboot")
    client.wait(uuid, "Running")
    assert settled(cloud, client, uuid) == {}
    attach(client, uuid, "")
    assert settled(cloud, client, uuid) == {"default": 1}


def test_an_address_that_was_asked_for_is_kept(cloud: Cloud, client: Client) -> None:
    nets = [{"network": "web", "v4-fixed-ip": "10.213.7.5"}]
    uuid = client.running(nets=nets)
    attach(client, uuid, "network=db&fixed_ip=10.213.8.5")
    client.wait(uuid, "Running")
    client.call(f"POST /containers/{uuid}/stop")
    client.wait(uuid, "Stopped")
    with cloud.engine.lock:  # somebody removes them behind our back
        for name in cloud.engine.networks.keys() - {"bridge"}:
            del cloud.engine.networks[name]
    client.call(f"POST /containers/{uuid}/start")
    entries = client.wait(uuid, "Running")["addresses"].values()
    assert [entry["addr"] for [entry] in entries] == ["10.213.7.5", "10.213.8.5"]


@pytest.mark.parametrize(
    "taken", ["10.213.7.5", "10.213.9.5"], ids=["an address of another", "not of this network"]
)
def test_an_address_that_cannot_be_had_is_an_error_that_leaves_nothing(
    cloud: Cloud, client: Client, taken: str
) -> None:
    client.running(nets=[{"network": "web", "v4-fixed-ip": "10.213.7.5"}])
    uuid = client.running(nets=[{"network": "db"}])
    attach(client, uuid, f"network=web&fixed_ip={taken}")
    assert settled(cloud, client, uuid) == {"db": 1}
    shown = client.show(uuid) or {}
    assert shown["status"] == "Running"
    assert "ddress" in shown["status_reason"]
    assert client.actions(uuid)[-1] == ("network_attach", "Error")

    refused = client.create(run=True, nets=[{"network": "web", "v4-fixed-ip": taken}])
    assert "ddress" in client.wait(refused, "Error")["status_reason"]


@pytest.mark.parametrize(("step", "moment"), BOUNDARIES["attach"])
def test_an_attach_is_finished_after_the_agent_died(
    cloud: Cloud, client: Client, step: str, moment: str
) -> None:
    uuid = client.running()
    cloud.observer = death = Death("network_attach", step, moment)
    attach(client, uuid, "network=web")
    until(lambda: death.count)
    cloud.restart()
    assert settled(cloud, client, uuid) == {"default": 1, "web": 1}
    assert client.actions(uuid)[-1] == ("network_attach", None)


@pytest.mark.parametrize(("step", "moment"), BOUNDARIES["detach"])
def test_a_detach_is_finished_after_the_agent_died(
    cloud: Cloud, client: Client, step: str, moment: str
) -> None:
    uuid = client.running(nets=[{"network": "web"}, {"network": "db"}])
    cloud.observer = death = Death("network_detach", step, moment)
    detach(client, uuid, "network=web")
    until(lambda: death.count)
    cloud.restart()
    assert settled(cloud, client, uuid) == {"db": 1}
    assert client.actions(uuid)[-1] == ("network_detach", None)


@pytest.mark.parametrize("kind", [RuntimeFailure, RuntimeTimeout, RuntimeUnreachable])
@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("call", ["networks.ensure", "join"])
def test_an_attach_that_the_engine_refuses_leaves_nothing(
    cloud: Cloud, client: Client, call: str, kind: type[RuntimeFailure], lost: bool
) -> None:
    uuid = client.running()
    cloud.engine.script(call, error=kind("no space left"), lost=lost)
    attach(client, uuid, "network=web")
    assert settled(cloud, client, uuid) == {"default": 1}
    assert (client.show(uuid) or {})["status_reason"] == "no space left"
    attach(client, uuid, "network=web")
    assert settled(cloud, client, uuid) == {"default": 1, "web": 1}
    assert (client.show(uuid) or {})["status_reason"] is None


@pytest.mark.parametrize("lost", [False, True])
def test_after_a_detach_that_failed_the_addresses_are_what_is_true(
    cloud: Cloud, client: Client, lost: bool
) -> None:
    uuid = client.running(nets=[{"network": "web"}, {"network": "db"}])
    cloud.engine.script("leave", error=RuntimeFailure("device busy"), lost=lost)
    detach(client, uuid, "network=web")
    cloud.wait_idle()
    shown = client.wait(uuid, "Running")
    assert len(shown["addresses"]) == (1 if lost else 2)
    assert shown["status_reason"] == "device busy"
    if not lost:
        detach(client, uuid, "network=web")
    assert [*shown["addresses"]][-1].endswith("-db")


def test_a_network_that_another_container_is_in_stays(cloud: Cloud, client: Client) -> None:
    first = client.running(nets=[{"network": "web"}, {"network": "db"}])
    second = client.running(nets=[{"network": "web"}])
    detach(client, first, "network=web")
    assert settled(cloud, client, first) == {"db": 1}
    assert settled(cloud, client, second) == {"web": 1}


def test_a_network_that_an_attach_waits_for_stays(cloud: Cloud, client: Client) -> None:
    last, joining = client.running(nets=[{"network": "web"}]), client.running(nets=[{"network": "db"}])
    release = cloud.hold("join")
    attach(client, joining, "network=web")
    until(lambda: (client.show(joining) or {})["task_state"] == "network_attaching")
    client.call(f"DELETE /containers/{last}?stop=true")
    client.wait_gone(last)
    release.set()
    assert settled(cloud, client, joining) == {"db": 1, "web": 1}


def test_a_delete_takes_a_network_that_was_being_attached(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("join")
    attach(client, uuid, "network=web")
    until(lambda: any(name.endswith("-web") for name in cloud.engine.networks))
    client.call(f"DELETE /containers/{uuid}?stop=true")
    release.set()
    client.wait_gone(uuid)
    assert cloud.engine.networks.keys() <= {"bridge"}


def test_a_container_that_ends_meanwhile_is_attached_all_the_same(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("join")
    attach(client, uuid, "network=web")
    until(lambda: (client.show(uuid) or {})["task_state"])
    cloud.engine.exit(f"zun-{uuid}", 3)
    release.set()
    assert settled(cloud, client, uuid) == {"default": 0, "web": 0}
    assert cloud.engine.container(f"zun-{uuid}").state == RuntimeState.EXITED


def test_a_rebuilt_container_is_in_its_networks_at_the_addresses_that_it_asked_for(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running(nets=[{"network": "web", "v4-fixed-ip": "10.213.7.5"}, {"network": "old"}])
    attach(client, uuid, "network=db&fixed_ip=10.213.8.5")
    client.wait(uuid, "Running")
    detach(client, uuid, "network=old")
    client.wait(uuid, "Running")
    client.call(f"POST /containers/{uuid}/rebuild")
    client.wait(uuid, "Running")
    assert settled(cloud, client, uuid) == {"web": 1, "db": 1}
    entries = (client.show(uuid) or {})["addresses"].values()
    assert [entry["addr"] for [entry] in entries] == ["10.213.7.5", "10.213.8.5"]
