"""The shape of an operation: stages of idempotent steps, each step with its undo.

An operation may be run again from the start at any time: after a crash, recovery is nothing but
that. A step therefore makes sure that its goal holds, and its undo that nothing of it is left,
whatever an earlier attempt did or did not do.
"""

import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from oslo_config import cfg

from tierce.agent.workers import Workers
from tierce.db.engine import Database
from tierce.db.secrets import Keyring
from tierce.db.tables import Container
from tierce.db.zun_actions import REFUSED
from tierce.images.base import ImageDriver
from tierce.images.committed import CommitStore
from tierce.model.clock import Clock
from tierce.model.container import ContainerReport, ImageFacts, NetworkAttachment
from tierce.model.errors import Invalid, RuntimeNotFound
from tierce.model.lifecycle import Status
from tierce.model.observation import observe
from tierce.networks.base import NodeNetworks
from tierce.placement.base import Placement, Resources
from tierce.runtimes.base import Runtime
from tierce.volumes.base import VolumeDriver

NAME_PREFIX = "zun-"
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 (naive UTC, as the clock's)


def runtime_name(uuid: str) -> str:
    """A container's name in the runtime."""
    return f"{NAME_PREFIX}{uuid}"


def checked_arguments(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `read` makes of a message, or why it can make nothing of it, of which the action then fails."""
    try:
        return read()
    except Invalid as exc:
        return refused_arguments(exc)


def refused_arguments(reason: Invalid) -> dict[str, Any]:
    """The arguments of an action that only fails, so that who looks at it reads the reason."""
    return {REFUSED: reason.message}


@dataclasses.dataclass(frozen=True, slots=True)
class Plugs:
    """What operations work with."""

    conf: cfg.ConfigOpts
    database: Database
    runtime: Runtime
    images: ImageDriver
    keyring: Keyring
    commits: CommitStore
    networks: NodeNetworks
    volumes: VolumeDriver
    placement: Placement
    workers: Workers
    clock: Clock
    host: str
    owner_labels: dict[str, str]
    unwanted: set[str] = dataclasses.field(default_factory=set)
    """Containers that were deleted by force while something was at work on them: see `waits.py`."""


@dataclasses.dataclass(slots=True)
class Work:
    """One run of one action, and what its steps found out."""

    plugs: Plugs
    container: Container
    arguments: dict[str, Any]
    attempt: int = 1
    mounts: bool = True
    """Whether the container has any."""
    more: bool = False
    """Whether another action of the container is unfinished, as of when `container` was read."""
    image: ImageFacts | None = None
    replaced_image: ImageFacts | None = None
    """What the container that a rebuild replaces was made of."""
    attachments: Sequence[NetworkAttachment] = ()
    binds: dict[str, str] = dataclasses.field(default_factory=dict)
    created_id: str | None = None
    removed: bool = False
    """The container was removed again: an undone creation."""
    report: ContainerReport | None = None
    observed_ns: int = 0
    """Unix time, in ns, just before `report` was taken: events older than it are accounted for."""
    gone: bool = False
    """There was no such container when it was last looked at; what that means, `reconcile` decides."""

    @property
    def name(self) -> str:
        return runtime_name(self.container.uuid)

    def require_arguments(self) -> None:
        """Raises Invalid for `refused_arguments`."""
        if REFUSED in self.arguments:
            raise Invalid(self.arguments[REFUSED])

    @property
    def networks(self) -> list[str]:
        """The networks that the container is to be in when the action is done."""
        joined = [item["network"] for item in self.arguments.get("requested_networks") or ()]
        left = self.arguments.get("left_network")
        networks = dict.fromkeys([*self.container.addresses, *joined])
        return [network for network in networks if network != left]

    def inspect(self) -> ContainerReport | None:
        """Look at the container, and remember when."""
        self.observed_ns = unix_ns(self.plugs.clock)
        self.report = self.plugs.runtime.containers.inspect(self.name)
        self.gone = self.report is None
        return self.report

    def values_from_report(self, status: str | None = None) -> dict[str, Any]:
        """The columns that a fresh report decides; `status` is the one it has by now (None: its row's).

        Raises RuntimeNotFound when there is no such container, unless it removes itself when it ends.
        """
        report = self.inspect()
        if report is None:
            if not self.container.auto_remove:
                raise RuntimeNotFound(f"No such container: {self.name}")
            return self.removed_itself()
        addresses = self.plugs.networks.addresses(self.networks, report.endpoints)
        by_now = status or self.container.status
        return report_values(self.container, report, by_now) | {"addresses": addresses}

    def removed_itself(self) -> dict[str, Any]:
        """The columns of a container that has ended and is gone; `reconcile` removes its row."""
        return {"status": Status.DELETED, "status_detail": None}


def report_values(container: Container, report: ContainerReport, status: str | None) -> dict[str, Any]:
    """The columns that a report decides beside addresses, `status` being the one it has by now.

    What the user left to the image or the runtime is filled in once they have decided.
    """
    observed = observe(report, status)
    values: dict[str, Any] = {
        "container_id": report.id,
        "status": observed.status or status,
        "status_detail": observed.status_detail,
        "status_reason": observed.status_reason,
        "exit_code": observed.exit_code,
        "started_at": _whole_seconds(observed.started_at),
        "finished_at": _whole_seconds(observed.finished_at),
        "command": list(container.command or report.command),
        "entrypoint": list(container.entrypoint or report.entrypoint),
        "hostname": container.hostname or report.hostname,
        "ports": sorted(set(report.ports)),
        "runtime": report.runtime or container.runtime,
    }
    if observed.status is None and status == Status.ERROR:
        values["status_reason"] = container.status_reason
    return values


def _whole_seconds(moment: datetime.datetime | None) -> datetime.datetime | None:
    # What MariaDB keeps, so that a stored value compares equal to a fresh one.
    return None if moment is None else moment.replace(microsecond=0)


def unix_ns(clock: Clock) -> int:
    """The present as an event of the runtime would be stamped."""
    return int((clock.now() - _EPOCH).total_seconds() * 1e9)


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """`ensure` makes its goal hold; `undo`, if there is anything to undo, makes sure nothing is left."""

    name: str
    ensure: Callable[[Work], None]
    undo: Callable[[Work], None] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Stage:
    """Steps that succeed or fail together, recorded as one event.

    `outcome` gives the columns to write when all steps are done, and `claim`, if it changes, what the
    container then holds of its node. A failed stage undoes its own steps; what earlier stages achieved
    stays.
    """

    event: str
    steps: Sequence[Step]
    outcome: Callable[[Work], dict[str, Any]]
    claim: Resources | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """What a failed stage leaves behind: columns to write, or the row removed all the same.

    `claim`, if it changes, is what the container then holds of its node.
    """

    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    claim: Resources | None = None
    releases_claim: bool = False
    destroys: bool = False


class Operation(Protocol):
    """One action's work."""

    @property
    def action(self) -> str: ...

    @property
    def event(self) -> str:
        """The event of its first stage."""

    @property
    def must_succeed(self) -> bool:
        """An unreachable runtime means "again later" instead of "failed"."""

    @property
    def destroys(self) -> bool:
        """The row is removed when the stages are done."""

    def stages(self, work: Work) -> Sequence[Stage]:
        """What is to be done, decided once per run."""

    def failure(self, work: Work, reason: str) -> Failure:
        """What to write when a stage failed and was undone."""
