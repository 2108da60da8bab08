"""The life cycle of a container: states, actions, and which action each state allows.

The tables are data. `docs/contributor/lifecycle.md` shows them, which a test holds against this module; tests
run `check` on every row that they leave. Source: the reference's tables of states and actions.
"""

import dataclasses
import enum
from collections.abc import Iterable
from typing import Final

from tierce.model.errors import InvalidState


class Status(enum.StrEnum):
    """What a client reads in `status`. The set is closed: clients fail on a word they do not know."""

    CREATING = "Creating"  # accepted; restart: the queued create runs (again)
    CREATED = "Created"  # exists in the runtime, never started
    RUNNING = "Running"  # its process runs
    STOPPED = "Stopped"  # its process ended, by request or by itself
    PAUSED = "Paused"  # frozen
    RESTARTING = (
        "Restarting"  # a reboot was accepted, or the runtime restarts it; restart: the reboot runs again
    )
    REBUILDING = "Rebuilding"  # a rebuild was accepted; restart: the rebuild runs again
    DELETING = "Deleting"  # a delete was accepted; restart: the delete runs again
    DELETED = "Deleted"  # auto_remove took it in the runtime; the row goes next
    ERROR = "Error"  # the last create, start or delete failed; status_reason says why
    DEAD = "Dead"  # the runtime failed to remove it
    UNKNOWN = "Unknown"  # the runtime reports something that makes no sense


TRANSIENT = frozenset({Status.CREATING, Status.RESTARTING, Status.REBUILDING, Status.DELETING})
"""A queued or running action stands behind each of these."""

SETTLED = frozenset({Status.CREATED, Status.RUNNING, Status.STOPPED, Status.PAUSED})
"""The runtime has the container, and its own report decides between these."""


class TaskState(enum.StrEnum):
    """Which action holds the container; null when none does."""

    IMAGE_PULLING = "image_pulling"
    CREATING = "container_creating"
    STARTING = "container_starting"
    DELETING = "container_deleting"
    STOPPING = "container_stopping"
    REBOOTING = "container_rebooting"
    PAUSING = "container_pausing"
    UNPAUSING = "container_unpausing"
    KILLING = "container_killing"
    REBUILDING = "container_rebuilding"
    SG_ADDING = "sg_adding"
    SG_REMOVING = "sg_removing"
    NETWORK_ATTACHING = "network_attaching"
    NETWORK_DETACHING = "network_detaching"


class ContainerType(enum.IntEnum):
    """The column that tells apart the four kinds of rows in the container table."""

    CONTAINER = 0
    CAPSULE = 1
    CAPSULE_CONTAINER = 2
    CAPSULE_INIT_CONTAINER = 3


SIZED = (ContainerType.CONTAINER, ContainerType.CAPSULE)
"""Rows whose sizes add up to what is given away: that of a capsule has what its members need together."""


def _states(*names: str) -> frozenset[Status]:
    return frozenset(Status[name] for name in names)


ALL = frozenset(Status)
_RUNNING = _states("RUNNING")
_EXISTS = _states("CREATED", "RUNNING", "STOPPED", "PAUSED")

ALLOWED: dict[str, frozenset[Status]] = {
    "start": _states("CREATED", "STOPPED", "ERROR"),
    "stop": _RUNNING,
    "pause": _RUNNING,
    "unpause": _states("PAUSED"),
    "kill": _RUNNING,
    "reboot": _states("CREATED", "RUNNING", "STOPPED", "ERROR"),
    "rebuild": _states("CREATED", "RUNNING", "STOPPED", "ERROR"),
    "execute": _RUNNING,
    "execute_resize": _RUNNING,
    "attach": _RUNNING,
    "resize": _RUNNING,
    "top": _RUNNING,
    "stats": _RUNNING,
    "update": _EXISTS,
    "resize_container": _EXISTS,
    "add_security_group": _EXISTS,
    "remove_security_group": _EXISTS,
    "get_archive": _EXISTS,
    "put_archive": _EXISTS,
    "commit": _states("RUNNING", "STOPPED", "PAUSED"),
    "logs": _states("CREATED", "RUNNING", "STOPPED", "PAUSED", "ERROR", "UNKNOWN"),
    "delete": _states("CREATED", "STOPPED", "ERROR", "DEAD", "DELETED"),
    # A paused container can be removed by force: the runtime thaws it first.
    "delete_force": ALL,
    "delete_after_stop": _states("CREATED", "RUNNING", "STOPPED", "ERROR", "DEAD", "DELETED"),
    "network_attach": _EXISTS,
    "network_detach": _EXISTS,
    "rename": ALL,
}
"""Action -> the states that allow it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Acceptance:
    """What accepting a durable action writes on the container, in the transaction that queues it."""

    task_state: TaskState | None
    """None: the closed list has no word for it. It is accepted only when nothing else is unfinished."""
    status: Status | None = None
    interrupts: bool = False
    """Accepted although another action holds the container; it runs after that one."""


STOP_BEFORE_DELETE: Final = 10
"""Seconds of grace for a container that is to be stopped before it is deleted."""

ACCEPTANCE: dict[str, Acceptance] = {
    "start": Acceptance(TaskState.STARTING),
    "stop": Acceptance(TaskState.STOPPING),
    "pause": Acceptance(TaskState.PAUSING),
    "unpause": Acceptance(TaskState.UNPAUSING),
    "kill": Acceptance(TaskState.KILLING, interrupts=True),
    "reboot": Acceptance(TaskState.REBOOTING, Status.RESTARTING),
    "rebuild": Acceptance(TaskState.REBUILDING, Status.REBUILDING),
    "update": Acceptance(None),
    "resize_container": Acceptance(None),
    "commit": Acceptance(None),
    "delete": Acceptance(TaskState.DELETING, Status.DELETING, interrupts=True),
    "delete_force": Acceptance(TaskState.DELETING, Status.DELETING, interrupts=True),
    "delete_after_stop": Acceptance(TaskState.DELETING, Status.DELETING, interrupts=True),
    "network_attach": Acceptance(TaskState.NETWORK_ATTACHING),
    "network_detach": Acceptance(TaskState.NETWORK_DETACHING),
    "add_security_group": Acceptance(TaskState.SG_ADDING),
    "remove_security_group": Acceptance(TaskState.SG_REMOVING),
}
"""Durable action -> its acceptance. Synchronous actions (logs, top, ...) have none."""


def require_allowed(action: str, uuid: str, status: str | None, task_state: str | None) -> None:
    """Refuse `action` on a container in this state.

    Raises InvalidState (409) that names the action, the container and what stands in the way.
    """
    if status not in ALLOWED[action]:
        raise InvalidState(f"Cannot {action} container {uuid} in {status} state")
    acceptance = ACCEPTANCE.get(action)
    if acceptance and task_state and not acceptance.interrupts:
        raise InvalidState(
            f"Cannot {action} container {uuid} in {status} state while {task_state} is in progress"
        )


def check(status: str | None, task_state: str | None, unfinished_actions: Iterable[str]) -> list[str]:
    """Broken invariants of one container row, as sentences; empty when all is well.

    `unfinished_actions` are the names of its queued and running actions.
    """
    broken = []
    unfinished = list(unfinished_actions)
    if status is None or status not in ALL:
        broken.append(f"status {status!r} is not a status")
    elif Status(status) in TRANSIENT - {Status.RESTARTING} and not unfinished:
        broken.append(f"status {status} without a queued or running action")
    if task_state and not unfinished:
        broken.append(f"task_state {task_state} without a queued or running action")
    return broken
