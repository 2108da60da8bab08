"""What a node asks of the database while there is nothing to do: ten thousand of them share it."""

import contextlib
import dataclasses
from collections.abc import Iterator

from sqlalchemy import event

from tests.support.client import Client
from tests.support.cloud import FACTS, Cloud
from tierce import config
from tierce.agent.inventory import Inventory
from tierce.db import actions
from tierce.runtimes.fake import FakeRuntime


@contextlib.contextmanager
def statements(cloud: Cloud) -> Iterator[list[str]]:
    """Those that are run on the cloud's database, from here on."""
    found: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            found.append(statement)

    event.listen(cloud.database.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(cloud.database.engine, "before_cursor_execute", note)


def test_facts_are_reported_once_and_again_when_they_change(cloud: Cloud) -> None:
    reporter = Inventory(config.load(), cloud.database, FakeRuntime(cloud.engine), "node1", cloud.clock)
    reporter.report_changes()
    cloud.engine.facts = dataclasses.replace(FACTS, memory_available=1)
    with statements(cloud) as asked:
        reporter.report_changes()
    assert asked == []
    cloud.engine.facts = dataclasses.replace(FACTS, cpus=FACTS.cpus + 1)
    reporter.report_changes()
    (host,) = cloud.client.call("GET /hosts")["hosts"]
    assert host["cpus"] == FACTS.cpus + 1


def test_tokens_are_looked_for_only_while_there_are_some(cloud: Cloud, client: Client) -> None:
    uuid = client.running(interactive=True)
    agent = cloud.nodes["node1"].agent
    assert agent is not None
    agent.terminals.tidy()
    with statements(cloud) as asked:
        agent.terminals.tidy()
    assert asked == []

    client.call(f"GET /containers/{uuid}/attach")
    for _ in range(2):
        with statements(cloud) as asked:
            agent.terminals.tidy()
        assert len(asked) == 2, "one that is not old yet is looked for again"


def test_a_look_for_work_that_finds_none_is_one_statement(cloud: Cloud) -> None:
    with statements(cloud) as asked:
        now = cloud.clock.now()
        assert cloud.database.write(lambda session: actions.tend(session, "node1", (), now, 300)) == []
    assert len(asked) == 1
