"""Where clients connect to terminals, and the sizes of these: attach, exec without running, both resizes."""

import logging
import re
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.threads import at_once
from tests.support.waiting import until
from tierce.agent.terminals import Terminals
from tierce.db.tables import AttachSession, ExecInstance
from tierce.model.container import ExecState, RuntimeState
from tierce.model.errors import InvalidValue, RuntimeConflict

PROXY = {"websocket_proxy": {"base_url": "ws://proxy.example:6784/"}}


@pytest.fixture
def cloud(new_cloud: Callable[..., Cloud]) -> Cloud:
    return new_cloud(**PROXY)


def attaches(cloud: Cloud) -> list[AttachSession]:
    return cloud.database.read(lambda session: list(session.scalars(select(AttachSession))))


def execs(cloud: Cloud) -> list[ExecInstance]:
    return cloud.database.read(lambda session: list(session.scalars(select(ExecInstance))))


def parameters(url: str) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}


def node_terminals(cloud: Cloud) -> Terminals:
    """The node's part, as a proxy's end on the node will use it."""
    agent = cloud.nodes["node1"].agent
    assert agent is not None
    return agent.terminals


# --- attach -------------------------------------------------------------------------------------------


def test_an_attach_gives_a_url_with_a_token_that_is_stored_with_where_it_leads(
    cloud: Cloud, client: Client
) -> None:
    uuid = client.running(interactive=True)
    url = client.call(f"GET /containers/{uuid}/attach")
    token = parameters(url)["token"]
    assert url == f"ws://proxy.example:6784/?token={token}&uuid={uuid}"
    assert re.fullmatch("[0-9a-f-]{36}", token)
    row = cloud.row(uuid)
    assert row.websocket_token == token
    assert row.websocket_url is not None
    place, _, rest = row.websocket_url.partition("/v1.41/")
    assert re.fullmatch(r"ws://[0-9.]+:2375", place)
    assert rest == f"containers/{row.container_id}/attach/ws?logs=0&stream=1&stdin=1&stdout=1&stderr=1"


