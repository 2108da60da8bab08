"""Deleting: it always succeeds in the end, and leaves nothing."""

from collections.abc import Callable

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Death
from tests.support.threads import Gate
from tests.support.waiting import until
from tierce.model.errors import RuntimeFailure, RuntimeUnreachable

NewCloud = Callable[..., Cloud]


def nothing_is_left(cloud: Cloud) -> bool:
    cloud.wait_idle()
    engine = cloud.engine
    return (dict(engine.containers), set(engine.networks), cloud.claims(), cloud.rows()) == (
        {},
        {"bridge"},
        {},
        [],
    )


def volumes(cloud: Cloud) -> list[str]:
    return sorted(path.name for path in (cloud.database_file.parent / "mnt").glob("*-*"))


def test_everything_of_a_container_goes_with_it(cloud: Cloud, client: Client) -> None:
    uuid = client.running(
        nets=[{"network": "web"}],
        mounts=[
            {"type": "volume", "size": 1, "destination": "/data"},
            {"type": "bind", "source": "aGVsbG8=", "destination": "/etc/motd"},
        ],
    )
    assert len(volumes(cloud)) == 2
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)
    assert nothing_is_left(cloud)
    assert volumes(cloud) == []


def test_a_named_volume_outlives_its_containers(cloud: Cloud, client: Client) -> None:
    mounts = [{"type": "volume", "source": "pages", "destination": "/data"}]
    first, second = client.running(mounts=mounts), client.running(mounts=mounts)
    (path,) = {mount.source for each in cloud.engine.containers.values() for mount in each.spec.mounts}
    for uuid in (first, second):
        client.call(f"DELETE /containers/{uuid}?stop=true")
        client.wait_gone(uuid)
    third = client.running(mounts=mounts)
    assert cloud.engine.container(f"zun-{third}").spec.mounts[0].source == path


def test_a_network_stays_while_another_container_needs_it(cloud: Cloud, client: Client) -> None:
    first, second = client.running(), client.running()
    for uuid, left in ((first, 2), (second, 1)):
        client.call(f"DELETE /containers/{uuid}?stop=true")
        client.wait_gone(uuid)
        cloud.wait_idle()
        assert len(cloud.engine.networks) == left


def test_a_delete_waits_for_an_engine_that_is_away(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    cloud.engine.go_down()
    client.call(f"DELETE /containers/{uuid}")
    until(lambda: "It will be tried again" in ((client.show(uuid) or {})["status_reason"] or ""))
    shown = client.show(uuid) or {}
    assert (shown["status"], shown["task_state"]) == ("Deleting", "container_deleting")
    cloud.engine.come_back()
    client.wait_gone(uuid)
    assert nothing_is_left(cloud)


def test_a_delete_that_waits_survives_a_restart(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    cloud.engine.go_down()
    client.call(f"DELETE /containers/{uuid}")
    until(lambda: (client.show(uuid) or {})["status_reason"])
    cloud.restart()
    cloud.engine.come_back()
    client.wait_gone(uuid)


def test_a_delete_that_the_engine_refuses_is_an_error_that_can_be_tried_again(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.created()
    cloud.engine.script("remove", error=RuntimeFailure("device or resource busy"))
    client.call(f"DELETE /containers/{uuid}")
    assert client.wait(uuid, "Error")["status_reason"] == "device or resource busy"
    assert client.actions(uuid)[-1] == ("delete", "Error")
    assert uuid in cloud.claims()
    client.call(f"DELETE /containers/{uuid}")
    client.wait_gone(uuid)


def test_a_forced_delete_goes_through_although_the_engine_refuses(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.script("remove", error=RuntimeFailure("device or resource busy"))
    client.call(f"DELETE /containers/{uuid}?force=true")
    client.wait_gone(uuid)
    assert cloud.claims() == {}
    # What the engine kept goes with the next comparison.
    cloud.restart()
    until(lambda: cloud.engine.containers == {})


def test_what_is_gone_already_is_deleted_all_the_same(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    with cloud.engine.lock:
        cloud.engine.discard(cloud.engine.container(f"zun-{uuid}"))
    client.wait(uuid, "Error")
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)


def test_a_container_whose_action_hangs_can_be_deleted_afterwards(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("stop", RuntimeUnreachable("connection reset"))
    client.call(f"POST /containers/{uuid}/stop")
    client.call(f"DELETE /containers/{uuid}?force=true")
    release.set()
    client.wait_gone(uuid)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", ["stopped", "container", "networks", "volumes"])
def test_a_delete_that_was_cut_short_is_finished_at_the_next_start(
    cloud: Cloud, client: Client, step: str, moment: str
) -> None:
    uuid = client.running(mounts=[{"type": "volume", "size": 1, "destination": "/data"}])
    cloud.observer = death = Death("delete", step, moment)
    client.call(f"DELETE /containers/{uuid}?stop=true")
    until(lambda: death.count)
    cloud.restart()
    client.wait_gone(uuid)
    assert nothing_is_left(cloud)
    assert volumes(cloud) == []


def test_a_delete_is_never_given_up(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"max_attempts": 1})
    uuid = cloud.client.running()
    cloud.observer = death = Death("delete", "container", "after", times=3)
    cloud.client.call(f"DELETE /containers/{uuid}?force=true")
    for count in (1, 2, 3):
        until(lambda count=count: death.count == count)
        cloud.restart()
    cloud.client.wait_gone(uuid)


def test_what_ends_after_a_delete_was_accepted_leaves_it_deleting(cloud: Cloud, client: Client) -> None:
    uuid, stopping, removing = client.running(), Gate(), Gate()
    cloud.engine.script("stop", until=stopping)
    cloud.engine.script("remove", until=removing)
    client.call(f"POST /containers/{uuid}/stop")
    assert stopping.reached.wait(30)
    client.call(f"DELETE /containers/{uuid}?stop=true")
    stopping.set()
    assert removing.reached.wait(30)
    try:
        assert (client.show(uuid) or {})["status"] == "Deleting"
        assert client.error(f"DELETE /containers/{uuid}")[0] == 409
    finally:
        removing.set()
    client.wait_gone(uuid)
