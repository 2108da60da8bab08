"""A delete by force on a node where something fails: all the rest goes, and what is left goes later."""

import pathlib

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.threads import Gate
from tests.support.waiting import until
from tierce.model.errors import RuntimeFailure

MOUNTS = [
    {"type": "volume", "size": 1, "destination": "/data"},
    {"type": "bind", "source": "aGVsbG8=", "destination": "/etc/motd"},
]


def volumes(cloud: Cloud) -> list[pathlib.Path]:
    return list((cloud.database_file.parent / "mnt").glob("*-*"))


@pytest.mark.parametrize("call", ["remove", "networks.list", "networks.remove"])
def test_a_step_that_fails_does_not_keep_the_others_from_being_done(
    cloud: Cloud, client: Client, caplog: pytest.LogCaptureFixture, call: str
) -> None:
    uuid = client.created(mounts=MOUNTS)
    cloud.engine.script(call, error=RuntimeFailure("server error"))
    client.call(f"DELETE /containers/{uuid}?force=true")
    client.wait_gone(uuid)
    cloud.wait_idle()
    assert volumes(cloud) == []
    assert (len(cloud.engine.containers), len(cloud.engine.networks)) == (
        (1, 1) if call == "remove" else (0, 2)
    )
    assert cloud.claims() == {}
    assert "may be left over: server error" in caplog.text
    # What the engine kept goes with the next comparison.
    cloud.restart()
    until(lambda: (len(cloud.engine.containers), len(cloud.engine.networks)) == (0, 1))


def test_a_volume_that_no_row_stands_for_goes_with_the_next_comparison(cloud: Cloud, client: Client) -> None:
    client.created(mounts=MOUNTS)
    kept = volumes(cloud)
    orphan = kept[0].with_name("0b1c5a5e-5d0b-4d3e-8a49-7b8f0f7a1d11")
    (orphan / "deep").mkdir(parents=True)
    cloud.restart()
    # It is moved aside before it is emptied, so its end is more than that it is not there.
    until(lambda: set(volumes(cloud)) == set(kept))


@pytest.mark.parametrize("error", [None, RuntimeFailure("server error")])
def test_a_change_of_size_that_ends_afterwards_takes_nothing_of_the_node_again(
    cloud: Cloud, client: Client, error: Exception | None
) -> None:
    uuid, resizing, removing = client.running(), Gate(), Gate()
    cloud.engine.script("resize", until=resizing, error=error)
    cloud.engine.script("remove", until=removing)
    client.call(f"POST /containers/{uuid}/resize_container", {"memory": 128})
    assert resizing.reached.wait(30)
    down = {"host": "node1", "binary": "zun-compute", "forced_down": True}
    client.call("PUT /services/force_down", down)
    client.call(f"DELETE /containers/{uuid}?force=true")
    assert cloud.claims() == {}
    resizing.set()
    assert removing.reached.wait(30)
    try:
        assert cloud.claims() == {}
    finally:
        removing.set()
    client.wait_gone(uuid)
