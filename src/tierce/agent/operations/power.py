"""`start`, `stop`, `reboot`, `pause`, `unpause`, `kill`: one engine call, then the truth from the engine."""

from collections.abc import Callable, Sequence
from typing import Any

from tierce.agent.operations import networks, waits
from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.model.container import ContainerReport, RuntimeState
from tierce.model.errors import Conflict, RuntimeConflict, RuntimeFailure, RuntimeNotFound, TierceError
from tierce.model.lifecycle import TRANSIENT, Status

START_EVENT = "compute__do_container_start"


def start_stage(*, once: bool) -> Stage:
    """Start a container. `once`: one that has ever been started counts as done (the start of a create)."""

    def ensure(work: Work) -> None:
        _require_created(work)
        if work.attempt == 1 or not _started_by_earlier_attempt(work, once):
            networks.starting(work, work.plugs.runtime.containers.start)

    return Stage(START_EVENT, (Step("started", ensure),), Work.values_from_report)


class Power:
    """An operation of one step, whose outcome is what the engine then reports."""

    must_succeed = False
    destroys = False

    def __init__(
        self,
        action: str,
        ensure: Callable[[Work], None],
        outcome: Callable[[Work], dict[str, Any]] | None = None,
    ) -> None:
        self.action = action
        self.event = f"compute__do_container_{action}"
        self._ensure = ensure
        self._outcome = outcome or Work.values_from_report

    def stages(self, work: Work) -> Sequence[Stage]:
        return (Stage(self.event, (Step(self.action, self._ensure),), self._outcome),)

    def failure(self, work: Work, reason: str) -> Failure:
        """The true state with the reason beside it; the old state when the engine cannot be asked."""
        try:
            values = work.values_from_report()
        except RuntimeNotFound:
            # What was being restarted has no state to go back to; of the others, `reconcile` decides.
            values = {"status": Status.ERROR} if work.container.status in TRANSIENT else {}
        except TierceError:
            values = {}
        return Failure(values | {"status_reason": _told(work, reason)})


class Start:
    action = "start"
    event = START_EVENT
    must_succeed = False
    destroys = False

    def stages(self, work: Work) -> Sequence[Stage]:
        return (start_stage(once=False),)

    def failure(self, work: Work, reason: str) -> Failure:
        return Failure({"status": Status.ERROR, "status_reason": _told(work, reason)})


def stop(work: Work) -> None:
    _require_created(work)
    _be_overtaken(work)
    with work.plugs.workers.waiting():
        work.plugs.runtime.containers.stop(work.name, work.arguments.get("timeout"))


def stopped(work: Work) -> dict[str, Any]:
    """What is true after a stop. Raises RuntimeFailure while the process that was to end runs on.

    A process that hangs in the kernel cannot be killed, and engines have said that it was.
    """
    values = work.values_from_report()
    if values["status"] == Status.RUNNING and values["started_at"] == work.container.started_at:
        raise RuntimeFailure(
            "The container did not exit, although it was told to and then killed: its process hangs on the "
            "node. Try again, or ask your operator."
        )
    return values


def reboot(work: Work) -> None:
    _require_created(work)
    if work.attempt == 1 or not _started_by_earlier_attempt(work, once=False):
        networks.starting(work, lambda name: _restart(work, name))


def _restart(work: Work, name: str) -> None:
    _be_overtaken(work)
    with work.plugs.workers.waiting():
        work.plugs.runtime.containers.restart(name, work.arguments.get("timeout"))


def _be_overtaken(work: Work) -> None:
    """Let nobody wait who came before this began: the agent, or its messages, may have been away."""
    if work.more:
        waits.cut_short(work.plugs, work.container.uuid)


def pause(work: Work) -> None:
    work.plugs.runtime.containers.pause(work.name)


def unpause(work: Work) -> None:
    work.plugs.runtime.containers.unpause(work.name)


def kill(work: Work) -> None:
    # Sent again by a second attempt: whether the first one got through cannot be known.
    signal = work.arguments.get("signal")
    try:
        work.plugs.runtime.containers.kill(work.name, signal)
    except RuntimeConflict:
        # But when it does not run any more, the first one did. And whatever has ended it, it is as if killed.
        if work.attempt == 1 and not (waits.ends(signal) and _has_ended(work)):
            raise


def _has_ended(work: Work) -> bool:
    report = work.inspect()
    return report is not None and report.state is RuntimeState.EXITED


def _require_created(work: Work) -> None:
    if _was_never_made(work):
        raise Conflict(
            "Cannot operate an uncreated container: its creation failed. Delete it, or rebuild it."
        )


def _told(work: Work, reason: str) -> str:
    """What users read of a failure: why one was never made stays the reason, whatever is tried with it."""
    return (_was_never_made(work) and work.container.status_reason) or reason


def _was_never_made(work: Work) -> bool:
    return work.container.container_id is None and work.report is None


def _started_by_earlier_attempt(work: Work, once: bool) -> bool:
    """Whether the engine has started it since the row last knew: starting again would run it twice."""
    report: ContainerReport | None = work.inspect()
    if report is None or report.started_at is None:
        return False
    if once:
        return True
    known = work.container.started_at
    running = report.state in (RuntimeState.RUNNING, RuntimeState.RESTARTING)
    return (known is None or report.started_at.replace(microsecond=0) > known) and (
        running or report.finished_at is not None
    )
