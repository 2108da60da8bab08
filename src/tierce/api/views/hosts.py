"""A node as clients read it: memory in MiB, disk in GiB."""

from operator import attrgetter
from typing import Any, Final

from tierce.api.views.links import links

FIELDS: Final = (
    "uuid",
    "hostname",
    "mem_total",
    "mem_used",
    "cpus",
    "cpu_used",
    "disk_total",
    "disk_used",
    "total_containers",
    "architecture",
    "os_type",
    "os",
    "kernel_version",
    "labels",
    "disk_quota_supported",
    "runtimes",
    "enable_cpu_pinning",
)
_values = attrgetter(*FIELDS)


def host(row: Any, host_url: str) -> dict[str, Any]:
    return dict(zip(FIELDS, _values(row), strict=True)) | {"links": links(host_url, "hosts", row.uuid)}
