"""Start, stop and the like where the engine refuses or is away; and looking inside."""

import datetime
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Death
from tests.support.threads import Gate
from tests.support.waiting import until
from tierce.db import actions
from tierce.model.container import RuntimeState
from tierce.model.context import service_context
from tierce.model.errors import RuntimeConflict, RuntimeFailure, RuntimeTimeout, RuntimeUnreachable
from tierce.runtimes.fake import FakeRuntime

NewCloud = Callable[..., Cloud]
CALLS = {"stop": "stop", "pause": "pause", "kill": "kill", "reboot": "restart"}


def misleading(kind: type[RuntimeFailure]) -> RuntimeFailure:
    """An error whose text has the words that must not count."""
    return kind("container ab404c1 of team/paused-app is not running, 404 No such container")


def queue(cloud: Cloud, uuid: str, action: str, arguments: dict[str, object]) -> None:
    """As the API does whose message is lost."""
    cloud.database.write(
        lambda session: actions.enqueue(
            session,
            service_context(),
            action=action,
            container_uuid=uuid,
            host="node1",
            arguments=arguments,
            now=cloud.clock.now(),
        )
    )


# --- actions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RuntimeConflict, RuntimeFailure, RuntimeTimeout, RuntimeUnreachable])
@pytest.mark.parametrize("action", CALLS)
def test_a_refusal_leaves_the_status_that_is_true_with_the_reason_beside_it(
    cloud: Cloud, client: Client, action: str, kind: type[RuntimeFailure]
) -> None:
    uuid = client.running()
    cloud.engine.script(CALLS[action], error=misleading(kind))
    client.call(f"POST /containers/{uuid}/{action}")
    cloud.wait_idle()
    shown = client.wait(uuid, "Running")
    assert shown["status_reason"] == str(misleading(kind))
    assert client.actions(uuid) == [("create", None), (action, "Error")]
    client.call(f"POST /containers/{uuid}/stop")
    assert client.wait(uuid, "Stopped")["status_reason"] is None


