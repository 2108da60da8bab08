"""A node as clients read it: memory in MiB, disk in GiB."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from tierce.api.views.links import LINKS, links
from tierce.api.views.shapes import BOOLEAN, INTEGER, NUMBER, STRING, Shape, array, mapping, nullable, record

_SHAPES: Final[Mapping[str, Shape]] = {
    "uuid": STRING,
    "hostname": STRING,
    "mem_total": INTEGER,
    "mem_used": INTEGER,
    "cpus": INTEGER,
    "cpu_used": NUMBER,
    "disk_total": INTEGER,
    "disk_used": INTEGER,
    "total_containers": INTEGER,
    "architecture": nullable(STRING),
    "os_type": nullable(STRING),
    "os": nullable(STRING),
    "kernel_version": nullable(STRING),
    "labels": nullable(mapping(STRING)),
    "disk_quota_supported": BOOLEAN,
    "runtimes": nullable(array(STRING)),
    "enable_cpu_pinning": BOOLEAN,
}
FIELDS: Final = tuple(_SHAPES)
HOST: Final[Shape] = record({**_SHAPES, "links": LINKS})
_values = attrgetter(*FIELDS)


def host(row: Any, host_url: str) -> dict[str, Any]:
    return dict(zip(FIELDS, _values(row), strict=True)) | {"links": links(host_url, "hosts", row.uuid)}
