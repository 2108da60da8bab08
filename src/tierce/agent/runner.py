"""Run one queued action of a container: claim it, do its stages, write what came of it.

Every write is one transaction: the claim with the first event; the end of a stage with the columns it
decided; a failure with its reason. Between them only idempotent steps happen, so the process may die
anywhere, and the action is run again.
"""

import logging
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy.orm import Session

from tierce.agent.operations import OPERATIONS
from tierce.agent.operations.base import Operation, Plugs, Stage, Step, Work
from tierce.db import actions, containers
from tierce.db.tables import Container, ContainerAction
from tierce.model.errors import ContainerNotFound, RuntimeUnreachable, StaleObject, TierceError
from tierce.model.lifecycle import Status
from tierce.observability import logs

LOG = logging.getLogger(__name__)

T = TypeVar("T")

_UNEXPECTED = "An unexpected error occurred; the log of the node agent has it."


class Observer(Protocol):
    """Told of every boundary of a run: before and after each step, and after each stage's commit."""

    def __call__(self, action: str, step: str, moment: str) -> None: ...


class RetryLater(Exception):
    """The action was queued again: it cannot be done now, and must be."""


class Runner:
    def __init__(self, plugs: Plugs, observer: Observer) -> None:
        self._plugs = plugs
        self._observe = observer

    def run_next(self, uuid: str) -> int | None:
        """Run the container's next action, if it has one for this node.

        Returns None when there was none, else the unix time (ns) up to which the runtime's events are
        accounted for. Raises RetryLater.
        """
        claimed = self._plugs.database.write(lambda session: self._claim(session, uuid))
        if claimed is None:
            return None
        action, container, event_id = claimed
        work = Work(self._plugs, container, action.arguments or {}, action.attempts or 1)
        with logs.about(action.request_id, container.uuid, action.action):
            LOG.info("Started, attempt %d", work.attempt)
            self._run(OPERATIONS[action.action or ""], action, work, event_id)
        return work.observed_ns

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

    def _run(self, operation: Operation, action: ContainerAction, work: Work, event_id: int) -> None:
        begun: list[Step] = []
        try:
            stages = operation.stages(work)
            for position, stage in enumerate(stages):
                begun = []
                self._do(operation, stage, work, begun)
                following = stages[position + 1].event if position + 1 < len(stages) else None
                event_id = self._complete(operation, action, work, event_id, stage.outcome(work), following)
                self._observe(operation.action, stage.event, "committed")
        except RuntimeUnreachable as exc:
            if operation.must_succeed:
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
        values: dict[str, Any],
        following: str | None,
    ) -> int:
        """Write the end of a stage, and the start of the next one or the end of the action."""
        now = self._plugs.clock.now()

        def write(session: Session) -> int:
            if following is None and operation.destroys:
                containers.destroy(session, work.container)
                return event_id
            self._update(session, operation, work, values, releases=following is None)
            actions.finish_event(session, event_id, now)
            if following is not None:
                return actions.start_event(session, action, following, now, resume=work.attempt > 1)
            actions.finish(session, action, now, failed=False)
            return event_id

        event_id = self._write(write)
        if following is None:
            LOG.info("Done")
        return event_id

    def _update(
        self, session: Session, operation: Operation, work: Work, values: dict[str, Any], *, releases: bool
    ) -> None:
        """Write columns on the row as it is now; what was accepted meanwhile is not overwritten."""
        fresh = containers.find(session, work.container.uuid)
        if fresh is None:
            raise ContainerNotFound(work.container.uuid)
        if fresh.status == Status.DELETING and not operation.destroys:
            values = {k: v for k, v in values.items() if k not in ("status", "status_reason")}
        elif releases and fresh.task_state == work.container.task_state:
            values |= {"task_state": None}
        work.container = containers.swap(session, fresh, self._plugs.clock.now(), **values)

    # --- failure --------------------------------------------------------------------------------

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
    ) -> None:
        """Undo the stage's steps in reverse, and record why."""
        reason = exc.message if isinstance(exc, TierceError) else _UNEXPECTED
        LOG.warning("Failed: %s", reason)
        for step in reversed(begun):
            if step.undo is not None:
                self._undo(step, work)
        failure = operation.failure(work, reason)
        frames = "".join(traceback.format_tb(exc.__traceback__))
        now = self._plugs.clock.now()

        def write(session: Session) -> None:
            if failure.destroys:
                containers.destroy(session, work.container)
                return
            if failure.releases_claim:
                self._plugs.placement.release(session, work.container.uuid)
            self._update(session, operation, work, dict(failure.values), releases=True)
            actions.finish_event(session, event_id, now, error=reason, traceback=frames)
            actions.finish(session, action, now, failed=True)

        try:
            self._write(write)
        except ContainerNotFound:
            LOG.warning("The row is gone; nothing is left to record")

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
