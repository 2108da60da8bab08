"""The first moments of a node's agent."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.orm import Session

from tests.support.cloud import FACTS, Cloud, Node
from tests.support.threads import Gate
from tierce import config
from tierce.agent.inventory import Inventory
from tierce.db import services
from tierce.model.errors import RuntimeTimeout
from tierce.runtimes.fake import FakeEngine, FakeRuntime


def up(cloud: Cloud) -> set[str]:
    return {each["host"] for each in cloud.client.call("GET /services")["services"] if each["state"] == "up"}


def test_a_node_counts_as_up_when_it_has_said_what_it_has(cloud: Cloud) -> None:
    """Before, whatever was asked for on it ended in Error, as a node without memory."""
    cloud.nodes["node2"] = Node("node2", FakeEngine(cloud.clock, facts=FACTS))
    gate = Gate()
    cloud.nodes["node2"].engine.script("fingerprint", until=gate)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(cloud.start_node, "node2")
        try:
            assert gate.reached.wait(30)
            assert up(cloud) == {"node1"}
        finally:
            gate.set()
        started.result(30)
    assert up(cloud) == {"node1", "node2"}
    assert cloud.client.call("GET /hosts/node2")["cpus"] == FACTS.cpus


def test_a_node_whose_runtime_is_away_at_the_start_is_up_all_the_same(cloud: Cloud) -> None:
    """Requests for the containers on it are accepted, and done when the runtime is back."""
    cloud.nodes["node2"] = Node("node2", FakeEngine(cloud.clock, facts=FACTS))
    cloud.nodes["node2"].engine.script("fingerprint", error=RuntimeTimeout("no answer in 60 s"))
    cloud.start_node("node2")
    assert up(cloud) == {"node1", "node2"}


def test_an_agent_that_is_refused_reports_nothing(cloud: Cloud) -> None:
    """It is of another machine."""
    engine = FakeEngine(cloud.clock, facts=dataclasses.replace(FACTS, cpus=FACTS.cpus + 1))
    reporter = Inventory(config.load(), cloud.database, FakeRuntime(engine), "node1", cloud.clock)
    other = services.Writer("another installation", "its process")

    def register(session: Session) -> None:
        services.register(session, "node1", cloud.clock.now(), other, down_time=180)

    with pytest.raises(services.NodeTaken):
        reporter.begin(register)
    assert cloud.client.call("GET /hosts/node1")["cpus"] == FACTS.cpus
