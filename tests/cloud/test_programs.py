"""How the programs start, stop, and keep out of each other's way."""

import os
import pathlib
import signal
import subprocess
import sys

import psutil
import pytest

from tests.support.programs import Program, Programs
from tests.support.rabbitmq import RabbitMQ
from tests.support.service import Http
from tests.support.waiting import until


def workers(programs: Programs) -> set[int]:
    return {child.pid for child in psutil.Process(programs.api.pid).children()}


def test_a_worker_that_dies_is_replaced(programs: Programs, http: Http) -> None:
    before = until(lambda: workers(programs), lambda seen: len(seen) == 2)
    os.kill(min(before), signal.SIGKILL)
    after = until(lambda: workers(programs), lambda seen: len(seen) == 2 and seen != before)
    assert max(before) in after
    assert [http.raw("GET", "/containers").status_code for _ in range(10)] == [200] * 10


def test_an_api_refuses_to_start_on_a_port_that_another_one_has(programs: Programs) -> None:
    second = Program(programs.configure("second", api={"port": programs.port}), "api")
    second.start()
    assert second.wait() == 1
    assert f"127.0.0.1:{programs.port}" in second.log
    assert "Traceback" not in second.log


def test_an_api_stops_with_all_its_workers(alone: Programs) -> None:
    alone.api.start()
    alone.wait_answering()
    processes = [psutil.Process(pid) for pid in workers(alone)]
    assert alone.api.stop() == 0
    assert not any(process.is_running() for process in processes)


def test_workers_do_not_outlive_their_parent(alone: Programs) -> None:
    alone.api.start()
    alone.wait_answering()
    processes = [psutil.Process(pid) for pid in workers(alone)]
    alone.api.kill()
    until(lambda: [process for process in processes if process.is_running()], lambda left: not left)


def test_an_agent_refuses_to_start_beside_another_one_of_its_node(programs: Programs) -> None:
    for second in (programs.beside("node1"), programs.agent("node1", state="elsewhere")):
        second.start()
        assert second.wait() == 1
        assert "node1" in second.log
        assert "Traceback" not in second.log
    assert programs.agents["node1"].runs


def test_a_node_goes_to_another_machine_once_its_own_is_forced_down_and_the_old_agent_ends(
    alone: Programs,
) -> None:
    alone.start()
    http = Http(alone)
    http.call("PUT", "/services/force_down?host=node1&binary=zun-compute&forced_down=true")
    elsewhere = alone.agent("node1", state="elsewhere")
    elsewhere.start()
    assert alone.agents["node1"].wait() == 1
    elsewhere.wait_serving()
    http.call("PUT", "/services/force_down?host=node1&binary=zun-compute&forced_down=false")
    http.wait(http.create(image="busybox", command=["sleep", "1000"]), "Running")
    assert elsewhere.stop() == 0


def test_an_agent_that_was_stopped_leaves_its_node_to_another_machine(alone: Programs) -> None:
    alone.start()
    assert alone.agents["node1"].stop() == 0
    elsewhere = alone.agent("node1", state="elsewhere")
    elsewhere.start()
    elsewhere.wait_serving()
    http = Http(alone)
    http.wait(http.create(image="busybox", command=["sleep", "1000"]), "Running")
    assert elsewhere.stop() == 0


@pytest.mark.parametrize("wrong", ["password", "vhost"])
def test_an_agent_that_the_bus_does_not_let_in_says_so_and_its_node_is_never_up(
    alone: Programs, rabbitmq: RabbitMQ, wrong: str
) -> None:
    alone.api.start()
    alone.wait_answering()
    right = rabbitmq.url()
    url = right.replace(rabbitmq.password, "hunter2") if wrong == "password" else f"{right}-nosuch"
    agent = alone.agent("node1", DEFAULT={"transport_url": url})
    agent.start()
    assert agent.wait() == 1
    assert "The message bus refuses this node" in agent.log
    assert "Traceback" not in agent.log
    assert url not in agent.log
    assert "hunter2" not in agent.log
    assert Http(alone).call("GET", "/services")["services"] == []


def test_an_agent_stops_while_the_bus_is_silent_and_gives_its_node_up(
    alone: Programs, rabbitmq: RabbitMQ
) -> None:
    alone.start()
    agent = alone.agents["node1"]
    with rabbitmq.silent():
        assert agent.stop() == 0
    assert "Stopping" in agent.log
    # Well before its heartbeat would be missed: another agent may have the node at once.
    elsewhere = alone.agent("node1", state="elsewhere")
    elsewhere.start()
    elsewhere.wait_serving()
    elsewhere.stop()


def test_nothing_starts_on_a_schema_that_is_not_current(alone: Programs, tmp_path: pathlib.Path) -> None:
    empty = {"connection": f"sqlite:///{tmp_path / 'empty.sqlite'}"}
    for command in ("api", "agent"):
        program = Program(alone.configure(command, database=empty, api={"port": alone.port}), command)
        program.start()
        assert program.wait() == 1
        (complaint,) = program.log.splitlines()
        assert "tierce db upgrade" in complaint


def test_any_wsgi_server_can_serve_the_api(programs: Programs, http: Http) -> None:
    program = (
        "import json, sys\n"
        "from wsgiref.util import setup_testing_defaults\n"
        "from tierce.wsgi import application\n"
        "environ = {'PATH_INFO': '/v1/containers', 'HTTP_OPENSTACK_API_VERSION': 'container 1.40'}\n"
        "setup_testing_defaults(environ)\n"
        "def start(status, headers): print(status)\n"
        "body = b''.join(application(environ, start))\n"
        "print(len(json.loads(body)['containers']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TIERCE_CONFIG_FILE": str(programs.api.file)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    there = len(http.call("GET", "/containers")["containers"])
    assert done.stdout.splitlines() == ["200 OK", str(there)]
