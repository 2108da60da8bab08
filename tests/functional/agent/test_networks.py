"""Networks that nobody needs any more go; those that somebody removed come back."""

import threading

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Killed
from tests.support.threads import Gate
from tests.support.waiting import until
from tierce.model.errors import RuntimeConflict, RuntimeFailure

NETS = [{"network": "web"}, {"network": "db"}, {"network": "cache"}]


def networks(cloud: Cloud) -> list[str]:
    """Names of the projects' networks that the engine has."""
    cloud.wait_idle()
    return sorted(name.rsplit("-", 1)[1] for name in cloud.engine.networks if name != "bridge")


def test_an_undone_creation_leaves_none_of_its_networks_beside_another_container(
    cloud: Cloud, client: Client
) -> None:
    client.running(nets=[{"network": "web"}])
    cloud.engine.script("create", error=RuntimeFailure("no space left on device"))
    client.wait(client.create(nets=NETS), "Error")
    assert networks(cloud) == ["web"]


def test_a_deleted_container_takes_the_networks_that_it_alone_was_in(cloud: Cloud, client: Client) -> None:
    client.running(nets=[{"network": "web"}])
    uuid = client.running(nets=NETS)
    assert networks(cloud) == ["cache", "db", "web"]
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)
    assert networks(cloud) == ["web"]


def test_a_network_that_the_engine_keeps_holds_up_no_delete_and_is_used_again(
    cloud: Cloud, client: Client
) -> None:
    """Engines say so of endpoints that an unclean stop left."""
    uuid = client.running(nets=[{"network": "web"}])
    cloud.engine.script("networks.remove", error=RuntimeConflict("it has active endpoints"), times=2)
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)
    cloud.wait_idle()
    assert (networks(cloud), cloud.claims()) == (["web"], {})

    again = client.running(nets=[{"network": "web"}])
    client.call(f"DELETE /containers/{again}?stop=true")
    client.wait_gone(again)
    cloud.wait_idle()
    assert networks(cloud) == ["web"]

    cloud.restart()
    until(lambda: networks(cloud) == [])


def test_a_network_that_a_queued_creation_asks_for_stays(cloud: Cloud, client: Client) -> None:
    uuid = client.created(nets=[{"network": "web"}])
    release = cloud.hold("create")
    second = client.create(nets=[{"network": "web"}, {"network": "db"}])
    until(lambda: any(name.endswith("-db") for name in cloud.engine.networks))
    client.call(f"DELETE /containers/{uuid}")
    client.wait_gone(uuid)
    assert len(cloud.engine.networks) == 3
    release.set()
    client.wait(second, "Created")


def test_a_container_that_would_not_start_keeps_its_networks(cloud: Cloud, client: Client) -> None:
    failed = client.create(run=True, command=["/nosuch/program"], nets=[{"network": "db"}])
    client.wait(failed, "Error")
    assert list((client.show(failed) or {})["addresses"].values()) == [[]]
    uuid = client.running(nets=[{"network": "web"}])
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)
    assert networks(cloud) == ["db"]


@pytest.mark.parametrize("made_again", [False, True])
@pytest.mark.parametrize("action", ["start", "reboot"])
def test_a_network_that_was_removed_behind_our_back_is_made_and_joined_again(
    cloud: Cloud, client: Client, action: str, made_again: bool
) -> None:
    nets = [{"network": "web"}, {"network": "db"}]
    uuid = client.running(nets=nets)
    client.call(f"POST /containers/{uuid}/stop")
    client.wait(uuid, "Stopped")
    with cloud.engine.lock:
        for name in [name for name in cloud.engine.networks if name != "bridge"]:
            del cloud.engine.networks[name]
    if made_again:
        client.running(nets=nets)

    client.call(f"POST /containers/{uuid}/{action}")

    shown = client.wait(uuid, "Running", "Error")
    assert (shown["status"], shown["status_reason"]) == ("Running", None)
    assert [len(entries) for entries in shown["addresses"].values()] == [1, 1]
    assert networks(cloud) == ["db", "web"]


@pytest.mark.parametrize("run", [False, True])
def test_a_creation_makes_a_network_again_that_was_removed_behind_our_back(
    cloud: Cloud, client: Client, run: bool
) -> None:
    nets = [{"network": "web"}, {"network": "db"}]
    client.running(nets=nets)
    for engine_network in [name for name in cloud.engine.networks if name != "bridge"]:
        with cloud.engine.lock:
            del cloud.engine.networks[engine_network]

    uuid = client.create(run=run, nets=nets)

    status = "Running" if run else "Created"
    assert client.wait(uuid, status, "Error")["status_reason"] is None
    if not run:
        client.call(f"POST /containers/{uuid}/start")
    shown = client.wait(uuid, "Running", "Error")
    assert [len(entries) for entries in shown["addresses"].values()] == [1, 1]


def test_a_repair_that_was_cut_short_is_finished_by_the_next_attempt(cloud: Cloud, client: Client) -> None:
    uuid = client.running(nets=[{"network": "web"}, {"network": "db"}])
    client.call(f"POST /containers/{uuid}/stop")
    client.wait(uuid, "Stopped")
    died = threading.Event()

    def deadly(*where: str) -> None:
        if where == ("start", "started", "before") and not died.is_set():
            died.set()
            raise Killed

    cloud.observer = deadly
    client.call(f"POST /containers/{uuid}/start")
    assert died.wait(20)
    cloud.stop()
    # It had left one network, and had yet to join it again.
    cloud.engine.container(f"zun-{uuid}").addresses.popitem()
    cloud.start()
    shown = client.wait(uuid, "Running")
    assert [len(entries) for entries in shown["addresses"].values()] == [1, 1]


def test_one_that_has_removed_itself_keeps_no_network_from_its_neighbour(
    cloud: Cloud, client: Client
) -> None:
    first, second = (client.running(auto_remove=True, nets=[{"network": "web"}]) for _ in range(2))
    rest_of_first = Gate()
    cloud.engine.script("remove", until=rest_of_first)
    cloud.engine.exit(f"zun-{first}", 0)
    assert rest_of_first.reached.wait(10)
    cloud.engine.exit(f"zun-{second}", 0)
    client.wait_gone(second)
    assert cloud.engine.networks.keys() == {"bridge"}
    rest_of_first.set()
    client.wait_gone(first)