def test_attaches_in_quick_succession_all_stay_good(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    urls = at_once([lambda: client.call(f"GET /containers/{uuid}/attach")] * 4)
    urls += [client.call(f"GET /containers/{uuid}/attach") for _ in range(16)]
    tokens = [parameters(url)["token"] for url in urls]
    assert len(set(tokens)) == 20
    assert {each.token for each in attaches(cloud)} == set(tokens)
    assert cloud.row(uuid).websocket_token == tokens[-1]


def test_an_attach_disturbs_no_action_at_work(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    before = cloud.row(uuid)
    client.call(f"GET /containers/{uuid}/attach")
    after = cloud.row(uuid)
    assert (after.generation, after.updated_at) == (before.generation, before.updated_at)
    assert client.actions(uuid) == [("create", None)]


def test_only_an_interactive_container_can_be_attached_to(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    assert client.error(f"GET /containers/{uuid}/attach") == (
        400,
        "container.no-interactive-flag",
        "Container doesn't support to be attached, please check the interactive set properly",
    )
    assert attaches(cloud) == []


def test_only_a_running_container_can_be_attached_to(cloud: Cloud, client: Client) -> None:
    release = cloud.hold("create")
    creating = client.create(interactive=True)
    assert client.error(f"GET /containers/{creating}/attach")[:2] == (
        409,
        "container.invalid-state-exception",
    )
    release.set()
    client.wait(creating, "Created")
    assert client.error(f"GET /containers/{creating}/attach")[0] == 409


def test_one_that_has_ended_unnoticed_is_409_and_its_row_is_right_then(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    cloud.wait_idle()
    cloud.engine.containers[f"zun-{uuid}"].state = RuntimeState.EXITED
    status, code, _ = client.error(f"GET /containers/{uuid}/attach")
    assert (status, code) == (409, "container.conflict")
    assert (client.show(uuid) or {})["status"] == "Stopped"
    assert attaches(cloud) == []


def test_nothing_is_asked_of_a_node_that_is_down(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    exec_id = client.call(f"POST /containers/{uuid}/execute?command=sh&run=false")["exec_id"]
    cloud.lose_node("node1")
    for line in (
        f"GET /containers/{uuid}/attach",
        f"POST /containers/{uuid}/execute?command=sh&run=false",
        f"POST /containers/{uuid}/resize?h=24&w=80",
        f"POST /containers/{uuid}/execute_resize?exec_id={exec_id}&h=24&w=80",
        f"GET /containers/{uuid}/get_archive?path=/tmp",
    ):
        assert client.error(line)[:2] == (409, "container.container-host-not-up")
    cloud.start_node("node1")


def test_the_tokens_go_with_the_container(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    client.call(f"GET /containers/{uuid}/attach")
    client.call(f"POST /containers/{uuid}/execute?command=sh&run=false")
    client.call(f"DELETE /containers/{uuid}?stop=true")
    client.wait_gone(uuid)
    assert (attaches(cloud), execs(cloud)) == ([], [])


# --- the proxy's address ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"base_url": "wss://proxy.example"}, "wss://proxy.example?token={token}&uuid={uuid}"),
        (
            {"base_url": "wss://proxy.example/a?tenant=1"},
            "wss://proxy.example/a?tenant=1&token={token}&uuid={uuid}",
        ),
        ({"wsproxy_host": "192.0.2.7"}, "ws://192.0.2.7:6784/?token={token}&uuid={uuid}"),
        (
            {"wsproxy_host": "2001:db8::7", "wsproxy_port": 80},
            "ws://[2001:db8::7]:80/?token={token}&uuid={uuid}",
        ),
    ],
)
def test_the_url_begins_with_the_proxy_s_public_address(
    new_cloud: Callable[..., Cloud], options: dict[str, object], expected: str
) -> None:
    client = new_cloud(websocket_proxy=options).client
    uuid = client.running(interactive=True)
    url = client.call(f"GET /containers/{uuid}/attach")
    assert url == expected.format(token=parameters(url)["token"], uuid=uuid)


@pytest.mark.parametrize("url", ["http://proxy.example/", "proxy.example", "ws://", "ws://[::1"])
def test_an_address_that_no_client_would_take_stops_the_start(
    new_cloud: Callable[..., Cloud], url: str
) -> None:
    cloud = new_cloud()
    cloud.stop()
    cloud._options = {"websocket_proxy": {"base_url": url}}
    with pytest.raises(InvalidValue, match="base_url"):
        cloud.start()


def test_where_the_engine_is_reached_can_be_told(new_cloud: Callable[..., Cloud]) -> None:
    files = dict.fromkeys(("ca_file", "cert_file", "key_file"), "/etc/docker/x.pem")
    cloud = new_cloud(
        docker={"docker_remote_api_host": "2001:db8::5", "docker_remote_api_port": 2376, **files}
    )
    client = cloud.client
    uuid = client.running(interactive=True)
    client.call(f"GET /containers/{uuid}/attach")
    client.call(f"POST /containers/{uuid}/execute?command=sh&run=false")
    assert (cloud.row(uuid).websocket_url or "").startswith("wss://[2001:db8::5]:2376/v1.41/")
    assert [each.url for each in execs(cloud)] == ["tcp://[2001:db8::5]:2376"]


# --- exec that waits for a client ---------------------------------------------------------------------


@pytest.mark.parametrize("interactive", [True, False])
def test_an_exec_that_is_not_run_waits_for_a_client(cloud: Cloud, client: Client, interactive: bool) -> None:
    uuid = client.running()
    answer = client.call(
        f"POST /containers/{uuid}/execute", {"command": "ls 'a b'", "run": False, "interactive": interactive}
    )
    (row,) = execs(cloud)
    exec_id, token = row.exec_id, row.token
    assert answer == {
        "output": None,
        "exit_code": None,
        "exec_id": exec_id,
        "proxy_url": f"ws://proxy.example:6784/?token={token}&uuid={uuid}&exec_id={exec_id}",
    }
    assert re.fullmatch("[0-9a-f]{64}", exec_id)
    assert (row.url or "").startswith("tcp://")
    waiting = cloud.engine.execs[exec_id]
    assert (waiting.command, waiting.interactive) == (["ls", "a b"], interactive)
    assert waiting.state == ExecState.PREPARED


def test_one_that_is_run_may_have_a_terminal_too(client: Client) -> None:
    uuid = client.running()
    line = f"POST /containers/{uuid}/execute?command=echo+x&run=true&interactive="
    assert client.call(line + "false")["output"] == "x\n"
    assert client.call(line + "true")["output"] == "x\r\n"


def test_an_exec_that_the_engine_refuses_is_409_and_leaves_nothing(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.engine.script("terminals.prepare", error=RuntimeConflict(f"Container {uuid} is not running"))
    status, code, _ = client.error(f"POST /containers/{uuid}/execute?command=sh&run=false")
    assert (status, code) == (409, "container.conflict")
    assert execs(cloud) == []


# --- sizes --------------------------------------------------------------------------------------------


def test_a_terminal_gets_the_size_that_is_asked_for(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True, tty=True)
    assert client.request(f"POST /containers/{uuid}/resize?h=24&w=80").text == "null"
    assert cloud.engine.containers[f"zun-{uuid}"].terminal == (24, 80)
    client.call(f"POST /containers/{uuid}/resize", {"h": 50, "w": "132"})
    assert cloud.engine.containers[f"zun-{uuid}"].terminal == (50, 132)


@pytest.fixture
def waiting(client: Client) -> tuple[str, str]:
    """A container and an exec in it that nobody has started."""
    uuid = client.running()
    line = f"POST /containers/{uuid}/execute?command=sh&run=false&interactive=true"
    return uuid, client.call(line)["exec_id"]


def resize_exec(client: Client, uuid: str, exec_id: str, height: int, width: int) -> Any:
    line = f"POST /containers/{uuid}/execute_resize?exec_id={exec_id}&h={height}&w={width}"
    return client.call(line)


def test_a_running_exec_is_resized_at_once(cloud: Cloud, client: Client, waiting: tuple[str, str]) -> None:
    uuid, exec_id = waiting
    cloud.engine.execs[exec_id].state = ExecState.RUNNING
    assert resize_exec(client, uuid, exec_id, 24, 80) is None
    assert cloud.engine.execs[exec_id].terminal == (24, 80)


def test_before_its_start_a_size_is_kept_and_given_at_the_start(
    cloud: Cloud, client: Client, waiting: tuple[str, str]
) -> None:
    uuid, exec_id = waiting
    resize_exec(client, uuid, exec_id, 10, 20)
    resize_exec(client, uuid, exec_id, 30, 40)
    assert cloud.engine.execs[exec_id].terminal is None
    cloud.restart()
    cloud.engine.execs[exec_id].state = ExecState.RUNNING
    node_terminals(cloud).apply_size(exec_id)
    assert cloud.engine.execs[exec_id].terminal == (30, 40)


def test_of_many_sizes_at_once_the_last_one_stays(
    cloud: Cloud, client: Client, waiting: tuple[str, str]
) -> None:
    uuid, exec_id = waiting
    cloud.engine.execs[exec_id].state = ExecState.RUNNING
    held = cloud.hold("terminals.resize_exec")
    slow = threading.Thread(target=resize_exec, args=(client, uuid, exec_id, 1, 1))
    slow.start()
    until(lambda: [each.height for each in execs(cloud)] == [1])
    for size in range(2, 51):
        resize_exec(client, uuid, exec_id, size, size)
    held.set()
    slow.join()
    assert cloud.engine.execs[exec_id].terminal == (50, 50)


def test_an_exec_that_has_ended_has_no_size(cloud: Cloud, client: Client, waiting: tuple[str, str]) -> None:
    uuid, exec_id = waiting
    line = f"POST /containers/{uuid}/execute_resize?exec_id={exec_id}&h=24&w=80"
    cloud.engine.execs[exec_id].state = ExecState.ENDED
    assert client.error(line) == (409, "container.conflict", f"Exec instance {exec_id} has ended.")
    del cloud.engine.execs[exec_id]
    assert client.error(line)[:2] == (404, "container.exec-instance-not-found")


def test_one_that_ends_while_it_is_resized_is_no_failure_of_the_service(
    cloud: Cloud, client: Client, waiting: tuple[str, str]
) -> None:
    uuid, exec_id = waiting
    running = cloud.engine.execs[exec_id]
    running.state = ExecState.RUNNING
    held = cloud.hold("terminals.resize_exec")
    answers: list[tuple[int, str, str]] = []
    line = f"POST /containers/{uuid}/execute_resize?exec_id={exec_id}&h=24&w=80"
    asking = threading.Thread(target=lambda: answers.append(client.error(line)))
    asking.start()
    until(lambda: [each.height for each in execs(cloud)] == [24])
    running.state = ExecState.ENDED
    held.set()
    asking.join()
    assert [answer[0] for answer in answers] == [409]


def test_an_exec_belongs_to_its_container(cloud: Cloud, client: Client, waiting: tuple[str, str]) -> None:
    _, exec_id = waiting
    cloud.engine.execs[exec_id].state = ExecState.RUNNING
    other = client.running()
    for unknown in (exec_id, "0" * 64):
        line = f"POST /containers/{other}/execute_resize?exec_id={unknown}&h=24&w=80"
        assert client.error(line)[:2] == (404, "container.exec-instance-not-found")
    assert cloud.engine.execs[exec_id].terminal is None


# --- what is left over --------------------------------------------------------------------------------


def test_old_tokens_and_ended_execs_are_forgotten(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    for _ in range(4):
        client.call(f"POST /containers/{uuid}/execute?command=sh&run=false")
    client.call(f"GET /containers/{uuid}/attach")
    unopened, running, ended, forgotten = [each.exec_id for each in execs(cloud)]
    cloud.engine.execs[running].state = ExecState.RUNNING
    cloud.engine.execs[ended].state = ExecState.ENDED
    del cloud.engine.execs[forgotten]

    node_terminals(cloud).tidy()
    assert (len(execs(cloud)), len(attaches(cloud))) == (4, 1)

    cloud.clock.advance(700)
    cloud.restart()
    client.call(f"GET /containers/{uuid}/attach")
    node_terminals(cloud).tidy()
    assert [each.exec_id for each in execs(cloud)] == [running]
    assert [each.token for each in attaches(cloud)] == [cloud.row(uuid).websocket_token]
    assert unopened in cloud.engine.execs


def test_tokens_without_an_end_are_kept_and_ended_execs_are_not(new_cloud: Callable[..., Cloud]) -> None:
    cloud = new_cloud(websocket_proxy={"token_ttl": 0})
    client = cloud.client
    uuid = client.running(interactive=True)
    client.call(f"GET /containers/{uuid}/attach")
    for _ in range(2):
        client.call(f"POST /containers/{uuid}/execute?command=sh&run=false")
    unopened, ended = [each.exec_id for each in execs(cloud)]
    cloud.engine.execs[ended].state = ExecState.ENDED
    cloud.clock.advance(100_000)
    node_terminals(cloud).tidy()
    assert [each.exec_id for each in execs(cloud)] == [unopened]
    assert len(attaches(cloud)) == 1


def test_no_token_is_in_the_log(cloud: Cloud, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    uuid = client.running(interactive=True)
    client.call(f"GET /containers/{uuid}/attach")
    client.call(f"POST /containers/{uuid}/execute?command=sh&run=false")
    tokens = [each.token for each in (*attaches(cloud), *execs(cloud))]
    assert len(tokens) == 2
    assert not any(token and token in caplog.text for token in tokens)
