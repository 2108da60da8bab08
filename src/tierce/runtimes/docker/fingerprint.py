"""What this node is and has, by the Engine's account and the machine's."""

import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import psutil

from tierce.model.container import NodeFacts
from tierce.runtimes.docker import numa

_MIB = 1024**2
_GIB = 1024**3

_QUOTA_DRIVERS = frozenset({"btrfs", "devicemapper", "windowfilter", "zfs"})
_QUOTA_OPTIONS = frozenset({"pquota", "prjquota"})


def read(info: Mapping[str, Any]) -> NodeFacts:
    """The facts behind `info` (the answer of `GET /info`), with memory and disk read now, here."""
    root = info.get("DockerRootDir") or "/"
    if not pathlib.Path(root).exists():  # a program in a container of its own does not see it
        root = "/"
    memory_total = (info.get("MemTotal") or 0) // _MIB
    return NodeFacts(
        name=info.get("Name") or "",
        cpus=info.get("NCPU") or 0,
        memory_total=memory_total,
        memory_available=psutil.virtual_memory().available // _MIB,
        disk_total=psutil.disk_usage(root).total // _GIB,
        architecture=info.get("Architecture") or "",
        os_type=info.get("OSType") or "",
        os=info.get("OperatingSystem") or "",
        kernel_version=info.get("KernelVersion") or "",
        runtimes=sorted(info.get("Runtimes") or ["runc"]),
        labels=labels(info.get("Labels") or ()),
        disk_quota_supported=quota_supported(info.get("Driver") or "", *_filesystem(root)),
        numa=numa.read(memory_total),
        containers=info.get("Containers") or 0,
        running=info.get("ContainersRunning") or 0,
        paused=info.get("ContainersPaused") or 0,
        stopped=info.get("ContainersStopped") or 0,
    )


def labels(pairs: Iterable[str]) -> dict[str, str]:
    """The Engine's own labels from its `name=value` texts; a value may be absent, and may hold `=`."""
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


def quota_supported(driver: str, filesystem: str, mount_options: str) -> bool:
    """Whether the Engine can limit a container's disk with this storage driver on this file system."""
    if driver == "overlay2":
        return filesystem == "xfs" and not _QUOTA_OPTIONS.isdisjoint(mount_options.split(","))
    return driver in _QUOTA_DRIVERS


def _filesystem(path: str) -> tuple[str, str]:
    """Type and mount options of the file system that holds `path`."""
    resolved = pathlib.Path(path).resolve()
    holders = [part for part in psutil.disk_partitions(all=True) if resolved.is_relative_to(part.mountpoint)]
    if not holders:
        return "", ""
    nearest = max(holders, key=lambda part: len(part.mountpoint))
    return nearest.fstype, nearest.opts