def test_a_reboot_that_failed_keeps_its_reason_when_the_container_is_found_to_be_gone(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running()
    cloud.wait_idle()
    away = RuntimeUnreachable("The engine cannot be reached.")
    cloud.engine.script("restart", error=away)
    cloud.engine.script("inspect", error=away)
    client.call(f"POST /containers/{uuid}/reboot")
    cloud.wait_idle()
    FakeRuntime(cloud.engine).containers.remove(f"zun-{uuid}")
    cloud.restart()
    assert client.wait(uuid, "Error")["status_reason"] == str(away)


def test_a_start_that_is_refused_is_an_error_that_can_be_tried_again(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    cloud.engine.script("start", error=RuntimeFailure("driver failed programming external connectivity"))
    client.call(f"POST /containers/{uuid}/start")
    assert client.wait(uuid, "Error")["status_reason"] == "driver failed programming external connectivity"
    client.call(f"POST /containers/{uuid}/start")
    assert client.wait(uuid, "Running")["status_reason"] is None


def test_what_was_done_although_the_answer_was_lost_is_seen(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.script("stop", error=RuntimeTimeout("no answer in 60 s"), lost=True)
    client.call(f"POST /containers/{uuid}/stop")
    client.wait(uuid, "Stopped")
    assert client.actions(uuid)[-1] == ("stop", "Error")


def test_an_engine_that_cannot_be_asked_leaves_the_status_as_it_was(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.go_down()
    client.call(f"POST /containers/{uuid}/stop")
    until(lambda: client.actions(uuid)[-1] == ("stop", "Error"))
    shown = client.wait(uuid, "Running")
    assert "cannot be reached" in shown["status_reason"]
    cloud.engine.come_back()


def test_a_stop_waits_a_while_for_an_engine_that_is_away(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"unreachable_retries": 100})
    uuid = cloud.client.running()
    cloud.engine.go_down()
    cloud.client.call(f"POST /containers/{uuid}/stop")
    until(lambda: (cloud.client.show(uuid) or {})["status_reason"])
    cloud.engine.come_back()
    cloud.client.wait(uuid, "Stopped")
    assert cloud.client.actions(uuid) == [("create", None), ("stop", None)]


def test_what_took_too_long_is_not_done_twice(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"unreachable_retries": 100})
    uuid = cloud.client.running()
    cloud.engine.script("restart", error=RuntimeTimeout("no answer in 60 s"), lost=True)
    cloud.client.call(f"POST /containers/{uuid}/reboot")
    cloud.client.wait(uuid, "Running")
    assert cloud.client.actions(uuid)[-1] == ("reboot", "Error")


def test_a_reboot_that_the_engine_never_heard_of_ends_where_it_began_and_says_why(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running()
    cloud.engine.go_down()
    client.call(f"POST /containers/{uuid}/reboot")
    until(lambda: client.actions(uuid)[-1] == ("reboot", "Error"))
    cloud.engine.come_back()
    assert "cannot be reached" in client.wait(uuid, "Running")["status_reason"]
    client.call(f"POST /containers/{uuid}/reboot")
    cloud.wait_idle()
    assert client.wait(uuid, "Running")["status_reason"] is None


@pytest.mark.parametrize("action", ["start", "reboot"])
def test_one_that_was_never_made_keeps_the_reason_whatever_is_tried(new_cloud: NewCloud, action: str) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.create(image="nosuch:1")
    cloud.client.wait(uuid, "Error")
    cloud.client.call(f"POST /containers/{uuid}/{action}")
    cloud.wait_sound()
    assert cloud.client.actions(uuid)[-1] == (action, "Error")
    assert cloud.client.wait(uuid, "Error")["status_reason"] == "manifest for nosuch:1 not found"


def test_one_that_was_never_made_cannot_be_looked_into(new_cloud: NewCloud) -> None:
    cloud = new_cloud(registry=())
    uuid = cloud.client.create(image="nosuch:1")
    cloud.client.wait(uuid, "Error")
    status, code, text = cloud.client.error(f"GET /containers/{uuid}/logs")
    assert (status, code) == (400, "container.invalid")
    assert "uncreated" in text
    assert cloud.client.wait(uuid, "Error")["status_reason"] == "manifest for nosuch:1 not found"


def test_one_that_is_gone_when_it_is_restarted_says_so(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    with cloud.engine.lock:
        del cloud.engine.containers[f"zun-{uuid}"]
    client.call(f"POST /containers/{uuid}/reboot")
    cloud.wait_sound()
    assert "No such container" in client.wait(uuid, "Error")["status_reason"]


def test_a_stop_that_does_not_end_the_process_has_failed(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    hanging = cloud.engine.container(f"zun-{uuid}")
    hanging.unkillable = True
    client.call(f"POST /containers/{uuid}/stop")
    cloud.wait_idle()
    assert "did not exit" in client.wait(uuid, "Running")["status_reason"]
    assert client.actions(uuid)[-1] == ("stop", "Error")
    assert uuid in cloud.claims()
    hanging.unkillable = False
    client.call(f"POST /containers/{uuid}/stop")
    assert client.wait(uuid, "Stopped")["status_reason"] is None


def test_a_stop_after_which_it_was_started_again_is_done(cloud: Cloud, client: Client) -> None:
    """Its policy has, or somebody on the node, before anybody could look at what the stop had done."""
    uuid = client.running(restart_policy={"Name": "always"})
    stopping = Gate()
    cloud.engine.script("stop", until=stopping)
    client.call(f"POST /containers/{uuid}/stop")
    assert stopping.reached.wait(30)
    cloud.clock.advance(5)
    cloud.engine.exit(f"zun-{uuid}", 0)
    cloud.engine.container(f"zun-{uuid}").unkillable = True  # the new process, which the stop is not about
    stopping.set()
    cloud.wait_idle()
    assert client.wait(uuid, "Running")["status_reason"] is None
    assert client.actions(uuid)[-1] == ("stop", None)


def test_a_signal_that_it_survives_leaves_it_running(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    client.call(f"POST /containers/{uuid}/kill?signal=HUP")
    cloud.wait_idle()
    assert (client.show(uuid) or {})["status"] == "Running"
    client.call(f"POST /containers/{uuid}/kill")
    assert client.wait(uuid, "Stopped")["status_detail"].startswith("Exited(137)")


def test_a_reboot_runs_it_anew(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    first, began = cloud.engine.container(f"zun-{uuid}").pid, cloud.row(uuid).started_at
    assert began is not None
    cloud.clock.advance(60)
    client.call(f"POST /containers/{uuid}/reboot")
    client.wait(uuid, "Running")
    assert cloud.engine.container(f"zun-{uuid}").pid != first
    assert (cloud.row(uuid).started_at or began) - began >= datetime.timedelta(seconds=59)


def test_a_reboot_of_what_cannot_be_started_says_why(client: Client) -> None:
    uuid = client.create(run=True, command=["/nosuch/program"])
    client.wait(uuid, "Error")
    client.call(f"POST /containers/{uuid}/reboot")
    assert "/nosuch/program" in client.wait(uuid, "Error")["status_reason"]
    assert client.actions(uuid)[-1] == ("reboot", "Error")


# --- looking inside ---------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["POST execute?command=ls", "GET top", "GET stats"])
def test_a_look_into_what_has_ended_is_a_conflict_and_corrects_the_row_at_once(
    cloud: Cloud, client: Client, line: str
) -> None:
    uuid = client.running()
    method, _, rest = line.partition(" ")
    cloud.wait_sound()
    with cloud.engine.lock:  # no event tells of it
        container = cloud.engine.container(f"zun-{uuid}")
        container.state, container.exit_code = RuntimeState.EXITED, 3

    status, code, _ = client.error(f"{method} /containers/{uuid}/{rest}")

    assert (status, code) == (409, "container.conflict")
    shown = client.show(uuid) or {}
    assert (shown["status"], shown["status_detail"]) == ("Stopped", "Exited(3)")


def test_a_look_into_what_is_gone_is_a_conflict_and_corrects_the_row_at_once(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running()
    cloud.wait_sound()
    with cloud.engine.lock:
        del cloud.engine.containers[f"zun-{uuid}"]
    assert client.error(f"GET /containers/{uuid}/logs")[0] == 409
    assert (client.show(uuid) or {})["status"] == "Error"


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        (RuntimeConflict, 409, "container.conflict"),
        (RuntimeFailure, 500, "container.docker-error"),
        (RuntimeUnreachable, 503, "container.runtime-unreachable"),
        (RuntimeTimeout, 504, "container.runtime-timeout"),
    ],
)
def test_what_the_engine_answers_is_told_by_its_kind_and_not_by_its_words(
    cloud: Cloud, client: Client, kind: type[RuntimeFailure], status: int, code: str
) -> None:
    uuid = client.running()
    cloud.engine.script("logs", error=misleading(kind))
    assert client.error(f"GET /containers/{uuid}/logs") == (status, code, str(misleading(kind)))
    assert (client.show(uuid) or {})["status"] == "Running"


def test_a_fault_of_the_node_is_told_without_its_text(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.script("logs", error=ZeroDivisionError("secret"))
    status, code, text = client.error(f"GET /containers/{uuid}/logs")
    assert (status, code) == (500, "container.internal-server-error")
    assert "secret" not in text


def test_a_command_that_takes_too_long_is_ended_and_the_limit_named(new_cloud: NewCloud) -> None:
    cloud = new_cloud(docker={"execute_timeout": 1})
    uuid = cloud.client.running()
    assert cloud.client.error(f"POST /containers/{uuid}/execute", {"command": ["sleep", "1000"]}) == (
        409,
        "container.conflict",
        "Timeout on executing command: sleep 1000 (limit: 1 s)",
    )
    assert cloud.client.call(f"POST /containers/{uuid}/execute?command=echo+hi")["output"] == "hi\n"


def test_who_looks_inside_does_not_wait_for_a_command_that_takes_its_time(
    cloud: Cloud, client: Client
) -> None:
    uuid, gate = client.running(), Gate()
    cloud.engine.script("execute", until=gate)
    line = f"POST /containers/{uuid}/execute?command=echo+"
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.call, f"{line}slow")
        try:
            assert gate.reached.wait(20)
            assert client.call(f"{line}quick")["output"] == "quick\n"
            assert client.call(f"GET /containers/{uuid}/logs") == ""
            assert not slow.done()
        finally:
            gate.set()
        assert slow.result(20)["output"] == "slow\n"


def test_of_output_that_is_not_utf_8_the_rest_is_told(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    with cloud.engine.lock:
        cloud.engine.container(f"zun-{uuid}").log.append((cloud.clock.now(), "stdout", b"caf\xe9\n"))
    assert client.call(f"GET /containers/{uuid}/logs") == "caf\N{REPLACEMENT CHARACTER}\n"


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [("true", "", 0), ("exit 3", "", 3), ("echo 'a  b'", "a  b\n", 0), ("/nosuch/x", "OCI", 127)],
)
def test_a_command_s_output_and_exit_code_come_back(
    client: Client, command: str, output: str, code: int
) -> None:
    uuid = client.running()
    answer = client.call(f"POST /containers/{uuid}/execute", {"command": command})
    assert (answer["output"].startswith(output), answer["exit_code"]) == (True, code)
    assert (answer["exec_id"], answer["proxy_url"]) == (None, None)


def test_a_kill_that_got_through_before_the_agent_died_is_done(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.observer = death = Death("kill", "kill", "after")
    client.call(f"POST /containers/{uuid}/kill")
    until(lambda: death.count)
    cloud.restart()
    assert client.wait(uuid, "Stopped")["status_reason"] is None
    assert client.actions(uuid) == [("create", None), ("kill", None)]


@pytest.mark.parametrize(
    ("action", "step", "before"), [("start", "started", "stop"), ("reboot", "reboot", None)]
)
def test_what_has_run_since_the_agent_died_is_not_run_twice(
    cloud: Cloud, client: Client, action: str, step: str, before: str | None
) -> None:
    uuid = client.running()
    if before is not None:
        client.call(f"POST /containers/{uuid}/{before}")
        client.wait(uuid, "Stopped")
    cloud.clock.advance(5)
    cloud.observer = death = Death(action, step, "after")
    client.call(f"POST /containers/{uuid}/{action}")
    until(lambda: death.count)
    container = cloud.engine.container(f"zun-{uuid}")
    started = container.started_at
    cloud.engine.exit(f"zun-{uuid}", 3)
    cloud.clock.advance(5)
    cloud.restart()
    assert client.wait(uuid, "Stopped")["status_detail"].startswith("Exited(3)")
    assert container.started_at == started
    assert client.actions(uuid)[-1] == (action, None)


# --- waiting --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ("POST /containers/{}/stop", "stop"),
        ("POST /containers/{}/reboot", "restart"),
        ("DELETE /containers/{}?stop=true", "stop"),
    ],
)
def test_processes_that_do_not_end_hold_up_nobody_else(new_cloud: NewCloud, line: str, held: str) -> None:
    """A member may ask for an hour of grace, and for as many stops as there are workers."""
    cloud = new_cloud(agent={"workers": 1})
    slow = [cloud.client.running() for _ in range(3)]
    for _ in slow:
        cloud.hold(held)
    for uuid in slow:
        cloud.client.call(line.format(uuid))
    cloud.client.created()


def test_images_that_do_not_come_hold_up_nobody_else(new_cloud: NewCloud) -> None:
    """A member may have a registry that sends a byte now and then."""
    cloud = new_cloud(agent={"workers": 1})
    for number in range(3):
        cloud.hold("images.pull")
        cloud.client.create(image=f"slow{number}")
    cloud.client.created()


def test_a_kill_does_not_wait_for_the_grace_that_was_given_before(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    grace = Gate()
    cloud.engine.script("stop", until=grace)
    client.call(f"POST /containers/{uuid}/stop?timeout=3600")
    assert grace.reached.wait(30)
    client.call(f"POST /containers/{uuid}/kill")
    until(lambda: cloud.engine.container(f"zun-{uuid}").state, lambda state: state is RuntimeState.EXITED)
    grace.set()
    cloud.wait_idle()
    assert client.wait(uuid, "Stopped")["status_reason"] is None
    assert client.actions(uuid) == [("create", None), ("stop", None), ("kill", None)]


@pytest.mark.parametrize("signal", ["", "?signal=SIGKILL"])
def test_a_kill_that_was_accepted_before_the_grace_began_is_not_kept_waiting(
    cloud: Cloud, client: Client, signal: str
) -> None:
    """The node's agent was away, and its messages with it: it finds both in the queue."""
    uuid = client.running()
    cloud.stop_node("node1")
    client.call(f"POST /containers/{uuid}/stop?timeout=3600")
    client.call(f"POST /containers/{uuid}/kill{signal}")
    grace = cloud.hold("stop")
    cloud.configure(DEFAULT={"transport_url": f"inprocess:///instead-of-{uuid}"})
    cloud.restart()
    until(lambda: cloud.engine.container(f"zun-{uuid}").state, lambda state: state is RuntimeState.EXITED)
    grace.set()
    cloud.wait_idle()
    assert client.actions(uuid) == [("create", None), ("stop", None), ("kill", None)]


def test_a_kill_of_which_the_node_hears_first_is_not_kept_waiting_either(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running()
    grace = cloud.hold("stop")
    queue(cloud, uuid, "stop", {"timeout": 3600})
    client.call(f"POST /containers/{uuid}/kill")
    until(lambda: cloud.engine.container(f"zun-{uuid}").state, lambda state: state is RuntimeState.EXITED)
    grace.set()
    cloud.wait_idle()
    assert client.actions(uuid) == [("create", None), ("stop", None), ("kill", None)]


def test_a_kill_whose_message_is_lost_ends_the_grace_at_the_next_look(new_cloud: NewCloud) -> None:
    cloud = new_cloud(agent={"poll_interval": 1})
    uuid = cloud.client.running()
    grace = Gate()
    cloud.engine.script("stop", until=grace)
    cloud.client.call(f"POST /containers/{uuid}/stop?timeout=3600")
    assert grace.reached.wait(30)
    queue(cloud, uuid, "kill", {"signal": None})
    until(lambda: cloud.engine.container(f"zun-{uuid}").state, lambda state: state is RuntimeState.EXITED)
    grace.set()
    cloud.client.wait(uuid, "Stopped")


def test_another_signal_waits_for_its_turn(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    grace = cloud.hold("stop")
    client.call(f"POST /containers/{uuid}/stop")
    client.call(f"POST /containers/{uuid}/kill?signal=USR1")
    grace.set()
    cloud.wait_idle()
    assert "not running" in client.wait(uuid, "Stopped")["status_reason"]
    assert client.actions(uuid) == [("create", None), ("stop", None), ("kill", "Error")]


@pytest.mark.parametrize("action", ["stop", "reboot"])
def test_a_delete_by_force_does_not_wait_for_the_grace_that_was_given_before(
    cloud: Cloud, client: Client, action: str
) -> None:
    uuid = client.running()
    grace = Gate()
    cloud.engine.script(CALLS[action], until=grace)
    client.call(f"POST /containers/{uuid}/{action}?timeout=3600")
    assert grace.reached.wait(30)
    client.call(f"DELETE /containers/{uuid}?force=true")
    until(lambda: cloud.engine.container(f"zun-{uuid}").state, lambda state: state is RuntimeState.EXITED)
    grace.set()
    client.wait_gone(uuid)
