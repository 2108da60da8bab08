"""Making anew what the runtime has lost, for containers with `auto_heal`."""

import datetime
import itertools
from collections.abc import Sequence

from sqlalchemy.orm import Session

from tierce.agent.operations.base import Plugs
from tierce.control import intake
from tierce.control.remaking import rebuild_arguments
from tierce.db import actions
from tierce.db.tables import Container, ContainerAction
from tierce.model.context import service_context
from tierce.model.lifecycle import ALLOWED, Status

_FIRST_PAUSE = datetime.timedelta(minutes=1)
_LONGEST_PAUSE = datetime.timedelta(hours=1)
"""Between a rebuild that failed and the next; each failure doubles it."""

_REMOVAL = datetime.timedelta(seconds=10)
"""The most that a forced removal may take from killing to having removed."""
_KILLED = 137


def heal(session: Session, plugs: Plugs, container: Container) -> bool:
    """Queue a rebuild of a container that the runtime has lost, if it has `auto_heal` and no pause is on.

    It runs afterwards if it did when it was last seen. One that was never made is left alone: its
    creation failed, and nothing of it is claimed. Raises StaleObject.
    """
    if not container.auto_heal or container.status not in ALLOWED["rebuild"]:
        return False
    history = actions.of_container(session, container.uuid)
    failed = list(itertools.takewhile(_is_failed_rebuild, history))
    if container.container_id is None and not failed:
        return False
    now = plugs.clock.now()
    if failed and now < (failed[0].finish_time or now) + _pause(len(failed)):
        return False
    run = bool((failed[0].arguments or {}).get("run")) if failed else _ran(container, history, now)
    intake.queue(
        session,
        service_context().replace(project_id=container.project_id),
        container,
        "rebuild",
        "rebuild",
        rebuild_arguments(session, container, run),
        now,
    )
    return True


def _is_failed_rebuild(action: ContainerAction) -> bool:
    return action.action == "rebuild" and action.state == actions.State.FAILED


def _ran(container: Container, history: Sequence[ContainerAction], now: datetime.datetime) -> bool:
    """Whether it ran when it was lost, or was about to.

    A forced removal kills it first, which may have been noticed.
    """
    if container.status == Status.RUNNING:
        return True
    if container.status == Status.ERROR:
        # It was a start or a reboot that found it lost, so it was to run.
        return any(action.action in ("start", "reboot") for action in history[:1])
    by_us = any(action.action in ("stop", "kill") for action in history[:1])
    just_now = container.finished_at is not None and now - container.finished_at < _REMOVAL
    return container.status == Status.STOPPED and container.exit_code == _KILLED and just_now and not by_us


def _pause(failures: int) -> datetime.timedelta:
    pause = _FIRST_PAUSE
    for _ in range(1, failures):
        pause = min(2 * pause, _LONGEST_PAUSE)
    return pause
