"""Bus, API and agents fail in turn, and what was accepted is done."""

import signal
import sys
import time
from typing import Any

import pytest
import requests

from tests.support.programs import DOWN_SOON, REPLY_TIME, Program, Programs
from tests.support.rabbitmq import RabbitMQ
from tests.support.service import Http
from tests.support.waiting import until


def create(http: Http, host: str) -> str:
    return http.create(image="busybox", command=["sleep", "1000"], host=host)


def beats_of(http: Http, host: str) -> int:
    services: list[dict[str, Any]] = http.call("GET", "/services")["services"]
    return next(int(service["report_count"]) for service in services if service["host"] == host)


@pytest.mark.parametrize("host", ["node1", "node2"])
def test_a_container_lives_on_the_node_that_was_asked_for(http: Http, host: str) -> None:
    uuid = create(http, host)
    assert http.wait(uuid, "Running")["host"] == host
    assert http.call("POST", f"/containers/{uuid}/execute?command=echo+here&run=true")["output"] == "here\n"
    http.call("POST", f"/containers/{uuid}/stop")
    http.wait(uuid, "Stopped")
    http.call("DELETE", f"/containers/{uuid}")
    http.wait(uuid, None)


def test_two_nodes_give_a_project_networks_of_one_name(http: Http) -> None:
    containers = [http.wait(create(http, host), "Running") for host in ("node1", "node2")]
    assert len({tuple(container["addresses"]) for container in containers}) == 1


def test_what_is_accepted_without_a_bus_is_done_when_it_is_back(http: Http, rabbitmq: RabbitMQ) -> None:
    rabbitmq.stop()
    begun = time.monotonic()
    uuid = create(http, "node1")
    assert time.monotonic() - begun < 10
    assert http.call("GET", f"/containers/{uuid}")["status"] == "Creating"
    rabbitmq.start()
    http.wait(uuid, "Running")


def test_a_message_that_goes_with_its_broker_is_not_missed(
    http: Http, programs: Programs, rabbitmq: RabbitMQ
) -> None:
    agent = programs.agents["node2"]
    agent.signal(signal.SIGSTOP)
    uuid = create(http, "node2")
    rabbitmq.stop()
    rabbitmq.start()
    agent.signal(signal.SIGCONT)
    http.wait(uuid, "Running")


def test_an_agent_that_starts_without_a_bus_works_and_is_up(
    http: Http, programs: Programs, rabbitmq: RabbitMQ
) -> None:
    agent = programs.agents["node1"]
    agent.signal(signal.SIGSTOP)
    uuid = create(http, "node1")
    agent.kill()
    beats = beats_of(http, "node1")
    rabbitmq.stop()
    agent.start()
    http.wait(uuid, "Running")
    until(lambda: beats_of(http, "node1"), lambda now: now > beats)
    rabbitmq.start()
    http.wait(create(http, "node1"), "Running")


def test_an_agent_killed_after_a_request_was_accepted_does_it_at_its_next_start(
    http: Http, programs: Programs
) -> None:
    agent = programs.agents["node1"]
    uuid = create(http, "node1")
    agent.kill()
    agent.start()
    # What the dead agent's engine had made is gone with it, which may turn the container to Error.
    found = http.wait(uuid, "Running", "Error")
    actions: dict[str, Any] = http.call("GET", f"/containers/{uuid}/container_actions")
    assert [action["message"] for action in actions["containerActions"]] == [None], found


def test_an_api_killed_before_it_told_the_node_has_accepted_all_the_same(alone: Programs) -> None:
    host = "node1"
    alone.agents[host] = alone.agent(host, agent={"poll_interval": 1})
    crashing = (sys.executable, "-m", "tests.support.crash_api")
    alone.api = Program(alone.api.file, "api", command=crashing)
    alone.start()
    http = Http(alone)

    with pytest.raises(requests.ConnectionError):
        create(http, host)

    alone.wait_answering()
    (uuid,) = [container["uuid"] for container in http.call("GET", "/containers")["containers"]]
    http.wait(uuid, "Running")


def test_a_node_that_does_not_reply_is_given_up_at_the_deadline(http: Http, programs: Programs) -> None:
    uuid = create(http, "node1")
    http.wait(uuid, "Running")
    agent = programs.agents["node1"]
    agent.signal(signal.SIGSTOP)
    begun = time.monotonic()
    answer = http.raw("GET", f"/containers/{uuid}/logs")
    took = time.monotonic() - begun
    agent.signal(signal.SIGCONT)
    assert answer.status_code == 504, answer.text
    assert "node1" in answer.json()["errors"][0]["detail"] + answer.json()["errors"][0]["title"]
    assert took < 2 * REPLY_TIME
    until(lambda: http.raw("GET", f"/containers/{uuid}/logs").status_code, lambda status: status == 200)


@pytest.mark.parametrize("alone", [DOWN_SOON], indirect=True)
def test_a_node_known_to_be_dead_is_refused_at_once_and_shown_from_the_database(alone: Programs) -> None:
    alone.start()
    http = Http(alone)
    uuid = create(http, "node1")
    http.wait(uuid, "Running")
    alone.agents["node1"].kill()
    alone.wait_state("node1", "down")
    for method, path in (("GET", "logs"), ("POST", "stop")):
        begun = time.monotonic()
        answer = http.raw(method, f"/containers/{uuid}/{path}")
        assert time.monotonic() - begun < REPLY_TIME  # nobody was waited for
        assert answer.status_code == 409, answer.text
    assert http.call("GET", f"/containers/{uuid}")["status"] == "Running"


def test_many_calls_share_the_connections_that_there_are(http: Http, rabbitmq: RabbitMQ) -> None:
    uuid = create(http, "node1")
    http.wait(uuid, "Running")

    def call(times: int) -> None:
        for _ in range(times):
            assert http.raw("GET", f"/containers/{uuid}/logs").status_code == 200

    call(10)  # each worker and node has one to send by, and one to hear by
    before = rabbitmq.opened()
    assert before > 0
    call(20)
    assert rabbitmq.opened() - before < 5


def test_calls_work_again_after_the_broker_was_restarted(http: Http, rabbitmq: RabbitMQ) -> None:
    uuid = create(http, "node1")
    http.wait(uuid, "Running")
    for _ in range(4):  # both workers have a queue for their replies
        assert http.raw("GET", f"/containers/{uuid}/logs").status_code == 200
    rabbitmq.stop()
    begun = time.monotonic()
    assert http.raw("GET", f"/containers/{uuid}/logs").status_code in (503, 504)
    assert time.monotonic() - begun < 10
    rabbitmq.start()
    until(lambda: http.raw("GET", f"/containers/{uuid}/logs").status_code, lambda status: status == 200)
