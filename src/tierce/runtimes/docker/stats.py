"""From the Engine's statistics to StatsSample. Pure; what the Engine leaves out counts as 0."""

from collections.abc import Iterable, Mapping
from typing import Any

from tierce.model.container import StatsSample


def sample(data: Mapping[str, Any]) -> StatsSample:
    """What one answer of `GET /containers/{id}/stats?stream=false` says."""
    memory = data.get("memory_stats") or {}
    io = (data.get("blkio_stats") or {}).get("io_service_bytes_recursive") or ()
    networks = (data.get("networks") or {}).values()
    return StatsSample(
        cpu_percent=_cpu_percent(data.get("cpu_stats") or {}, data.get("precpu_stats") or {}),
        memory_usage=max(0, memory.get("usage", 0) - _cache(memory.get("stats") or {})),
        memory_limit=memory.get("limit", 0),
        block_read=_transferred(io, "read"),
        block_write=_transferred(io, "write"),
        network_rx=sum(network.get("rx_bytes", 0) for network in networks),
        network_tx=sum(network.get("tx_bytes", 0) for network in networks),
    )


def _cpu_percent(now: Mapping[str, Any], before: Mapping[str, Any]) -> float:
    """100 is one CPU, busy over the whole interval between the two readings."""
    usage, usage_before = now.get("cpu_usage") or {}, before.get("cpu_usage") or {}
    used = usage.get("total_usage", 0) - usage_before.get("total_usage", 0)
    passed = now.get("system_cpu_usage", 0) - before.get("system_cpu_usage", 0)
    cpus = now.get("online_cpus") or len(usage.get("percpu_usage") or ())
    if used <= 0 or passed <= 0 or "system_cpu_usage" not in before:
        return 0.0
    return float(used / passed * cpus * 100)


def _cache(details: Mapping[str, int]) -> int:
    """Page cache that the kernel can drop at will; the first name is control groups v1, the second v2."""
    return details.get("total_inactive_file") or details.get("inactive_file") or 0


def _transferred(entries: Iterable[Mapping[str, Any]], operation: str) -> int:
    return sum(entry.get("value", 0) for entry in entries if entry.get("op", "").lower() == operation)
