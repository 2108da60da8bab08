"""Run one queued action of a container: claim it, do its stages, write what came of it.

Every write is one transaction: the claim with the first event; the end of a stage with the columns it
decided; a failure with its reason. Between them only idempotent steps happen, so the process may die
anywhere, and the action is run again.
"""

import dataclasses
import logging
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy.orm import Session

from tierce.agent.operations import OPERATIONS
from tierce.agent.operations.base import Failure, Operation, Plugs, Stage, Step, Work, unix_ns
from tierce.db import actions, containers
from tierce.db.engine import DATABASE_TROUBLE
from tierce.db.tables import ContainerAction
from tierce.model.errors import (
    ContainerNotFound,
    RuntimeTimeout,
    RuntimeUnreachable,
    StaleObject,
    TierceError,
)
from tierce.model.lifecycle import Status
from tierce.observability import logs
from tierce.placement.base import Resources

LOG = logging.getLogger(__name__)

T = TypeVar("T")

_UNEXPECTED = "An unexpected error occurred; the log of the node agent has it."


class Observer(Protocol):
    """Told of every boundary of a run: before and after each step, and after each stage's commit."""

    def __call__(self, action: str, step: str, moment: str) -> None: ...


@dataclasses.dataclass(frozen=True, slots=True)
class Ran:
    """An action was run. Events up to `observed_ns` (unix time) are accounted for; `more` are queued.

    `gone`: it found no such container, which may call for more than it did.
    """

    observed_ns: int
    more: bool
    gone: bool


class RetryLater(Exception):
    """The action was queued again: it cannot be done now, and must be."""


