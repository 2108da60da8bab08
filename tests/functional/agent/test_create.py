"""Creating a container on a node where something goes wrong: what is said, what is left, what is held."""

import pathlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Death
from tests.support.threads import refused
from tests.support.waiting import until
from tierce.agent.runner import Observer
from tierce.model.errors import ImagePullFailed, RuntimeFailure, RuntimeTimeout, RuntimeUnreachable

NewCloud = Callable[..., Cloud]


def nothing_is_left(cloud: Cloud) -> bool:
    """Nothing on the node, and nothing held of it."""
    engine = cloud.engine
    return (dict(engine.containers), set(engine.networks), cloud.claims()) == ({}, {"bridge"}, {})


def result(client: Client, uuid: str) -> list[tuple[str, str | None]]:
    """Event and result of each stage of the creation, in their order."""
    (action,) = client.call(f"GET /containers/{uuid}/container_actions")["containerActions"][-1:]
    events = client.call(f"GET /containers/{uuid}/container_actions/{action['request_id']}")["events"]
    return [
        (each["event"].removeprefix("compute__do_container_"), each["result"]) for each in reversed(events)
    ]


# --- it works -------------------------------------------------------------------------------------


def test_a_container_is_created_as_it_was_asked_for(cloud: Cloud, client: Client) -> None:
    uuid = client.running(
        name="web",
        command=["sleep", "60"],
        environment={"A": "1"},
        labels={"l": "v"},
        workdir="/srv",
        hostname="box",
        cpu=0.5,
        memory=128,
        tty=True,
        interactive=True,
        restart_policy={"Name": "on-failure", "MaximumRetryCount": "3"},
        nets=[{"network": "front"}, {"network": "back"}],
        mounts=[{"type": "bind", "source": "aGVsbG8=", "destination": "/etc/motd"}],
    )
    spec = cloud.engine.container(f"zun-{uuid}").spec
    assert (spec.command, spec.environment, spec.labels) == (["sleep", "60"], {"A": "1"}, {"l": "v"})
    assert (spec.workdir, spec.hostname, spec.cpus, spec.memory) == ("/srv", "box", 0.5, 128)
    assert (spec.tty, spec.interactive) == (True, True)
    assert (spec.restart_policy.name, spec.restart_policy.maximum_retry_count) == ("on-failure", 3)
    assert [network.network.split("-")[-1] for network in spec.networks] == ["front", "back"]
    assert [network.aliases for network in spec.networks] == [("web",)] * 2
    (mount,) = spec.mounts
    assert mount.target == "/etc/motd"
    with open(mount.source) as file:
        assert file.read() == "hello"
    shown = client.show(uuid) or {}
    assert [len(addresses) for addresses in shown["addresses"].values()] == [1, 1]


def test_every_stage_is_recorded(client: Client) -> None:
    uuid = client.running()
    assert result(client, uuid) == [("create", "Success"), ("start", "Success")]
    assert result(client, client.created()) == [("create", "Success")]


def test_what_is_left_to_the_image_is_filled_in(cloud: Cloud, client: Client) -> None:
    uuid = client.created(command=None)
    shown = client.show(uuid) or {}
    assert shown["hostname"] == cloud.engine.container(f"zun-{uuid}").id[:12]


# --- it fails -------------------------------------------------------------------------------------


