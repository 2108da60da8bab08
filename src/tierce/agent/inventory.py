"""Report what this node is and has."""

import dataclasses
import logging
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.db import containers, cores, nodes
from tierce.db.engine import Database
from tierce.db.tables import ComputeNode
from tierce.model.clock import Clock
from tierce.model.container import NodeFacts
from tierce.model.errors import InvalidValue, RuntimeFailure
from tierce.model.numa import Cell, parse_cpus, topology
from tierce.runtimes.base import Runtime

LOG = logging.getLogger(__name__)


def ensure_node(database: Database, host: str, clock: Clock) -> ComputeNode:
    """The node's row, made at its first start; its uuid marks what is ours in the runtime."""
    return database.write(lambda session: nodes.save(session, host, clock.now(), {}))


class Inventory:
    """What the node reports, and when: that free memory has changed is no reason to report."""

    def __init__(
        self, conf: cfg.ConfigOpts, database: Database, runtime: Runtime, host: str, clock: Clock
    ) -> None:
        self._conf = conf
        self._database = database
        self._runtime = runtime
        self._host = host
        self._clock = clock
        self._reported: NodeFacts | None = None

    def begin(self, register: Callable[[Session], None]) -> None:
        """Report in the transaction in which `register` makes the node count as up: a node that is up and
        has nothing yet would refuse what it is asked for. A runtime that does not answer is reported as
        away. Raises what `register` raises.
        """
        write: Callable[[Session], None] = self._write_away
        try:
            facts = self._runtime.containers.fingerprint()
            write = self._writing(facts)
            self._reported = _lasting(facts)
        except RuntimeFailure as exc:
            LOG.warning("The node cannot report what it has yet: %s", exc)

        def work(session: Session) -> None:
            register(session)
            write(session)

        self._database.write(work)

    def report(self) -> None:
        """Write the node's present facts, and what is given away of them.

        Raises RuntimeFailure; of the facts none is changed then but that the runtime is away.
        """
        self._report(self._ask())

    def report_changes(self) -> None:
        """The same when the facts are not those of the last report. Raises as `report`."""
        facts = self._ask()
        if _lasting(facts) != self._reported:
            self._report(facts)

    def _ask(self) -> NodeFacts:
        try:
            return self._runtime.containers.fingerprint()
        except RuntimeFailure:
            self._reported = None
            self._database.write(self._write_away)
            raise

    def _report(self, facts: NodeFacts) -> None:
        self._database.write(self._writing(facts))
        self._reported = _lasting(facts)

    def _write_away(self, session: Session) -> None:
        nodes.save(session, self._host, self._clock.now(), {"runtime_away": True})

    def _writing(self, facts: NodeFacts) -> Callable[[Session], None]:
        values = _columns(self._conf, facts)
        cells = _cells(self._conf, facts)

        def write(session: Session) -> None:
            given = _given(session, self._host, facts)
            numa_topology = topology(cells, [*cores.pins_on(session, self._host).values()])
            columns = {**values, **given, "numa_topology": numa_topology}
            nodes.save(session, self._host, self._clock.now(), columns)

        return write


def _lasting(facts: NodeFacts) -> NodeFacts:
    return dataclasses.replace(facts, memory_available=0)


def _cells(conf: cfg.ConfigOpts, facts: NodeFacts) -> list[Cell]:
    """The node's CPUs that may be dedicated. Raises InvalidValue for an option that is no list of CPUs."""
    try:
        floating = set(parse_cpus(conf.floating_cpu_set))
    except InvalidValue as exc:
        raise InvalidValue(f"[DEFAULT] floating_cpu_set: {exc.message}") from exc
    return [
        dataclasses.replace(cell, cpus=[cpu for cpu in cell.cpus if cpu not in floating])
        for cell in facts.numa
    ]


def _given(session: Session, host: str, facts: NodeFacts) -> dict[str, Any]:
    """What the node's containers were given, whether they use it or not."""
    cpu, memory, disk = containers.given(session, host)
    return {
        "cpu_used": cpu,
        "mem_used": memory,
        "mem_free": max(0, facts.memory_total - memory),
        "disk_used": disk,
    }


def _columns(conf: cfg.ConfigOpts, facts: NodeFacts) -> dict[str, Any]:
    kept = int(facts.disk_total * conf.compute.reserve_disk_for_image)
    return {
        "cpus": facts.cpus,
        "mem_total": facts.memory_total,
        "mem_available": facts.memory_available,
        "disk_total": facts.disk_total - kept,
        "total_containers": facts.containers,
        "running_containers": facts.running,
        "paused_containers": facts.paused,
        "stopped_containers": facts.stopped,
        "architecture": facts.architecture[:32],
        "os_type": facts.os_type[:32],
        "os": facts.os[:64],
        "kernel_version": facts.kernel_version[:128],
        "labels": dict(facts.labels),
        "runtimes": list(facts.runtimes),
        "disk_quota_supported": facts.disk_quota_supported,
        "enable_cpu_pinning": bool(conf.compute.enable_cpu_pinning),
        "runtime_away": False,
    }
