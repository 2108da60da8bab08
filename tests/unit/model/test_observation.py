"""What a runtime's report makes of a container's row."""

import datetime
from typing import Any

import pytest

from tierce.model.container import ContainerReport, RuntimeState
from tierce.model.lifecycle import Status
from tierce.model.observation import Observed, observe

START = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
END = START + datetime.timedelta(minutes=5)


def report(state: RuntimeState, **values: Any) -> ContainerReport:
    return ContainerReport(id="f00d", name="zun-x", state=state, **values)


@pytest.mark.parametrize("before", Status)
@pytest.mark.parametrize(
    ("state", "status", "detail"),
    [
        (RuntimeState.RUNNING, Status.RUNNING, "Up"),
        (RuntimeState.PAUSED, Status.PAUSED, "Up (paused)"),
        (RuntimeState.EXITED, Status.STOPPED, "Exited(3)"),
        (RuntimeState.REMOVING, Status.STOPPED, "Exited(3)"),
        (RuntimeState.RESTARTING, Status.RESTARTING, "Restarting"),
        (RuntimeState.DEAD, Status.DEAD, "Dead"),
    ],
)
def test_a_container_that_was_started_is_what_the_runtime_says(
    before: Status, state: RuntimeState, status: Status, detail: str
) -> None:
    observed = observe(report(state, exit_code=3, started_at=START), before)
    assert (observed.status, observed.status_detail, observed.started_at) == (status, detail, START)


def test_one_that_runs_has_no_end() -> None:
    running = report(RuntimeState.RUNNING, exit_code=3, started_at=START, finished_at=END)
    assert observe(running, Status.STOPPED) == Observed(Status.RUNNING, "Up", started_at=START)


def test_one_that_ended_has_its_exit_code_and_both_times() -> None:
    ended = report(RuntimeState.EXITED, exit_code=0, started_at=START, finished_at=END)
    assert observe(ended, Status.RUNNING) == Observed(
        Status.STOPPED, "Exited(0)", exit_code=0, started_at=START, finished_at=END
    )


@pytest.mark.parametrize("before", sorted(set(Status) - {Status.ERROR}))
def test_one_that_was_never_started_is_created(before: Status) -> None:
    assert observe(report(RuntimeState.CREATED), before) == Observed(Status.CREATED, "Created")


def test_one_whose_start_failed_without_the_runtime_s_knowledge_stays_in_error() -> None:
    assert observe(report(RuntimeState.CREATED), Status.ERROR).status is None


def test_one_whose_start_failed_says_why() -> None:
    failed = report(RuntimeState.CREATED, error="exec: no such file", exit_code=127)
    assert observe(failed, Status.CREATING) == Observed(
        Status.ERROR, "Created", status_reason="exec: no such file", exit_code=127
    )


def test_one_that_was_out_of_memory_says_so() -> None:
    killed = report(RuntimeState.EXITED, exit_code=137, oom_killed=True, error="")
    assert "used more memory than its limit" in (observe(killed, Status.RUNNING).status_reason or "")


def test_what_the_runtime_says_of_the_end_is_the_reason() -> None:
    ended = report(RuntimeState.EXITED, exit_code=1, error="device is gone")
    assert observe(ended, Status.RUNNING).status_reason == "device is gone"
    assert observe(report(RuntimeState.EXITED, exit_code=1), Status.RUNNING).status_reason is None
