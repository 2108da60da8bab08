"""An action that fails comes to its end, also when its undo or its outcome fails unexpectedly."""

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.waiting import until
from tierce.db.tables import Allocation
from tierce.model.errors import RuntimeConflict, RuntimeFailure


def test_an_undo_that_fails_unexpectedly_keeps_no_other_from_being_done(cloud: Cloud, client: Client) -> None:
    cloud.engine.script("create", error=RuntimeFailure("no space left on device"), lost=True)
    cloud.engine.script("remove", error=KeyError("network"))
    uuid = client.create(nets=[{"network": "web"}])

    failed = client.wait(uuid, "Error")

    assert failed["status_reason"] == "no space left on device"
    assert client.actions(uuid) == [("create", "Error")]
    assert cloud.claims() == {}


def test_a_failure_whose_outcome_cannot_be_found_ends_in_error_and_says_what_failed_first(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running()
    cloud.wait_idle()
    cloud.engine.script("stop", error=RuntimeConflict("it is odd"))
    cloud.engine.script("inspect", error=KeyError("network"))
    client.call(f"POST /containers/{uuid}/stop")
    assert client.wait(uuid, "Error")["status_reason"] == "it is odd"
    assert client.actions(uuid)[-1] == ("stop", "Error")


def test_leftovers_that_cannot_be_removed_keep_no_other_from_going(cloud: Cloud, client: Client) -> None:
    """As on a node whose disk is full, whose containers are to be followed all the same."""
    uuid = client.running(mounts=[{"size": 1, "destination": "/data"}])
    gone = Allocation(host="node1", consumer_uuid="gone", vcpus=1, memory_mb=64, disk_gb=0)
    cloud.database.write(lambda session: session.add(gone))
    owner = cloud.database_file.parent / "mnt" / ".owner"
    owner.unlink(missing_ok=True)
    owner.mkdir()
    cloud.restart()
    until(lambda: cloud.claims().keys() == {uuid})
    cloud.engine.exit(f"zun-{uuid}", 3)
    client.wait(uuid, "Stopped")
