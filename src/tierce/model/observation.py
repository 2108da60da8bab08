"""What a runtime's report means for the container's row: status, reason, exit code, times."""

import dataclasses
import datetime
from typing import Final

from tierce.model.container import ContainerReport, RuntimeState
from tierce.model.lifecycle import Status

RESTARTING: Final = "Restarting"
"""The detail of a container whose process has ended, and which the runtime is about to start again."""


@dataclasses.dataclass(frozen=True, slots=True)
class Observed:
    """The part of a row that the runtime decides. `status` None: keep what is there."""

    status: Status | None
    status_detail: str | None
    status_reason: str | None = None
    exit_code: int | None = None
    started_at: datetime.datetime | None = None
    finished_at: datetime.datetime | None = None


def observe(report: ContainerReport, status: str | None) -> Observed:
    """Translate a report, given the row's present status.

    A container that was never started keeps the status that led there: Created, or Error when the
    start is what failed. Source: the reference's table of Docker states.
    """
    match report.state:
        case RuntimeState.RUNNING:
            return Observed(Status.RUNNING, "Up", started_at=report.started_at)
        case RuntimeState.PAUSED:
            return Observed(Status.PAUSED, "Up (paused)", started_at=report.started_at)
        case RuntimeState.CREATED:
            return _never_started(report, status)
        case RuntimeState.RESTARTING:
            return _ended(report, Status.RESTARTING, RESTARTING)
        case RuntimeState.DEAD:
            return _ended(report, Status.DEAD, "Dead")
        case RuntimeState.EXITED | RuntimeState.REMOVING:
            return _ended(report, Status.STOPPED, f"Exited({report.exit_code})")


def _ended(report: ContainerReport, status: Status, detail: str) -> Observed:
    return Observed(
        status,
        detail,
        status_reason=_why_it_ended(report),
        exit_code=report.exit_code,
        started_at=report.started_at,
        finished_at=report.finished_at,
    )


def _never_started(report: ContainerReport, status: str | None) -> Observed:
    if report.error:
        return Observed(Status.ERROR, "Created", status_reason=report.error, exit_code=report.exit_code)
    return Observed(None if status == Status.ERROR else Status.CREATED, "Created")


def _why_it_ended(report: ContainerReport) -> str | None:
    if report.oom_killed:
        return "The container used more memory than its limit and was killed."
    return report.error or None
