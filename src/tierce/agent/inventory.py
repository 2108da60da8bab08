"""Report what this node is and has."""

from typing import Any

from oslo_config import cfg

from tierce.db import nodes
from tierce.db.engine import Database
from tierce.db.tables import ComputeNode
from tierce.model.clock import Clock
from tierce.model.container import NodeFacts
from tierce.runtimes.base import Runtime


def ensure_node(database: Database, host: str, clock: Clock) -> ComputeNode:
    """The node's row, made at its first start; its uuid marks what is ours in the runtime."""
    return database.write(lambda session: nodes.save(session, host, clock.now(), {}))


def report(conf: cfg.ConfigOpts, database: Database, runtime: Runtime, host: str, clock: Clock) -> None:
    """Write the node's present facts. Raises RuntimeUnreachable; the old facts stay then."""
    values = _columns(conf, runtime.containers.fingerprint())
    database.write(lambda session: nodes.save(session, host, clock.now(), values))


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
    }