def test_an_image_that_does_not_exist(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.create(run=True, image="nosuch/image:1")
    failed = cloud.client.wait(uuid, "Error")
    assert "manifest for nosuch/image:1 not found" in failed["status_reason"]
    assert cloud.client.actions(uuid) == [("create", "Error")]
    assert result(cloud.client, uuid) == [("create", "Error")]
    assert nothing_is_left(cloud)


def test_a_pull_that_fails(cloud: Cloud, client: Client) -> None:
    cloud.engine.script("images.pull", error=ImagePullFailed("toomanyrequests: slow down"))
    uuid = client.create(run=True, image="nginx")
    assert client.wait(uuid, "Error")["status_reason"] == "toomanyrequests: slow down"
    assert nothing_is_left(cloud)
    client.running(image="nginx")


@pytest.mark.parametrize("call", ["networks.ensure", "create"])
@pytest.mark.parametrize("lost", [False, True], ids=["refused", "done all the same"])
def test_a_step_that_fails_is_undone_with_those_before_it(
    cloud: Cloud, client: Client, call: str, lost: bool
) -> None:
    cloud.engine.script(call, error=RuntimeFailure("no space left on device"), lost=lost)
    mounts = [{"type": "volume", "size": 1, "destination": "/data"}]
    uuid = client.create(run=True, mounts=mounts)
    assert client.wait(uuid, "Error")["status_reason"] == "no space left on device"
    assert nothing_is_left(cloud)
    volumes = cloud.database_file.parent / "mnt"
    assert [path for path in volumes.iterdir() if path.is_dir()] == []


def test_a_container_that_cannot_be_looked_at_after_it_was_made_is_undone(
    cloud: Cloud, client: Client
) -> None:
    cloud.engine.script("inspect", error=RuntimeFailure("input/output error"))
    uuid = client.create()
    assert client.wait(uuid, "Error")["status_reason"] == "input/output error"
    assert nothing_is_left(cloud)


def test_a_fault_of_our_own_is_told_without_its_text(cloud: Cloud, client: Client) -> None:
    cloud.engine.script("create", error=ZeroDivisionError("secret"))
    uuid = client.create()
    reason = client.wait(uuid, "Error")["status_reason"]
    assert reason == "An unexpected error occurred; the log of the node agent has it."
    assert nothing_is_left(cloud)


def test_a_start_that_fails_keeps_the_container_its_place_and_its_files(cloud: Cloud, client: Client) -> None:
    mount = {"type": "bind", "source": "aGVsbG8=", "destination": "/etc/motd"}
    uuid = client.create(run=True, command=["/nosuch/program"], mounts=[mount])
    failed = client.wait(uuid, "Error")
    assert "/nosuch/program" in failed["status_reason"]
    assert result(client, uuid) == [("create", "Success"), ("start", "Error")]
    assert uuid in cloud.claims()
    (bound,) = cloud.engine.container(f"zun-{uuid}").spec.mounts
    assert pathlib.Path(bound.source).read_bytes() == b"hello"
    # The engine says that it was created: that is no news.
    cloud.restart()
    cloud.wait_sound()
    assert client.wait(uuid, "Error")["status_reason"] == failed["status_reason"]


def test_a_failed_container_can_be_deleted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.create(image="nosuch/image:1")
    cloud.client.wait(uuid, "Error")
    cloud.client.call(f"DELETE /containers/{uuid}")
    cloud.client.wait_gone(uuid)


# --- the engine is away ---------------------------------------------------------------------------


def test_an_engine_that_is_away_is_named(cloud: Cloud, client: Client) -> None:
    cloud.engine.go_down()
    uuid = client.create(run=True)
    assert "fake engine cannot be reached" in client.wait(uuid, "Error")["status_reason"]
    assert cloud.claims() == {}
    cloud.engine.come_back()
    client.running()


def test_a_creation_waits_a_while_for_an_engine_that_is_away(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"unreachable_retries": 100})
    cloud.engine.go_down()
    uuid = cloud.client.create(run=True)
    until(lambda: "It will be tried again" in ((cloud.client.show(uuid) or {})["status_reason"] or ""))
    assert (cloud.client.show(uuid) or {})["status"] == "Creating"
    assert uuid in cloud.claims()
    cloud.engine.come_back()
    assert cloud.client.wait(uuid, "Running")["status_reason"] is None
    assert cloud.client.actions(uuid) == [("create", None)]


def test_what_an_engine_did_not_answer_in_time_is_not_asked_again(new_cloud: NewCloud) -> None:
    """It may have done it all the same."""
    cloud = new_cloud(agent={"unreachable_retries": 100})
    cloud.engine.script("create", error=RuntimeTimeout("no answer in 60 s"))
    uuid = cloud.client.create(run=True)
    assert cloud.client.wait(uuid, "Error")["status_reason"] == "no answer in 60 s"
    assert cloud.client.actions(uuid) == [("create", "Error")]
    assert cloud.claims() == {}


def test_what_an_engine_made_before_it_went_away_is_removed_when_it_is_back(
    cloud: Cloud, client: Client
) -> None:
    made, gone = threading.Event(), threading.Event()
    cloud.observer = Pause("create", "container", "after", made, gone)
    uuid = client.create()
    made.wait(20)
    cloud.engine.go_down()
    gone.set()

    failed = client.wait(uuid, "Error")

    assert "cannot be reached" in failed["status_reason"]
    assert cloud.has_container(uuid)
    assert cloud.claims() == {}
    cloud.engine.come_back()
    until(lambda: not cloud.has_container(uuid))
    assert (client.show(uuid) or {})["status"] == "Error"


