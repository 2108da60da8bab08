"""CPUs that a container has for itself: which it gets, that nobody else does, when they are free again."""

import dataclasses
from collections.abc import Callable

import pytest
from sqlalchemy import update

from tests.support.client import IMAGE, Client
from tests.support.cloud import FACTS, Cloud, Death
from tests.support.threads import at_once
from tests.support.waiting import until
from tierce import config
from tierce.agent import inventory
from tierce.db.tables import ComputeNode, Container
from tierce.model.errors import InvalidValue, RuntimeFailure
from tierce.model.numa import Cell
from tierce.runtimes.fake import FakeRuntime

NewCloud = Callable[..., Cloud]

TWO_CELLS = dataclasses.replace(FACTS, numa=[Cell(0, (0, 1, 2, 3), 1024), Cell(1, (4, 5, 6, 7), 1024)])
PINNING = {"enable_cpu_pinning": True}


@pytest.fixture
def cloud(new_cloud: NewCloud) -> Cloud:
    """One node of two cells, with four CPUs and 1024 MiB each, all to dedicate."""
    return new_cloud(facts=TWO_CELLS, compute=PINNING)


def dedicated(client: Client, cpu: int, **fields: object) -> str:
    return client.running(cpu=cpu, cpu_policy="dedicated", **fields)


def refusal(client: Client, **fields: object) -> str:
    container = client.call("POST /containers", {"image": IMAGE, **fields})
    assert (container["status"], container["host"]) == ("Error", None)
    return str(container["status_reason"])


def cpus(cloud: Cloud, uuid: str) -> list[int]:
    """The container's CPUs, by its row and by the engine."""
    row = cloud.row(uuid)
    node = next(node for node in cloud.nodes.values() if node.host == row.host)
    spec = node.engine.container(f"zun-{uuid}").spec
    assert list(spec.cpuset_cpus) == row.cpuset["cpuset_cpus"]
    assert list(spec.cpuset_mems) == row.cpuset["cpuset_mems"]
    return list(spec.cpuset_cpus)


# --- which, and whose -------------------------------------------------------------------------------


def test_each_container_has_its_own_of_one_cell(cloud: Cloud, client: Client) -> None:
    assert cpus(cloud, dedicated(client, 3)) == [0, 1, 2]
    assert cpus(cloud, dedicated(client, 2)) == [4, 5]
    assert cpus(cloud, dedicated(client, 1)) == [3]
    assert refusal(client, cpu=3, memory=64, cpu_policy="dedicated") == (
        "There are not enough hosts available. node1 has at most 2 CPUs with 960 MiB memory of one NUMA node "
        "to dedicate, 3 with 64 asked."
    )


def test_the_memory_beside_the_cpus_counts(cloud: Cloud, client: Client) -> None:
    assert cpus(cloud, dedicated(client, 1, memory=1000)) == [0]
    assert cpus(cloud, dedicated(client, 1, memory=1000)) == [4]
    assert "at most 3 CPUs with 24 MiB" in refusal(client, cpu=1, memory=25, cpu_policy="dedicated")


def test_a_node_that_dedicates_cpus_takes_no_other_containers(cloud: Cloud, client: Client) -> None:
    assert "node1 keeps its CPUs for containers that have them dedicated" in refusal(client, cpu=1)


def test_it_takes_them_where_the_operator_has_it_so(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=TWO_CELLS, compute=PINNING, scheduler={"enabled_filters": "ComputeFilter"})
    uuid = cloud.client.running(cpu=1)
    assert cloud.row(uuid).cpuset == {}
    assert cpus(cloud, dedicated(cloud.client, 1)) == [0]


@pytest.mark.parametrize("scheduler", [{}, {"enabled_filters": ""}, {"driver": "chance_scheduler"}])
def test_a_node_that_dedicates_none_is_asked_for_none_whatever_the_filters(
    new_cloud: NewCloud, scheduler: dict[str, object]
) -> None:
    cloud = new_cloud(facts=TWO_CELLS, scheduler=scheduler)
    assert "node1 dedicates no CPUs" in refusal(cloud.client, cpu=1, cpu_policy="dedicated")


def test_cpus_that_float_are_not_given(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=TWO_CELLS, compute=PINNING, DEFAULT={"floating_cpu_set": "0-1,4-6"})
    assert cpus(cloud, dedicated(cloud.client, 2)) == [2, 3]
    assert cpus(cloud, dedicated(cloud.client, 1)) == [7]
    assert "at most 0 CPUs" in refusal(cloud.client, cpu=1, cpu_policy="dedicated")


