"""Whether the database of a cloud and the engines of its nodes tell one story."""

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from tierce.db import actions
from tierce.db.engine import Database
from tierce.db.tables import (
    Allocation,
    AttachSession,
    Base,
    Container,
    ContainerAction,
    ContainerActionEvent,
    ExecInstance,
    Volume,
    VolumeMapping,
)
from tierce.model import lifecycle
from tierce.model.container import RuntimeState
from tierce.runtimes.fake import FakeEngine

OWNED = "tierce.node"
"""Label of everything that a node makes in its engine."""

_SAME: Mapping[RuntimeState, str] = {
    RuntimeState.CREATED: "Created",
    RuntimeState.RUNNING: "Running",
    RuntimeState.PAUSED: "Paused",
    RuntimeState.EXITED: "Stopped",
    RuntimeState.RESTARTING: "Restarting",
}
_OF_CONTAINERS: Sequence[type[Base]] = (
    Container,
    ContainerAction,
    ContainerActionEvent,
    Volume,
    VolumeMapping,
    Allocation,
    AttachSession,
    ExecInstance,
)
"""Tables whose rows go with the containers."""


@dataclasses.dataclass(frozen=True)
class Seen:
    """What a node made in its engine: containers with their status, and networks."""

    containers: Mapping[str, str]
    networks: Sequence[str]


def seen_in(engine: FakeEngine) -> Seen:
    with engine.lock:
        return Seen(
            {name: _SAME[each.state] for name, each in engine.containers.items() if OWNED in each.labels},
            [name for name, each in engine.networks.items() if OWNED in each.labels],
        )


def broken(database: Database, nodes: Mapping[str, Seen]) -> list[str]:
    """Sentences about what is not as it must be, in a cloud that rests; `nodes` by host."""
    rows = database.read(lambda session: list(session.scalars(select(Container))))
    claimed = database.read(lambda session: set(session.scalars(select(Allocation.consumer_uuid))))
    unfinished = database.read(lambda session: actions.unfinished(session, [row.uuid for row in rows]))
    sentences = [
        f"{row.uuid}: {sentence}"
        for row in rows
        for sentence in lifecycle.check(row.status, row.task_state, unfinished.get(row.uuid, ()))
    ]
    sentences += [f"{uuid}: holds a claim, and is no container" for uuid in claimed - {r.uuid for r in rows}]
    for row in rows:
        if row.container_id is not None and row.uuid not in claimed and row.status != "Deleting":
            sentences.append(f"{row.uuid}: is on its node, and has no claim")
    shares = [
        (row.host, cpu)
        for row in rows
        for cpu in row.cpuset.get("cpuset_cpus") or ()
        if row.cpu_policy == "dedicated"
    ]
    sentences += [f"CPU {cpu} of {host} is dedicated twice" for host, cpu in sorted(_doubled(shares))]
    for host, seen in nodes.items():
        sentences += _disagreements(host, seen, rows)
    return sentences


def left_over(database: Database, nodes: Mapping[str, Seen]) -> list[str]:
    """Sentences about what is still there in a cloud whose containers were all deleted."""
    counts = database.read(
        lambda session: {
            table.__tablename__: session.scalar(select(func.count()).select_from(table))
            for table in _OF_CONTAINERS
        }
    )
    sentences = [f"{table} has {count} rows" for table, count in counts.items() if count]
    for host, seen in nodes.items():
        sentences += [f"{host} has the container {name}" for name in seen.containers]
        sentences += [f"{host} has the network {name}" for name in seen.networks]
    return sentences


def _disagreements(host: str, seen: Seen, rows: Iterable[Container]) -> list[str]:
    """Where the database and a node's engine tell different stories."""
    states = seen.containers
    own = {f"zun-{row.uuid}": row for row in rows if row.host == host and row.container_id}
    sentences = [f"{name}: on {host} without a row" for name in states.keys() - own.keys()]
    for name, row in own.items():
        expected = states.get(name, "Error")
        if row.status not in (expected, "Error"):
            sentences.append(f"{name}: is {row.status} in the database and {expected} on {host}")
    return sentences


def _doubled(items: Iterable[Any]) -> set[Any]:
    """What is there more than once."""
    return {item for item, count in collections.Counter(items).items() if count > 1}
