"""A cloud as processes under a steady load, what is broken in it, and whether anything was lost.

with storm.load(seed) as load:
    load.wait_for_more(10)
    ...                       # break something
storm.account("what was broken", load.record)
"""

import contextlib
import dataclasses
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import select

from tests.support import soundness
from tests.support.databases import connection
from tests.support.load import Load, Record
from tests.support.programs import Programs
from tests.support.service import Http
from tests.support.soundness import Seen
from tests.support.team import delete_all
from tests.support.waiting import until
from tierce.db import actions
from tierce.db.engine import DATABASE_TROUBLE
from tierce.db.tables import Allocation, Container, ContainerAction
from tierce.model.lifecycle import Status

_SETTLES = 90
"""Seconds in which a cloud that is whole again must have done what it accepted."""

BODIES: tuple[Mapping[str, Any], ...] = (
    {"image": "busybox", "command": ["sleep", "1000"]},
    {"image": "busybox", "command": ["sleep", "1000"], "restart_policy": {"Name": "always"}},
    {
        "image": "busybox",
        "command": ["sleep", "1000"],
        "mounts": [{"type": "volume", "size": 1, "destination": "/scratch"}],
    },
)


@dataclasses.dataclass
class Count:
    """What came of one kind of fault."""

    runs: int = 0
    faults: int = 0
    accepted: int = 0
    refused: int = 0
    unknown: int = 0
    failed: int = 0
    losses: int = 0
    seconds: float = 0.0


Table = dict[str, Count]
"""By the fault's name."""


class Storm:
    def __init__(
        self,
        directory: pathlib.Path,
        programs: Programs,
        database_url: str,
        look: Callable[[], Mapping[str, Seen]],
        table: Table,
    ) -> None:
        """`look` sees what the nodes have, by host."""
        self.directory = directory
        self.programs = programs
        self.faults = 0
        self._look = look
        self._table = table
        self.database = connection(database_url)
        self._begun = time.monotonic()

    def close(self) -> None:
        self.database.close()

    @contextlib.contextmanager
    def load(
        self, seed: int, *, clients: int = 4, bodies: tuple[Mapping[str, Any], ...] = BODIES
    ) -> Iterator[Load]:
        load = Load(self.programs, seed, clients=clients, bodies=bodies)
        with load.running():
            yield load

    def wait_rest(self, *hosts: str) -> None:
        """Wait until no action is left to be done, on these nodes or (none given) on any."""
        losses = self._wait_for(lambda: self.restless(*hosts), "it has come to rest")
        assert not losses, "\n".join([*losses, self.programs.log])

    def account(self, fault: str, record: Record, also: Callable[[], list[str]] = list) -> None:
        """Wait until the cloud rests, compare it with what was promised, delete everything and look again.

        `also` looks for more losses in a cloud that rests. Raises AssertionError with every loss.
        """
        losses = [*record.wrong, *self._wait_for(self.restless, "it has come to rest")]
        losses += self._wait_for(lambda: soundness.broken(self.database, self._look()), "all is sound")
        losses += also()
        failed, missing = self._kept_promises(record)
        losses += missing
        losses += self._delete_all()
        losses += self._wait_for(self._left_over, "nothing is left")
        count = self._table.setdefault(fault, Count())
        count.runs += 1
        count.faults += self.faults
        count.accepted += len(record.accepted)
        count.refused += record.refused.total()
        count.unknown += record.unknown
        count.failed += len(failed)
        count.losses += len(losses)
        count.seconds += time.monotonic() - self._begun
        assert not losses, "\n".join([*losses, "failed: ", *failed, self.programs.log])

    def uuids_on(self, host: str) -> list[str]:
        """The containers that a node has, by the database."""
        there = select(Container.uuid).where(Container.host == host)
        return self.database.read(lambda session: list(session.scalars(there)))

    def claims(self) -> set[str]:
        """The containers that hold something of a node."""
        holders = select(Allocation.consumer_uuid)
        return self.database.read(lambda session: set(session.scalars(holders)))

    def _delete_all(self) -> list[str]:
        http = Http(self.programs)
        with contextlib.closing(http):
            try:
                delete_all(http)
            except AssertionError as exc:
                return [f"Not everything could be deleted: {exc}"]
        return []

    def restless(self, *hosts: str) -> list[str]:
        """Sentences about actions that are left to be done, on these nodes or (none given) on any."""
        unfinished = select(
            ContainerAction.container_uuid, ContainerAction.action, ContainerAction.state
        ).where(ContainerAction.state.in_([actions.State.QUEUED, actions.State.RUNNING]))
        if hosts:
            unfinished = unfinished.where(ContainerAction.host.in_(hosts))
        rows = self.database.read(lambda session: session.execute(unfinished).all())
        return [f"{uuid}: {action} is {state}" for uuid, action, state in rows]

    def _kept_promises(self, record: Record) -> tuple[list[str], list[str]]:
        """Accepted actions that failed, and what was accepted and is not to be found."""
        there = self.database.read(
            lambda session: {row.uuid: row for row in session.scalars(select(Container))}
        )
        ended = self.database.read(
            lambda session: {
                (row.container_uuid, row.request_id): row for row in session.scalars(select(ContainerAction))
            }
        )
        losses = [f"{uuid}: is gone, and nobody deleted it" for uuid in record.kept - there.keys()]
        losses += [f"{uuid}: was deleted, and is there" for uuid in record.deleted & there.keys()]
        failed = []
        for each in record.accepted:
            if each.uuid not in record.kept & there.keys():
                continue
            row = ended.get((each.uuid, each.request_id))
            container = there[each.uuid]
            if row is not None and row.state == actions.State.FAILED:
                failed.append(f"{each.uuid}: {each.what}: {container.status_reason}")
            elif row is None and each.what == "create" and _never_placed(container):
                failed.append(f"{each.uuid}: create: {container.status_reason}")
            elif row is None:
                losses.append(f"{each.uuid}: has no action for its accepted {each.what}")
        return failed, losses

    def _left_over(self) -> list[str]:
        volumes = [f"{path} is there" for path in self.directory.glob("*/mnt/*-*")]
        return soundness.left_over(self.database, self._look()) + volumes

    def _wait_for(self, look: Callable[[], list[str]], what: str) -> list[str]:
        """What is still wrong when it should long be right."""
        seen: list[str] = []

        def right() -> bool:
            nonlocal seen
            try:
                seen = look()
            except DATABASE_TROUBLE as exc:
                seen = [f"the database: {exc}"]
            return not seen

        try:
            until(right, timeout=_SETTLES)
        except AssertionError:
            return [f"Not before {_SETTLES} s: {what}.", *seen]
        return []


def _never_placed(container: Container) -> bool:
    """Whether no node was up for it, which its user is told by the container itself."""
    return container.host is None and container.status == Status.ERROR and bool(container.status_reason)


def report(table: Table) -> list[str]:
    """The table of all faults, as lines of text."""
    heads = ("fault", "runs", "faults", "accepted", "refused", "unknown", "failed", "seconds", "losses")
    rows = [
        (
            name,
            *(str(value) for value in (each.runs, each.faults, each.accepted, each.refused, each.unknown)),
            str(each.failed),
            f"{each.seconds:.0f}",
            str(each.losses),
        )
        for name, each in table.items()
    ]
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    ]