def test_a_list_of_floating_cpus_that_is_none_stops_the_agent_with_the_option_s_name(cloud: Cloud) -> None:
    conf = config.load(overrides=[("DEFAULT", "floating_cpu_set", "0-1,x")])
    reporter = inventory.Inventory(conf, cloud.database, FakeRuntime(cloud.engine), "node1", cloud.clock)
    with pytest.raises(InvalidValue, match=r"\[DEFAULT\] floating_cpu_set: 'x' is no CPU"):
        reporter.report()


def test_dedicated_containers_find_the_nodes_that_have_them(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2", "node3"), facts=TWO_CELLS, compute=PINNING)
    cloud.stop_node("node1")
    cloud.database.write(
        lambda session: session.execute(
            update(ComputeNode).where(ComputeNode.hostname == "node1").values(enable_cpu_pinning=False)
        )
    )
    hosts = [cloud.row(dedicated(cloud.client, 4)).host for _ in range(4)]
    assert sorted(map(str, hosts)) == ["node2", "node2", "node3", "node3"]
    cloud.start_node("node1")
    assert cloud.row(dedicated(cloud.client, 1)).host == "node1"


def test_of_20_at_once_as_many_as_there_are_cpus_get_one_each(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("node1", "node2"), facts=TWO_CELLS, compute=PINNING)
    body = {"image": IMAGE, "cpu": 1, "memory": 16, "cpu_policy": "dedicated"}
    answers = at_once([lambda: cloud.client.request("POST /containers?run=true", body)] * 20)
    assert {answer.status_code for answer in answers} == {202}
    cloud.wait_idle()
    rows = [row for row in cloud.rows() if row.status == "Running"]
    assert sorted((row.host or "", *cpus(cloud, row.uuid)) for row in rows) == [
        (host, cpu) for host in ("node1", "node2") for cpu in range(8)
    ]


def test_the_node_s_row_tells_what_is_taken(cloud: Cloud, client: Client) -> None:
    dedicated(client, 2, memory=100)
    cloud.restart()
    node = cloud.database.read(lambda session: session.query(ComputeNode).one())
    assert node.numa_topology["nodes"] == [
        {"id": 0, "cpuset": [0, 1, 2, 3], "pinned_cpus": [0, 1], "mem_total": 1024, "mem_available": 924},
        {"id": 1, "cpuset": [4, 5, 6, 7], "pinned_cpus": [], "mem_total": 1024, "mem_available": 1024},
    ]
    (host,) = client.call("GET /hosts")["hosts"]
    assert (host["enable_cpu_pinning"], host["cpu_used"], host["mem_used"]) == (True, 2, 100)


def test_cpus_that_a_zun_process_left_to_the_node_are_chosen_there(cloud: Cloud, client: Client) -> None:
    taken = dedicated(client, 1)
    cloud.stop_node("node1")
    uuid = client.create(run=True, cpu=2, cpu_policy="dedicated")
    unset = {"cpuset_cpus": None, "cpuset_mems": None}
    cloud.database.write(
        lambda session: session.execute(update(Container).where(Container.uuid == uuid).values(cpuset=unset))
    )
    cloud.start_node("node1")
    client.wait(uuid, "Running")
    assert (cpus(cloud, taken), cpus(cloud, uuid)) == ([0], [1, 2])


# --- free again -------------------------------------------------------------------------------------


def test_a_delete_frees_them(cloud: Cloud, client: Client) -> None:
    uuid = dedicated(client, 4)
    client.call(f"DELETE /containers/{uuid}?force=true")
    client.wait_gone(uuid)
    assert cpus(cloud, dedicated(client, 4)) == [0, 1, 2, 3]


def test_a_failed_create_frees_them_and_a_rebuild_takes_others(new_cloud: NewCloud) -> None:
    cloud = new_cloud(facts=TWO_CELLS, compute=PINNING)
    cloud.engine.script("create", error=RuntimeFailure("no space left"))
    uuid = cloud.client.create(run=True, cpu=4, cpu_policy="dedicated")
    cloud.client.wait(uuid, "Error")
    assert cloud.row(uuid).cpuset == {}
    assert cpus(cloud, dedicated(cloud.client, 3)) == [0, 1, 2]
    cloud.client.call(f"POST /containers/{uuid}/rebuild")
    cloud.client.wait(uuid, "Created")
    assert cpus(cloud, uuid) == [4, 5, 6, 7]


def test_a_rebuild_keeps_them(cloud: Cloud, client: Client) -> None:
    dedicated(client, 1)
    uuid = dedicated(client, 2)
    client.call(f"POST /containers/{uuid}/rebuild")
    cloud.wait_idle()
    assert (client.wait(uuid, "Running")["cpu"], cpus(cloud, uuid)) == (2, [1, 2])


def test_after_a_forced_delete_on_a_dead_node_they_are_free_once_it_has_removed_the_container(
    cloud: Cloud, client: Client
) -> None:
    uuid = dedicated(client, 4)
    cloud.lose_node("node1")
    client.call(f"DELETE /containers/{uuid}?force=true")
    assert cloud.claims() == {}
    assert cloud.row(uuid).cpuset["cpuset_cpus"] == [0, 1, 2, 3]
    cloud.start_node("node1")
    client.wait_gone(uuid)
    assert cpus(cloud, dedicated(client, 4)) == [0, 1, 2, 3]


@pytest.mark.parametrize("step", ["container", "started"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_they_are_the_same_after_the_agent_died_in_a_creation(
    cloud: Cloud, client: Client, step: str, moment: str
) -> None:
    cloud.observer = death = Death("create", step, moment)
    uuid = client.create(run=True, cpu=2, cpu_policy="dedicated")
    until(lambda: death.count)
    other = client.create(run=True, cpu=2, cpu_policy="dedicated")
    cloud.restart()
    for each in (uuid, other):
        client.wait(each, "Running")
    assert (cpus(cloud, uuid), cpus(cloud, other)) == ([0, 1], [2, 3])


# --- other sizes ------------------------------------------------------------------------------------


def test_whole_cpus_alone_are_dedicated(cloud: Cloud, client: Client) -> None:
    uuid = client.created(cpu=1, cpu_policy="dedicated")
    for line in (f"PATCH /containers/{uuid}", f"POST /containers/{uuid}/resize_container"):
        status, code, text = client.error(line, {"cpu": 1.5})
        assert (status, code) == (400, "container.invalid-value")
        assert "cpu" in text


def test_growing_adds_some_of_the_same_cell_and_shrinking_frees_the_highest(
    cloud: Cloud, client: Client
) -> None:
    uuid = dedicated(client, 1)
    other = dedicated(client, 1)
    client.call(f"PATCH /containers/{uuid}", {"cpu": 3})
    assert cpus(cloud, uuid) == [0, 2, 3]
    client.call(f"PATCH /containers/{uuid}", {"cpu": 2})
    assert (cpus(cloud, uuid), cpus(cloud, other)) == ([0, 2], [1])
    assert cpus(cloud, dedicated(client, 1)) == [3]
    assert client.error(f"PATCH /containers/{uuid}", {"cpu": 3}) == (
        409,
        "container.resources-unavailable",
        "The container's node has at most 2 CPUs with 896 MiB memory of one NUMA node to dedicate, "
        "3 with 64 asked.",
    )
    assert cpus(cloud, uuid) == [0, 2]


def test_memory_grows_as_far_as_the_cell_has_it(cloud: Cloud, client: Client) -> None:
    uuid = dedicated(client, 1, memory=500)
    dedicated(client, 1, memory=500)
    client.call(f"PATCH /containers/{uuid}", {"memory": 524})
    assert client.error(f"PATCH /containers/{uuid}", {"memory": 525})[0] == 409
    assert (cpus(cloud, uuid), cloud.row(uuid).memory) == ([0], "524")


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 2)])
def test_a_change_that_the_engine_refuses_leaves_those_of_before(
    cloud: Cloud, client: Client, before: int, after: int
) -> None:
    uuid = dedicated(client, before)
    cloud.engine.script("resize", error=RuntimeFailure("no"))
    assert client.error(f"PATCH /containers/{uuid}", {"cpu": after})[0] == 409
    assert cpus(cloud, uuid) == [*range(before)]
    assert cpus(cloud, dedicated(client, 4 - before)) == [*range(before, 4)]


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 2)])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_change_that_was_cut_short_is_finished_and_holds_both_sizes_until_then(
    cloud: Cloud, client: Client, before: int, after: int, moment: str
) -> None:
    uuid = dedicated(client, before)
    cloud.observer = death = Death("resize", "limits", moment)
    client.call(f"POST /containers/{uuid}/resize_container", {"cpu": after})
    until(lambda: death.count)
    assert cloud.row(uuid).cpuset["cpuset_cpus"] == [0, 1, 2]
    cloud.restart()
    cloud.wait_idle()
    assert cpus(cloud, uuid) == [*range(after)]