class Runner:
    def __init__(self, plugs: Plugs, observer: Observer) -> None:
        self._plugs = plugs
        self._observe = observer

    def run_next(self, uuid: str) -> Ran | None:
        """Run the container's next action, if it has one for this node. Raises RetryLater."""
        claimed = self._plugs.database.write(lambda session: self._claim(session, uuid))
        if claimed is None:
            return None
        work, action, event_id = claimed
        with logs.about(request_id=action.request_id, container=uuid, action=action.action):
            LOG.info("Started, attempt %d", work.attempt)
            self._run(OPERATIONS[action.action or ""], action, work, event_id)
        return Ran(work.observed_ns, work.more, work.gone)

    def take_up(self, uuid: str) -> None:
        """Queue again an action whose run could not be recorded; for whoever has the container's turn."""
        self._plugs.database.write(lambda session: actions.abandon(session, uuid, self._plugs.host))

    def _claim(self, session: Session, uuid: str) -> tuple[Work, ContainerAction, int] | None:
        plugs, now = self._plugs, self._plugs.clock.now()
        while (claimed := actions.claim(session, uuid, plugs.host, now, plugs.conf.agent.lease)) is not None:
            action, container = claimed.action, claimed.container
            operation = OPERATIONS.get(action.action or "")
            if operation is None or (container.status == Status.DELETING and not operation.destroys):
                # What is about to be deleted need not be made, started or stopped first.
                actions.finish(session, action, now, failed=True)
                continue
            attempt = action.attempts or 1
            event_id = actions.start_event(session, action, operation.event, now, resume=attempt > 1)
            arguments = action.arguments or {}
            work = Work(plugs, container, arguments, attempt, mounts=claimed.mounts, more=claimed.more)
            return work, action, event_id
        return None

    # --- stages ---------------------------------------------------------------------------------

    def _run(self, operation: Operation, action: ContainerAction, work: Work, event_id: int) -> None:
        """Do the stages and record the end."""
        begun: list[Step] = []
        try:
            work.require_arguments()
            stages = operation.stages(work)
            for position, stage in enumerate(stages):
                begun = []
                self._do(operation, stage, work, begun)
                following = stages[position + 1].event if position + 1 < len(stages) else None
                event_id = self._complete(operation, action, work, event_id, stage, following)
                self._observe(operation.action, stage.event, "committed")
        except DATABASE_TROUBLE:
            # What was done stands; the run that records it begins from the start.
            raise
        except RuntimeUnreachable as exc:
            if operation.must_succeed or self._is_patient(work, exc):
                self._postpone(action, work, exc)
            self._fail(operation, action, work, event_id, begun, exc)
        except TierceError as exc:
            self._fail(operation, action, work, event_id, begun, exc)
        except Exception as exc:
            LOG.exception("Failed unexpectedly")
            self._fail(operation, action, work, event_id, begun, exc)

    def _do(self, operation: Operation, stage: Stage, work: Work, begun: list[Step]) -> None:
        limit = self._plugs.conf.agent.max_attempts
        if work.attempt > limit and not operation.must_succeed:
            begun.extend(stage.steps)
            raise TierceError(f"Given up after {limit} attempts, each of which ended the node agent.")
        for step in stage.steps:
            begun.append(step)
            self._observe(operation.action, step.name, "before")
            step.ensure(work)
            self._observe(operation.action, step.name, "after")

    def _complete(
        self,
        operation: Operation,
        action: ContainerAction,
        work: Work,
        event_id: int,
        stage: Stage,
        following: str | None,
    ) -> int:
        """Write the end of a stage, and the start of the next one, whose event this is, or of the action."""
        values = stage.outcome(work)
        now = self._plugs.clock.now()

        def write(session: Session) -> int:
            if following is None and operation.destroys:
                self._destroy(session, work)
                return event_id
            self._update(session, operation, action, work, values, releases=following is None)
            self._reclaim(session, work, stage.claim)
            actions.finish_event(session, event_id, now)
            if following is not None:
                return actions.start_event(session, action, following, now, resume=work.attempt > 1)
            actions.finish(session, action, now, failed=False)
            return event_id

        event_id = self._write(work, write)
        if following is None:
            LOG.info("Done")
        return event_id

    def _destroy(self, session: Session, work: Work) -> None:
        """Remove the row, and with it whatever else was queued."""
        containers.destroy(session, work.container)
        work.more = False
        work.observed_ns = unix_ns(self._plugs.clock)  # no event so far has a row that it could change

    def _update(
        self,
        session: Session,
        operation: Operation,
        action: ContainerAction,
        work: Work,
        values: dict[str, Any],
        *,
        releases: bool,
    ) -> None:
        """Write columns on the row; what was accepted since it was read is not overwritten.

        `releases` lets go of the container, unless another action waits: that one holds it then.
        """
        now, uuid = self._plugs.clock.now(), work.container.uuid
        try:
            containers.swap(session, work.container, now, **values | _released(releases and not work.more))
        except StaleObject:
            fresh = containers.require(session, uuid)
            if fresh.status == Status.DELETING and not operation.destroys:
                values = {k: v for k, v in values.items() if k not in ("status", "status_reason")}
            work.more = actions.others_wait(session, action)
            values = values | _released(releases and not work.more)
            work.container = containers.swap(session, fresh, now, **values)

    def _reclaim(self, session: Session, work: Work, claim: Resources | None) -> None:
        """Have the container hold this of the node, unless a delete by force has let it all go: that is known
        when the container has been written.
        """
        if claim is not None and work.container.status != Status.DELETING:
            self._plugs.placement.reclaim(session, work.container.uuid, self._plugs.host, claim)

    # --- failure --------------------------------------------------------------------------------

    def _is_patient(self, work: Work, exc: RuntimeUnreachable) -> bool:
        """Whether the runtime may be back soon. What timed out may have been done, and is not repeated."""
        return work.attempt <= self._plugs.conf.agent.unreachable_retries and not isinstance(
            exc, RuntimeTimeout
        )

    def _postpone(self, action: ContainerAction, work: Work, exc: TierceError) -> None:
        reason = f"{exc.message} It will be tried again."
        LOG.warning("Postponed: %s", reason)

        def write(session: Session) -> None:
            actions.requeue(session, action)
            fresh = containers.find(session, work.container.uuid)
            if fresh is not None and fresh.status_reason != reason:
                containers.swap(session, fresh, self._plugs.clock.now(), status_reason=reason)

        self._write(work, write)
        raise RetryLater

    def _fail(
        self,
        operation: Operation,
        action: ContainerAction,
        work: Work,
        event_id: int,
        begun: Sequence[Step],
        exc: Exception,
    ) -> None:
        """Undo the stage's steps in reverse, and record why."""
        reason = exc.message if isinstance(exc, TierceError) else _UNEXPECTED
        LOG.warning("Failed: %s", reason)
        for step in reversed(begun):
            if step.undo is not None:
                self._undo(step, work)
        frames = "".join(traceback.format_tb(exc.__traceback__))
        try:
            failure = operation.failure(work, reason)
            self._record(operation, action, work, event_id, failure, reason, frames)
        except DATABASE_TROUBLE:
            raise
        except Exception:
            # It would come to this at every attempt, and what waits behind it would wait for ever.
            LOG.exception("What is left of it is unknown")
            unknown = Failure({"status": Status.ERROR, "status_reason": reason})
            self._record(operation, action, work, event_id, unknown, reason, frames)

    def _record(
        self,
        operation: Operation,
        action: ContainerAction,
        work: Work,
        event_id: int,
        failure: Failure,
        reason: str,
        frames: str,
    ) -> None:
        """Write what a failure leaves behind, and the end of the action."""
        now = self._plugs.clock.now()

        def write(session: Session) -> None:
            if failure.destroys:
                self._destroy(session, work)
                return
            if failure.releases_claim:
                self._plugs.placement.release(session, work.container.uuid)
            self._update(session, operation, action, work, dict(failure.values), releases=True)
            self._reclaim(session, work, failure.claim)
            actions.finish_event(session, event_id, now, error=reason, traceback=frames)
            actions.finish(session, action, now, failed=True)

        try:
            self._write(work, write)
        except ContainerNotFound:
            LOG.warning("The row is gone; nothing is left to record")
            work.more = False

    def _undo(self, step: Step, work: Work) -> None:
        assert step.undo is not None
        try:
            step.undo(work)
        except DATABASE_TROUBLE:
            raise
        except Exception as exc:
            # `reconcile` removes what the runtime still has when it can be asked again.
            expected = isinstance(exc, TierceError)
            LOG.warning(
                "Undoing %s failed, left for the next comparison: %s", step.name, exc, exc_info=not expected
            )

    def _write(self, work: Work, write: Callable[[Session], T]) -> T:
        """Commit, deciding again on the new row when somebody changed it in between."""
        container, generation, more = work.container, work.container.generation, work.more

        def attempt(session: Session) -> T:
            # A swap that was rolled back has counted the object's generation up all the same, to one that
            # somebody else may have written since.
            work.container, work.container.generation, work.more = container, generation, more
            return write(session)

        while True:
            try:
                return self._plugs.database.write(attempt)
            except StaleObject:
                continue


def _released(released: bool) -> dict[str, None]:
    """The columns that let go of a container."""
    return {"task_state": None} if released else {}
