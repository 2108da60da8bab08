"""What a node asks of the database while there is nothing to do: ten thousand of them share it."""

import dataclasses

import pytest

from tests.support.client import Client
from tests.support.cloud import FACTS, Cloud
from tests.support.counts import counted
from tierce import config
from tierce.agent.inventory import Inventory
from tierce.db import actions, nodes
from tierce.model.errors import RuntimeTimeout
from tierce.runtimes.fake import FakeRuntime


def test_facts_are_reported_once_and_again_when_they_change(cloud: Cloud) -> None:
    reporter = Inventory(config.load(), cloud.database, FakeRuntime(cloud.engine), "node1", cloud.clock)
    reporter.report_changes()
    cloud.engine.facts = dataclasses.replace(FACTS, memory_available=1)
    with counted(cloud.database.engine) as asked:
        reporter.report_changes()
    assert asked.statements == []
    cloud.engine.facts = dataclasses.replace(FACTS, cpus=FACTS.cpus + 1)
    reporter.report_changes()
    (host,) = cloud.client.call("GET /hosts")["hosts"]
    assert host["cpus"] == FACTS.cpus + 1


def test_a_runtime_that_did_not_answer_counts_as_away_until_it_does(cloud: Cloud) -> None:
    reporter = Inventory(config.load(), cloud.database, FakeRuntime(cloud.engine), "node1", cloud.clock)

    def away() -> list[bool | None]:
        return cloud.database.read(lambda session: [node.runtime_away for node in nodes.every(session)])

    reporter.report_changes()
    cloud.engine.script("fingerprint", error=RuntimeTimeout("no answer in 60 s"))
    with pytest.raises(RuntimeTimeout):
        reporter.report_changes()
    assert away() == [True]
    reporter.report_changes()
    assert away() == [False]


def test_tokens_are_looked_for_only_while_there_are_some(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    agent = cloud.nodes["node1"].agent
    assert agent is not None
    agent.terminals.tidy()
    with counted(cloud.database.engine) as asked:
        agent.terminals.tidy()
    assert asked.statements == []

    client.call(f"GET /containers/{uuid}/attach")
    for _ in range(2):
        with counted(cloud.database.engine) as asked:
            agent.terminals.tidy()
        assert len(asked.statements) == 2, "one that is not old yet is looked for again"


def test_a_look_for_work_that_finds_none_is_one_statement(cloud: Cloud) -> None:
    with counted(cloud.database.engine) as asked:
        now = cloud.clock.now()
        assert cloud.database.write(lambda session: actions.tend(session, "node1", (), now, 300)) == []
    assert len(asked.statements) == 1