def test_an_answer_that_is_lost_leaves_nothing(cloud: Cloud, client: Client) -> None:
    cloud.engine.script("create", error=RuntimeUnreachable("connection reset"), lost=True)
    uuid = client.create(run=True)
    client.wait(uuid, "Error")
    assert nothing_is_left(cloud)


# --- many at once ---------------------------------------------------------------------------------


def together(count: int) -> Observer:
    """An observer that has so many creations begin to get their image at the same moment."""
    barrier = threading.Barrier(count)

    def observer(action: str, step: str, moment: str) -> None:
        if (step, moment) == ("image", "before"):
            barrier.wait(20)

    return observer


def test_a_pull_may_take_longer_than_a_node_may_to_reply(new_cloud: NewCloud) -> None:
    cloud = new_cloud(DEFAULT={"rpc_response_timeout": 1})
    cloud.engine.script("images.pull", delay=1.5)
    cloud.client.running(image="nginx")


def test_many_containers_of_one_image_are_one_pull(new_cloud: NewCloud) -> None:
    pulls = CountingRegistry()
    cloud = new_cloud(registry=pulls, observer=together(20))
    cloud.engine.script("images.pull", delay=0.5)
    uuids = [cloud.client.create(run=True, image="nginx:1.27") for _ in range(20)]
    for uuid in uuids:
        cloud.client.wait(uuid, "Running")
    assert pulls.asked == ["nginx:1.27"]


def test_a_shared_pull_that_fails_fails_for_all_and_the_next_try_is_a_new_one(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"workers": 1})
    release = cloud.hold("images.pull", ImagePullFailed("the registry is away"))
    uuids = [cloud.client.create(image="nginx:1.27") for _ in range(5)]
    until(lambda: [state for *_, state in cloud.unfinished()], lambda states: states == ["running"] * 5)
    cloud.client.created()  # the one worker comes to it when all the others wait for the pull
    release.set()
    for uuid in uuids:
        assert cloud.client.wait(uuid, "Error")["status_reason"] == "the registry is away"
    cloud.client.created(image="nginx:1.27")


def test_the_first_containers_of_one_network_make_it_once(cloud: Cloud, client: Client) -> None:
    uuids = [client.create(run=True, nets=[{"network": "web"}]) for _ in range(10)]
    for uuid in uuids:
        client.wait(uuid, "Running")
    assert len(cloud.engine.networks) == 2


# --- it dies on the way ----------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", ["image", "volumes", "networks", "container", "started"])
def test_a_creation_that_was_cut_short_is_finished_at_the_next_start(
    cloud: Cloud, client: Client, step: str, moment: str
) -> None:
    cloud.observer = death = Death("create", step, moment)
    uuid = client.create(run=True, mounts=[{"type": "volume", "size": 1, "destination": "/data"}])
    until(lambda: death.count)
    cloud.restart()
    client.wait(uuid, "Running")
    assert client.actions(uuid) == [("create", None)]
    assert set(result(client, uuid)) == {("create", "Success"), ("start", "Success")}
    assert len(cloud.engine.containers) == 1


def test_a_creation_that_always_ends_the_agent_is_given_up(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"max_attempts": 3})
    cloud.observer = death = Death("create", "container", "after", times=3)
    uuid = cloud.client.create(run=True)
    for count in (1, 2, 3):
        until(lambda count=count: death.count == count)
        cloud.restart()
    failed = cloud.client.wait(uuid, "Error")
    assert failed["status_reason"].startswith("Given up after 3 attempts")
    assert nothing_is_left(cloud)


class Pause:
    """An observer that stops at one boundary until it may go on."""

    def __init__(
        self, action: str, step: str, moment: str, reached: threading.Event, go_on: threading.Event
    ) -> None:
        self._where = (action, step, moment)
        self._reached = reached
        self._go_on = go_on

    def __call__(self, *where: str) -> None:
        if where == self._where:
            self._reached.set()
            self._go_on.wait(20)


class CountingRegistry(list[Any]):
    """Has every image, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __contains__(self, reference: object) -> bool:
        self.asked.append(str(reference))
        return True


def test_one_that_found_no_thread_is_made_at_the_next_look(new_cloud: NewCloud) -> None:
    """Nobody else is at work on the node, who could take it over."""
    cloud = new_cloud(agent={"poll_interval": 1})
    with refused("tierce-action") as tried:
        uuid = cloud.client.create(run=True)
        assert tried.wait(30)
    cloud.clock.advance(2)
    cloud.client.wait(uuid, "Running")
