"""What a user asked for, validated and typed: the API's requests as the rest of the program sees them."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tierce.model.container import Healthcheck, RestartPolicy


@dataclasses.dataclass(frozen=True, slots=True)
class MountRequest:
    """One item of `mounts`.

    type bind: `contents` (base64 text) becomes a file at `destination`. type volume: a new volume of
    `size` GiB that goes with the container, or the existing one named by `source`.
    """

    destination: str
    type: str = "volume"
    source: str | None = None
    size: int | None = None
    contents: str | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class ContainerSpec:
    """A validated create request. None means "not given"; defaults are the control layer's.

    `cpu` vCPUs, `memory` MiB, `disk` GiB. `exposed_ports` are normalized `"80/tcp"` keys.
    `image_pull_policy` is lower case.
    """

    image: str
    name: str | None = None
    command: Sequence[str] | None = None
    entrypoint: Sequence[str] | None = None
    cpu: float | None = None
    cpu_policy: str = "shared"
    memory: int | None = None
    disk: int | None = None
    workdir: str | None = None
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    auto_remove: bool = False
    auto_heal: bool = False
    interactive: bool = False
    tty: bool = False
    image_driver: str | None = None
    image_pull_policy: str | None = None
    restart_policy: RestartPolicy | None = None
    security_groups: Sequence[str] = ()
    nets: Sequence[Mapping[str, Any]] = ()
    mounts: Sequence[MountRequest] = ()
    runtime: str | None = None
    hostname: str | None = None
    availability_zone: str | None = None
    privileged: bool = False
    healthcheck: Healthcheck | None = None
    exposed_ports: Sequence[str] = ()
    registry: str | None = None
    host: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ContainerChange:
    """What a PATCH changes: `cpu` in vCPUs, `memory` in MiB. None is as it was."""

    name: str | None = None
    auto_heal: bool | None = None
    cpu: float | None = None
    memory: int | None = None

    @property
    def has_size(self) -> bool:
        return self.cpu is not None or self.memory is not None


@dataclasses.dataclass(frozen=True, slots=True)
class ListQuery:
    """Paging and filters of one list request.

    `marker` is the uuid of the last item of the page before. `filters` maps a field to the values
    any of which match.
    """

    limit: int
    marker: str | None = None
    sort_key: str = "id"
    sort_dir: str = "asc"
    filters: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class LogsRequest:
    """`tail`: lines (None: all); `since`: unix seconds."""

    stdout: bool = True
    stderr: bool = True
    timestamps: bool = False
    tail: int | None = None
    since: float | None = None
