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
from tierce.agent.operations.base import Operation, Plugs, Stage, Step, Work
from tierce.db import actions, containers
from tierce.db.engine import DATABASE_TROUBLE
from tierce.db.tables import Container, ContainerAction
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
        action, container, event_id = claimed
        work = Work(self._plugs, container, action.arguments or {}, action.attempts or 1)
        with logs.about(request_id=action.request_id, container=container.uuid, action=action.action):
            LOG.info("Started, attempt %d", work.attempt)
            more = self._run(OPERATIONS[action.action or ""], action, work, event_id)
        return Ran(work.observed_ns, more, work.gone)

    def take_up(self, uuid: str) -> None:
        """Queue again an action whose run could not be recorded; for whoever has the container's turn."""
        self._plugs.database.write(lambda session: actions.abandon(session, uuid, self._plugs.host))

    def _claim(self, session: Session, uuid: str) -> tuple[ContainerAction, Container, int] | None:
        conf, now = self._plugs.conf, self._plugs.clock.now()
        while (action := actions.claim(session, uuid, self._plugs.host, now, conf.agent.lease)) is not None:
            container = containers.find(session, uuid)
            operation = OPERATIONS.get(action.action or "")
            if container is None:
                return None
            if operation is None or (container.status == Status.DELETING and not operation.destroys):
                # What is about to be deleted need not be made, started or stopped first.
                actions.finish(session, action, now, failed=True)
                continue
            event_id = actions.start_event(
                session, action, operation.event, now, resume=(action.attempts or 1) > 1
            )
            return action, container, event_id
        return None

    # --- stages ---------------------------------------------------------------------------------

    def _run(self, operation: Operation, action: ContainerAction, work: Work, event_id: int) -> bool:
        """Do the stages and record the end; whether the container has more actions queued."""
        more = False
        begun: list[Step] = []
        try:
            stages = operation.stages(work)
            for position, stage in enumerate(stages):
                begun = []
                self._do(operation, stage, work, begun)
                following = stages[position + 1].event if position + 1 < len(stages) else None
                event_id, more = self._complete(operation, action, work, event_id, stage, following)
                self._observe(operation.action, stage.event, "committed")
        except DATABASE_TROUBLE:
            # What was done stands; the run that records it begins from the start.
            raise
        except RuntimeUnreachable as exc:
            if operation.must_succeed or self._is_patient(work, exc):
                self._postpone(action, work, exc)
            return self._fail(operation, action, work, event_id, begun, exc)
        except TierceError as exc:
            return self._fail(operation, action, work, event_id, begun, exc)
        except Exception as exc:
            LOG.exception("Failed unexpectedly")
            return self._fail(operation, action, work, event_id, begun, exc)
        return more

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
    ) -> tuple[int, bool]:
        """Write the end of a stage, and the start of the next one or the end of the action.

        Returns the next stage's event, and whether more actions are queued.
        """
        values = stage.outcome(work)
        now = self._plugs.clock.now()

        def write(session: Session) -> tuple[int, bool]:
            if following is None and operation.destroys:
                containers.destroy(session, work.container)
                return event_id, False
            self._reclaim(session, work, stage.claim)
            more = self._update(session, operation, action, work, values, releases=following is None)
            actions.finish_event(session, event_id, now)
            if following is not None:
                resume = work.attempt > 1
                return actions.start_event(session, action, following, now, resume=resume), False
            actions.finish(session, action, now, failed=False)
            return event_id, more

        outcome = self._write(write)
        if following is None:
            LOG.info("Done")
        return outcome

    def _update(
        self,
        session: Session,
        operation: Operation,
        action: ContainerAction,
        work: Work,
        values: dict[str, Any],
        *,
        releases: bool,
    ) -> bool:
        """Write columns on the row; what was accepted since it was read is not overwritten.

        `releases` lets go of the container, unless another action waits: that one holds it then. Returns
        whether one does.
        """
        now, uuid = self._plugs.clock.now(), work.container.uuid
        waits = releases and actions.others_wait(session, action)
        try:
            containers.swap(session, work.container, now, **values | _released(releases and not waits))
        except StaleObject:
            fresh = containers.find(session, uuid)
            if fresh is None:
                raise ContainerNotFound(uuid) from None
            if fresh.status == Status.DELETING and not operation.destroys:
                values = {k: v for k, v in values.items() if k not in ("status", "status_reason")}
            waits = releases and actions.others_wait(session, action)
            values |= _released(releases and not waits)
            work.container = containers.swap(session, fresh, now, **values)
        return waits

    def _reclaim(self, session: Session, work: Work, claim: Resources | None) -> None:
        """Have the container hold this of the node, unless a delete by force has let it all go."""
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

        self._write(write)
        raise RetryLater

    def _fail(
        self,
        operation: Operation,
        action: ContainerAction,
        work: Work,
        event_id: int,
        begun: Sequence[Step],
        exc: Exception,
    ) -> bool:
        """Undo the stage's steps in reverse, and record why; whether more actions are queued."""
        reason = exc.message if isinstance(exc, TierceError) else _UNEXPECTED
        LOG.warning("Failed: %s", reason)
        for step in reversed(begun):
            if step.undo is not None:
                self._undo(step, work)
        failure = operation.failure(work, reason)
        frames = "".join(traceback.format_tb(exc.__traceback__))
        now = self._plugs.clock.now()

        def write(session: Session) -> bool:
            if failure.destroys:
                containers.destroy(session, work.container)
                return False
            if failure.releases_claim:
                self._plugs.placement.release(session, work.container.uuid)
            self._reclaim(session, work, failure.claim)
            more = self._update(session, operation, action, work, dict(failure.values), releases=True)
            actions.finish_event(session, event_id, now, error=reason, traceback=frames)
            actions.finish(session, action, now, failed=True)
            return more

        try:
            return self._write(write)
        except ContainerNotFound:
            LOG.warning("The row is gone; nothing is left to record")
            return False

    def _undo(self, step: Step, work: Work) -> None:
        assert step.undo is not None
        try:
            step.undo(work)
        except TierceError as exc:
            # `reconcile` removes what the runtime still has when it can be asked again.
            LOG.warning("Undoing %s failed, left for the next comparison: %s", step.name, exc)

    def _write(self, write: Callable[[Session], T]) -> T:
        """Commit, deciding again on the new row when somebody changed it in between."""
        while True:
            try:
                return self._plugs.database.write(write)
            except StaleObject:
                continue


def _released(released: bool) -> dict[str, None]:
    """The columns that let go of a container."""
    return {"task_state": None} if released else {}
