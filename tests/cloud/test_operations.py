"""What operators of many nodes rely on: logs that follow a request, no secrets, stops that lose nothing."""

import json
import pathlib
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.support.databases import Servers
from tests.support.programs import Program, Programs
from tests.support.rabbitmq import RabbitMQ
from tests.support.service import Http, listens
from tests.support.waiting import until

DATABASE_PASSWORD = "correct-horse"
KEY = "a key of 32 characters, or more!"
VERBOSE = {"debug": True, "default_log_levels": "", "auth_encryption_key": KEY}
FOREVER = ["sleep", "1000"]
NODE = "node1"

Start = Callable[..., Http]


@pytest.fixture
def start(alone: Programs) -> Start:
    """Starts a cloud of one node, whose programs have these options in [DEFAULT]."""

    def start(**options: object) -> Http:
        alone.api = Program(
            alone.configure("api", DEFAULT=options, api={"port": alone.port, "workers": 2}), "api"
        )
        alone.agents[NODE] = alone.agent(NODE, DEFAULT=options)
        alone.start()
        return Http(alone)

    return start


# --- logs -----------------------------------------------------------------------------------------


def contexts(program: Program, request_id: str) -> dict[str, Any]:
    """What each line about the request says that it is about, by its message."""
    lines = [json.loads(line) for line in program.log.splitlines() if line.startswith("{")]
    return {
        line["message"]: line["context"] for line in lines if line["context"].get("request_id") == request_id
    }


def test_one_request_is_followed_from_the_api_to_the_action_on_its_node(
    alone: Programs, start: Start
) -> None:
    http = start(use_json=True)
    answer = http.raw("POST", "/containers?run=true", json={"image": "busybox", "command": FOREVER})
    uuid, request = answer.json()["uuid"], answer.headers["x-openstack-request-id"]
    http.wait(uuid, "Running")
    assert contexts(alone.api, request)["POST /v1/containers: 202"] == {"request_id": request}
    about = {"request_id": request, "container": uuid, "action": "create"}
    until(lambda: contexts(alone.agents[NODE], request).get("Done") == about)


def test_a_question_that_a_node_refuses_is_logged_there_under_the_request_s_id(
    alone: Programs, start: Start
) -> None:
    http = start(use_json=True)
    uuid = http.create(image="busybox", command=FOREVER)
    http.wait(uuid, "Running")
    until(lambda: http.raw("GET", f"/containers/{uuid}/logs").ok)  # it is up before it listens
    answer = http.raw("GET", f"/containers/{uuid}/get_archive?path=/nosuch")
    request = answer.headers["x-openstack-request-id"]
    assert not answer.ok, answer.text
    (about,) = contexts(alone.agents[NODE], request).values()
    assert about == {"request_id": request, "container": uuid, "action": "container_get_archive"}


def test_no_password_and_no_key_is_in_the_most_verbose_logs(
    rabbitmq: RabbitMQ, servers: Servers, tmp_path: pathlib.Path
) -> None:
    with servers.database("mariadb") as url:
        with_password = url.replace("root@", f"root:{DATABASE_PASSWORD}@")
        assert with_password != url
        programs = Programs(tmp_path, rabbitmq.url(), with_password, [NODE])
        programs.api = Program(
            programs.configure("api", DEFAULT=VERBOSE, api={"port": programs.port, "workers": 1}), "api"
        )
        programs.agents[NODE] = programs.agent(NODE, DEFAULT=VERBOSE)
        try:
            programs.start()
            http = Http(programs)
            registry = {"domain": "reg.example.com", "username": "u", "password": "of-a-registry"}
            http.call("POST", "/registries", json={"registry": registry})
            http.wait(http.create(image="busybox", command=FOREVER), "Running")
            rabbitmq.stop()
            http.create(image="busybox", command=FOREVER)
            rabbitmq.start()
            until(lambda: "Reconnected" in programs.agents[NODE].log)
        finally:
            programs.stop()
    for program in (programs.api, programs.agents[NODE]):
        assert " DEBUG " in program.log
        for secret in (rabbitmq.password, DATABASE_PASSWORD, KEY, "of-a-registry"):
            assert secret not in program.log


def test_a_database_that_is_away_is_told_of_in_one_line_without_its_password(alone: Programs) -> None:
    away = {"connection": f"mysql+pymysql://u:{DATABASE_PASSWORD}@127.0.0.1:1/t", "db_max_retries": 0}
    for command in ("api", "agent"):
        program = Program(
            alone.configure(command, DEFAULT=VERBOSE, database=away, api={"port": alone.port}), command
        )
        program.start()
        assert program.wait() == 1
        assert "The database at 127.0.0.1:1 cannot be reached" in program.log
        assert "Traceback" not in program.log
        assert DATABASE_PASSWORD not in program.log


# --- health ---------------------------------------------------------------------------------------


def test_health_says_in_detail_how_bus_and_database_are(alone: Programs, rabbitmq: RabbitMQ) -> None:
    port = {"port": alone.port, "workers": 1}
    alone.api = Program(alone.configure("api", api=port, healthcheck={"detailed": True}), "api")
    alone.api.start()
    alone.wait_answering()

    def reasons() -> list[str]:
        url, form = f"http://127.0.0.1:{alone.port}/healthcheck", {"Accept": "application/json"}
        answer = requests.get(url, headers=form, timeout=30)
        assert answer.status_code == 200
        return [each["reason"] for each in answer.json()["reasons"]]

    assert reasons() == ["OK", "DATABASE OK", "BUS OK"]
    rabbitmq.stop()
    assert reasons() == ["OK", "DATABASE OK", "BUS AWAY"]
    rabbitmq.start()


# --- stops ----------------------------------------------------------------------------------------


def test_an_api_that_stops_answers_the_requests_under_way(alone: Programs, start: Start) -> None:
    http = start(**VERBOSE, rpc_response_timeout=30)
    agent = alone.agents[NODE]
    uuid = http.create(image="busybox", command=["echo", "hello"])
    http.wait(uuid, "Stopped")
    agent.signal(signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(http.raw, "GET", f"/containers/{uuid}/logs")
        until(lambda: "CALL msg_id" in alone.api.log)
        alone.api.signal(signal.SIGTERM)
        until(lambda: not listens(alone.port))
        agent.signal(signal.SIGCONT)
        answer = under_way.result(30)
    assert (answer.status_code, answer.text) == (200, '"hello\\n"')
    assert alone.api.wait() == 0


def test_an_agent_that_stops_answers_the_questions_under_way(alone: Programs, start: Start) -> None:
    http = start(**VERBOSE, rpc_response_timeout=30)
    agent = alone.agents[NODE]
    uuid = http.create(image="busybox", command=FOREVER)
    http.wait(uuid, "Running")
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(http.raw, "POST", f"/containers/{uuid}/execute?command=sleep+2&run=true")
        until(lambda: "container_exec" in agent.log)
        assert agent.stop() == 0
        answer = under_way.result(30)
    assert (answer.status_code, answer.json()["exit_code"]) == (200, 0)


def test_what_is_accepted_while_an_agent_is_stopped_is_done_at_its_next_start(
    alone: Programs, start: Start
) -> None:
    http = start()
    agent = alone.agents[NODE]
    assert agent.stop() == 0
    uuid = http.create(image="busybox", command=FOREVER)
    agent.start()
    http.wait(uuid, "Running")


def test_programs_with_nothing_to_do_stop_at_once(alone: Programs, start: Start) -> None:
    start()
    begun = time.monotonic()
    assert alone.agents[NODE].stop() == 0
    assert alone.api.stop() == 0
    assert time.monotonic() - begun < 8
