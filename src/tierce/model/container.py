"""What a runtime is told to run, and what it reports back: plain values, no engine's words."""

import dataclasses
import datetime
import enum
from collections.abc import Mapping, Sequence
from typing import Final

from tierce.model.numa import Cell


class RuntimeState(enum.StrEnum):
    """The runtime's own word for a container, engines' differences removed."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    EXITED = "exited"
    DEAD = "dead"
    REMOVING = "removing"


@dataclasses.dataclass(frozen=True, slots=True)
class Healthcheck:
    """`test` is a shell command; None switches the image's own check off. Durations in seconds."""

    test: str | None
    interval: int = 0
    timeout: int = 0
    retries: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class RestartPolicy:
    """`name` is one of no, always, on-failure, unless-stopped; the count belongs to on-failure."""

    name: str = "no"
    maximum_retry_count: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class BindMount:
    """A path of the node that the container sees at `target`."""

    source: str
    target: str
    read_only: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class NetworkAttachment:
    """One network that the container joins at creation; the first one is the primary."""

    network: str
    aliases: Sequence[str] = ()
    ipv4: str | None = None
    ipv6: str | None = None
    mac_address: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class AddressRange:
    """The addresses of one network, in CIDR notation.

    The engine itself gives those of `dynamic`, a part of `subnet`; the others are for who asks for them.
    """

    subnet: str
    gateway: str
    dynamic: str


@dataclasses.dataclass(frozen=True, slots=True)
class RuntimeSpec:
    """One container for a runtime to create.

    `name` is the runtime's name for it (`zun-<uuid>`), `image` a reference or an image id that the
    node has. Empty `command` or `entrypoint` means the image's own. `memory` is MiB, `cpus` vCPUs,
    `disk` GiB; None or 0 is no limit. `labels` are the user's, `owner_labels` ours.
    """

    name: str
    image: str
    command: Sequence[str] = ()
    entrypoint: Sequence[str] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    owner_labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    workdir: str | None = None
    hostname: str | None = None
    tty: bool = False
    interactive: bool = False
    memory: int | None = None
    cpus: float | None = None
    disk: int | None = None
    restart_policy: RestartPolicy = RestartPolicy()
    auto_remove: bool = False
    runtime: str | None = None
    privileged: bool = False
    healthcheck: Healthcheck | None = None
    exposed_ports: Sequence[str] = ()
    mounts: Sequence[BindMount] = ()
    networks: Sequence[NetworkAttachment] = ()
    cpuset_cpus: Sequence[int] = ()
    cpuset_mems: Sequence[int] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """The container's place in one network, as the runtime reports it; addresses without prefix."""

    network: str
    endpoint_id: str = ""
    network_id: str = ""
    ipv4: str | None = None
    ipv6: str | None = None
    mac_address: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ContainerReport:
    """One inspection of one container."""

    id: str
    name: str
    state: RuntimeState
    image: str = ""
    exit_code: int | None = None
    error: str = ""
    oom_killed: bool = False
    pid: int = 0
    started_at: datetime.datetime | None = None
    finished_at: datetime.datetime | None = None
    hostname: str | None = None
    runtime: str | None = None
    command: Sequence[str] = ()
    entrypoint: Sequence[str] = ()
    ports: Sequence[int] = ()
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    endpoints: Sequence[Endpoint] = ()
    tty: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class RuntimeEvent:
    """Something happened to a container by the runtime's account: look at it again.

    `action` is the runtime's word (start, die, oom, pause, unpause, destroy, ...), kept for logs
    only: what is true now comes from an inspection, since events can be late or repeated.
    """

    container_name: str
    container_id: str
    action: str
    time_ns: int = 0


MAX_CHARACTERS: Final = 65535
"""Of a terminal's height and width: the kernel keeps 16 bits of each."""


class ExecState(enum.StrEnum):
    """Where a command that somebody connects to is in its life."""

    PREPARED = "prepared"
    RUNNING = "running"
    ENDED = "ended"


@dataclasses.dataclass(frozen=True, slots=True)
class ExecResult:
    """A finished command: stdout and stderr as they came, and its exit code."""

    output: bytes
    exit_code: int


@dataclasses.dataclass(frozen=True, slots=True)
class FoundImage:
    """An image that a search of a registry found."""

    name: str
    description: str = ""
    is_official: bool = False
    is_automated: bool = False
    star_count: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class ImageFacts:
    """An image that the node has. `id` is the engine's content id, `size` bytes."""

    id: str
    tags: Sequence[str] = ()
    size: int = 0
    command: Sequence[str] = ()
    entrypoint: Sequence[str] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node is and has: memory in MiB, disk in GiB."""

    name: str
    cpus: int
    memory_total: int
    memory_available: int
    disk_total: int
    architecture: str = ""
    os_type: str = ""
    os: str = ""
    kernel_version: str = ""
    runtimes: Sequence[str] = ()
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    disk_quota_supported: bool = False
    numa: Sequence[Cell] = ()
    containers: int = 0
    running: int = 0
    paused: int = 0
    stopped: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class StatsSample:
    """What a container uses: `cpu_percent` over the last interval (100 is one CPU), the rest in bytes."""

    cpu_percent: float = 0.0
    memory_usage: int = 0
    memory_limit: int = 0
    block_read: int = 0
    block_write: int = 0
    network_rx: int = 0
    network_tx: int = 0
