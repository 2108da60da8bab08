"""Changing a container's size, name and healing: what is changed, what is held, and what a failure leaves."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Death
from tests.support.threads import at_once
from tests.support.waiting import until
from tierce.db.tables import Quota
from tierce.model.container import NodeFacts
from tierce.model.context import service_context
from tierce.model.errors import OperationNotSupported, RuntimeFailure, RuntimeUnreachable
from tierce.rpc.convert import container_to_wire

NewCloud = Callable[..., Cloud]
Size = tuple[float, int]

SMALL = NodeFacts(name="fake", cpus=1, memory_total=1024, memory_available=1024, disk_total=100)


def limits(cloud: Cloud, uuid: str) -> Size:
    """What the engine gives the container."""
    spec = cloud.engine.container(f"zun-{uuid}").spec
    return spec.cpus or 0, spec.memory or 0


def recorded(cloud: Cloud, uuid: str) -> Size:
    """What the database says of it."""
    row = cloud.row(uuid)
    return row.cpu or 0, int(row.memory or 0)


def claimed(cloud: Cloud, uuid: str) -> tuple[int, int]:
    claim = cloud.claims()[uuid]
    return claim.vcpus, claim.memory_mb


def is_of_size(cloud: Cloud, uuid: str, cpu: float, memory: int) -> None:
    assert limits(cloud, uuid) == recorded(cloud, uuid) == (cpu, memory)
    assert claimed(cloud, uuid) == (max(1, int(-(-cpu // 1))), memory)


def patch(client: Client, uuid: str, **fields: Any) -> dict[str, Any]:
    return dict(client.call(f"PATCH /containers/{uuid}", fields))


def refused(client: Client, uuid: str, **fields: Any) -> tuple[int, str, str]:
    return client.error(f"PATCH /containers/{uuid}", fields)


# --- it works -------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["Created", "Running", "Paused", "Stopped"])
def test_a_change_of_size_is_there_when_it_is_answered(cloud: Cloud, client: Client, state: str) -> None:
    uuid = client.created(cpu=0.5, memory=512) if state == "Created" else client.running(cpu=0.5, memory=512)
    if state in ("Paused", "Stopped"):
        client.call(f"POST /containers/{uuid}/{'pause' if state == 'Paused' else 'stop'}")
        client.wait(uuid, state)

    changed = patch(client, uuid, cpu=1.5, memory="1024")

    assert (changed["cpu"], changed["memory"], changed["status"]) == (1.5, "1024", state)
    assert changed["links"]
    is_of_size(cloud, uuid, 1.5, 1024)
    assert client.actions(uuid)[-1] == ("resize", None)


def test_each_of_both_can_be_changed_alone(cloud: Cloud, client: Client) -> None:
    uuid = client.running(cpu=1, memory=128)
    patch(client, uuid, memory=64)
    is_of_size(cloud, uuid, 1, 64)
    patch(client, uuid, cpu="2.5")
    is_of_size(cloud, uuid, 2.5, 64)


def test_a_size_in_another_spelling_is_the_same_number(cloud: Cloud, client: Client) -> None:
    uuid = client.created(memory=512)
    assert patch(client, uuid, memory="01024")["memory"] == "1024"
    assert claimed(cloud, uuid)[1] == 1024


@pytest.mark.parametrize("fields", [{}, {"cpu": None, "memory": None, "name": None}, {"memory": 64}])
def test_what_changes_nothing_asks_no_node(cloud: Cloud, client: Client, fields: dict[str, Any]) -> None:
    uuid = client.created(name="web", memory=64)
    cloud.lose_node("node1")
    assert patch(client, uuid, **fields)["name"] == "web"
    assert client.actions(uuid) == [("create", None)]


def test_name_and_healing_need_no_node(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    cloud.lose_node("node1")
    changed = patch(client, uuid, name="other", auto_heal="true")
    assert (changed["name"], changed["auto_heal"]) == ("other", True)
    assert patch(client, uuid, auto_heal="false")["auto_heal"] is False
    assert client.actions(uuid) == [("create", None)]


def test_all_of_it_in_one_request(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    changed = patch(client, uuid, name="other", auto_heal=True, cpu=2, memory=128)
    assert [changed[field] for field in ("name", "auto_heal", "cpu", "memory")] == ["other", True, 2, "128"]
    is_of_size(cloud, uuid, 2, 128)


def test_parameters_may_be_in_the_query(client: Client) -> None:
    uuid = client.created(name="web")
    assert client.call(f"PATCH /containers/{uuid}?name=other", version="1.1")["name"] == "other"


def test_a_resize_is_answered_at_once_with_the_old_size(cloud: Cloud, client: Client) -> None:
    uuid = client.running(cpu=1, memory=128)
    release = cloud.hold("resize")
    answer = client.request(f"POST /containers/{uuid}/resize_container", {"cpu": 2, "memory": 256})
    release.set()
    assert (answer.status_code, answer.json["cpu"], answer.json["memory"]) == (202, 1, "128")
    cloud.wait_idle()
    is_of_size(cloud, uuid, 2, 256)
    assert client.actions(uuid)[-1] == ("resize", None)


@pytest.mark.parametrize(("version", "status"), [("1.18", 406), ("1.19", 202)])
def test_a_resize_exists_since_its_version(client: Client, version: str, status: int) -> None:
    uuid = client.created()
    line = f"POST /containers/{uuid}/resize_container?memory=65"
    assert client.request(line, version=version).status_code == status


# --- it may not -----------------------------------------------------------------------------------


def test_a_state_that_forbids_it_is_named(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.create(image="nosuch/image:1")
    cloud.client.wait(uuid, "Error")
    for fields in ({"memory": 128}, {"name": "other"}):
        status, code, text = refused(cloud.client, uuid, **fields)
        assert (status, code) == (409, "container.invalid-state-exception")
        assert text == f"Cannot update container {uuid} in Error state"


def test_quotas_count_what_is_added(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"memory": 300, "cpu": 2})
    uuid = cloud.client.created(cpu=1, memory=200)
    patch(cloud.client, uuid, cpu=2, memory=300)
    status, code, text = refused(cloud.client, uuid, memory=301)
    assert (status, code) == (403, "container.over-quota")
    assert "memory: limit 300, in use 300, asked 1" in text
    assert cloud.client.error(f"POST /containers/{uuid}/resize_container?cpu=2.1")[0] == 403
    is_of_size(cloud, uuid, 2, 300)


def test_a_project_over_its_quota_can_shrink(new_cloud: NewCloud) -> None:
    cloud = new_cloud()
    uuids = [cloud.client.created(memory=200) for _ in range(2)]
    row = Quota(project_id="admin", resource="memory", hard_limit=100)
    cloud.database.write(lambda session: session.add(row))
    patch(cloud.client, uuids[0], memory=190, cpu=2)
    assert refused(cloud.client, uuids[0], memory=191)[0] == 403


def test_an_administrator_s_change_counts_in_the_container_s_project(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"memory": 1000})
    cloud.client.created(memory=1000)
    uuid = cloud.user("alice", project="p1").created(memory=100)
    patch(cloud.client, uuid, memory=1000)
    assert refused(cloud.client, uuid, memory=1001)[0] == 403


def test_of_many_that_grow_at_once_as_many_as_fit_do(new_cloud: NewCloud) -> None:
    cloud = new_cloud(quota={"memory": 700})
    uuids = [cloud.client.created(memory=100) for _ in range(5)]
    answers = at_once(
        [
            lambda uuid=uuid: cloud.client.request(f"PATCH /containers/{uuid}", {"memory": 200}).status_code
            for uuid in uuids
        ]
    )
    assert Counter(answers) == {200: 2, 403: 3}
    assert sum(claim.memory_mb for claim in cloud.claims().values()) == 700


def test_a_node_without_room_keeps_the_old_size(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL, compute={"reserved_host_memory_mb": 0, "initial_ram_allocation_ratio": 1})
    uuid = cloud.client.running(memory=512)
    status, code, text = refused(cloud.client, uuid, memory=1025, name="other")
    assert (status, code) == (409, "container.resources-unavailable")
    assert "512 of 1024 MiB memory free, 513 asked" in text
    assert cloud.row(uuid).name != "other"
    patch(cloud.client, uuid, memory=1024)
    is_of_size(cloud, uuid, 0.1, 1024)


def test_room_is_counted_with_overcommitment(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL, compute={"initial_cpu_allocation_ratio": 16})
    uuid = cloud.client.created(cpu=1)
    patch(cloud.client, uuid, cpu=16)
    assert claimed(cloud, uuid)[0] == 16


def test_a_container_can_shrink_on_a_node_that_is_too_full(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=SMALL)
    uuid = cloud.client.created(memory=512)
    cloud.stop()
    cloud.configure(compute={"reserved_host_memory_mb": 1000})
    cloud.start()
    patch(cloud.client, uuid, memory=256)
    is_of_size(cloud, uuid, 0.1, 256)


def test_a_name_that_is_taken_leaves_everything_as_it_was(new_cloud: NewCloud) -> None:
    cloud = new_cloud(compute={"unique_container_name_scope": "project"})
    cloud.client.created(name="web")
    uuid = cloud.client.running(name="api", memory=128)
    status, code, _ = refused(cloud.client, uuid, name="WEB", memory=256, auto_heal=True)
    assert (status, code) == (409, "container.container-already-exists")
    is_of_size(cloud, uuid, 0.1, 128)
    assert (cloud.row(uuid).name, cloud.row(uuid).auto_heal) == ("api", False)
    assert patch(cloud.client, uuid, name="API", memory=256)["name"] == "API"


def test_of_two_changes_to_one_name_one_is_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(compute={"unique_container_name_scope": "project"})
    uuids = [cloud.client.created() for _ in range(2)]
    answers = at_once(
        [
            lambda uuid=uuid: cloud.client.request(f"PATCH /containers/{uuid}", {"name": "web"}).status_code
            for uuid in uuids
        ]
    )
    assert Counter(answers) == {200: 1, 409: 1}


def test_a_node_that_is_down_is_named_and_nothing_is_changed(cloud: Cloud, client: Client) -> None:
    uuid = client.running(memory=128)
    cloud.lose_node("node1")
    for line in (f"PATCH /containers/{uuid}", f"POST /containers/{uuid}/resize_container"):
        assert client.error(line, {"memory": 256}) == (
            409,
            "container.container-host-not-up",
            f"Container {uuid} host node1 is not up.",
        )
    is_of_size(cloud, uuid, 0.1, 128)


# --- one after another ----------------------------------------------------------------------------


def test_while_one_change_is_at_work_another_is_refused_and_a_stop_waits_its_turn(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running(memory=512)
    release = cloud.hold("resize")
    client.call(f"POST /containers/{uuid}/resize_container?memory=256")
    back, more = f"PATCH /containers/{uuid}?memory=512", f"PATCH /containers/{uuid}?memory=1024"
    for line in (back, more, f"POST /containers/{uuid}/resize_container?cpu=2"):
        status, code, text = client.error(line)
        assert (status, code) == (409, "container.invalid-state-exception")
        assert text.endswith("while resize is in progress")
    assert patch(client, uuid, name="other")["name"] == "other"
    client.call(f"POST /containers/{uuid}/stop")
    release.set()
    client.wait(uuid, "Stopped")
    is_of_size(cloud, uuid, 0.1, 256)
    assert cloud.row(uuid).name == "other"


def test_a_change_waits_for_no_other_action_s_end(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("stop")
    client.call(f"POST /containers/{uuid}/stop")
    assert refused(client, uuid, memory=256)[2].endswith("while container_stopping is in progress")
    release.set()


def test_room_is_held_for_both_sizes_while_a_change_is_at_work(cloud: Cloud, client: Client) -> None:
    uuid = client.running(cpu=2, memory=128)
    release = cloud.hold("resize", RuntimeFailure("no"))
    client.call(f"POST /containers/{uuid}/resize_container", {"cpu": 1, "memory": 256})
    assert claimed(cloud, uuid) == (2, 256)
    release.set()
    cloud.wait_idle()
    is_of_size(cloud, uuid, 2, 128)


def test_a_delete_overtakes_a_change_that_waits(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    release = cloud.hold("resize")
    client.call(f"POST /containers/{uuid}/resize_container?memory=256")
    client.call(f"DELETE /containers/{uuid}?force=true")
    release.set()
    client.wait_gone(uuid)
    assert cloud.claims() == {}


# --- it fails -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [False, True])
def test_an_engine_that_refuses_leaves_the_old_size_everywhere(
    cloud: Cloud, client: Client, lost: bool
) -> None:
    uuid = client.running(cpu=1, memory=128)
    cloud.engine.script("resize", error=RuntimeFailure("device or resource busy"), lost=lost)

    status, code, text = refused(client, uuid, cpu=2, memory=512)

    assert (status, code, text) == (409, "container.conflict", "device or resource busy")
    is_of_size(cloud, uuid, 1, 128)
    shown = client.show(uuid) or {}
    assert (shown["status"], shown["status_reason"]) == ("Running", "device or resource busy")
    assert client.actions(uuid)[-1] == ("resize", "Error")
    patch(client, uuid, memory=512)
    assert (client.show(uuid) or {})["status_reason"] is None


def test_a_resize_that_fails_says_so_in_its_action(cloud: Cloud, client: Client) -> None:
    uuid = client.running(memory=128)
    cloud.engine.script("resize", error=RuntimeFailure("device or resource busy"))
    client.call(f"POST /containers/{uuid}/resize_container?memory=256")
    cloud.wait_idle()
    assert client.actions(uuid)[-1] == ("resize", "Error")
    assert (client.show(uuid) or {})["status_reason"] == "device or resource busy"
    is_of_size(cloud, uuid, 0.1, 128)


def test_an_engine_that_takes_long_is_not_waited_for_without_end(new_cloud: NewCloud) -> None:
    cloud = new_cloud(DEFAULT={"rpc_response_timeout": 1})
    uuid = cloud.client.running(memory=128)
    release = cloud.hold("resize")
    status, code, text = refused(cloud.client, uuid, memory=256)
    assert (status, code) == (504, "container.rpc-timeout")
    assert "is not changed yet" in text
    release.set()
    cloud.wait_idle()
    is_of_size(cloud, uuid, 0.1, 256)
    assert cloud.client.actions(uuid)[-1] == ("resize", None)


def test_an_engine_that_is_away_does_it_when_it_is_back(cloud: Cloud, client: Client) -> None:
    uuid = client.running(memory=128)
    cloud.engine.go_down()
    status, code, text = refused(client, uuid, memory=256)
    assert (status, code) == (504, "container.rpc-timeout")
    assert "The fake engine cannot be reached" in text
    cloud.engine.come_back()
    cloud.wait_idle()
    is_of_size(cloud, uuid, 0.1, 256)
    assert (client.show(uuid) or {})["status_reason"] is None


def test_an_answer_that_is_lost_is_asked_for_again(cloud: Cloud, client: Client) -> None:
    uuid = client.running(memory=128)
    cloud.engine.script("resize", error=RuntimeUnreachable("connection reset"), lost=True)
    client.call(f"POST /containers/{uuid}/resize_container?memory=256")
    cloud.wait_idle()
    is_of_size(cloud, uuid, 0.1, 256)


def test_a_container_that_somebody_removed_is_not_resized(cloud: Cloud, client: Client) -> None:
    uuid = client.running(memory=128)
    release = cloud.hold("resize")
    client.call(f"POST /containers/{uuid}/resize_container?memory=256")
    with cloud.engine.lock:
        cloud.engine.discard(cloud.engine.container(f"zun-{uuid}"))
    release.set()
    client.wait(uuid, "Error")
    assert client.actions(uuid)[-1] == ("resize", "Error")
    assert (recorded(cloud, uuid), claimed(cloud, uuid)) == ((0.1, 128), (1, 128))


# --- it dies on the way ----------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("fails", [False, True])
def test_a_resize_that_was_cut_short_is_finished_at_the_next_start(
    cloud: Cloud, client: Client, moment: str, fails: bool
) -> None:
    uuid = client.running(cpu=2, memory=128)
    cloud.observer = death = Death("resize", "limits", moment)
    client.call(f"POST /containers/{uuid}/resize_container", {"cpu": 1, "memory": 256})
    until(lambda: death.count)
    if fails:
        cloud.engine.script("resize", error=RuntimeFailure("no"))
    cloud.restart()
    cloud.wait_idle()
    is_of_size(cloud, uuid, *((2, 128) if fails else (1, 256)))
    assert client.actions(uuid)[-1] == ("resize", "Error" if fails else None)


def test_a_resize_that_nobody_hears_of_is_found(new_cloud: NewCloud) -> None:
    cloud = new_cloud(DEFAULT={"rpc_response_timeout": 1})
    uuid = cloud.client.running(memory=128)
    cloud.stop_node("node1")
    assert refused(cloud.client, uuid, memory=256)[:2] == (504, "container.rpc-timeout")
    cloud.start_node("node1")
    cloud.wait_idle()
    is_of_size(cloud, uuid, 0.1, 256)


# --- asked by another program of the bus ------------------------------------------------------------


def test_a_change_that_nobody_has_queued_is_queued_on_arrival(cloud: Cloud, client: Client) -> None:
    uuid = client.running(cpu=1, memory=128)
    context = service_context().replace(project_id="admin")
    patch = {"memory": "256", "name": "other", "auto_heal": True}

    changed = cloud.compute.container_update(context, "node1", cloud.row(uuid), patch=patch)

    assert [changed[field] for field in ("memory", "name", "auto_heal")] == ["256", "other", True]
    is_of_size(cloud, uuid, 1, 256)
    assert client.actions(uuid)[-1] == ("resize", None)


def test_an_image_for_an_image_service_is_refused(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    asked = {"container": container_to_wire(cloud.row(uuid)), "repository": "copy", "tag": "1"}
    caller = cloud.compute._caller  # the client itself never calls it
    with pytest.raises(OperationNotSupported):
        caller.call(service_context(), "node1", "container_commit", asked)
