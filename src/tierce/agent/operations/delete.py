"""`delete`: stop if asked, then remove everything of the container, and its row last."""

import logging
from collections.abc import Callable, Sequence

from tierce.agent.operations import mounts, networks
from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.model.errors import RuntimeNotFound, RuntimeUnreachable, TierceError
from tierce.model.lifecycle import Status

LOG = logging.getLogger(__name__)


class Delete:
    action = "delete"
    event = "compute__do_container_delete"
    must_succeed = True
    destroys = True

    def stages(self, work: Work) -> Sequence[Stage]:
        steps = [
            Step("container", _remove_container),
            Step("networks", networks.release),
            Step("volumes", mounts.remove),
        ]
        if work.arguments.get("stop_timeout") is not None:
            steps.insert(0, Step("stopped", _stop))
        if work.arguments.get("force"):
            steps = [Step(step.name, _tolerated(step)) for step in steps]
        return (Stage(self.event, steps, lambda _: {}),)

    def failure(self, work: Work, reason: str) -> Failure:
        if work.arguments.get("force"):
            return Failure(destroys=True)
        return Failure({"status": Status.ERROR, "status_reason": reason})


def _tolerated(step: Step) -> Callable[[Work], None]:
    """The step of a delete by force: that it fails does not keep the others from being done.

    A runtime that is away is another matter: everything is tried again when it is back.
    """

    def ensure(work: Work) -> None:
        try:
            step.ensure(work)
        except RuntimeUnreachable:
            raise
        except TierceError as exc:
            LOG.warning("Deleted by force, so its %s may be left over: %s", step.name, exc)

    return ensure


def _stop(work: Work) -> None:
    try:
        with work.plugs.workers.waiting():
            work.plugs.runtime.containers.stop(work.name, work.arguments["stop_timeout"])
    except RuntimeNotFound:
        LOG.info("Container %s is gone already", work.name)


def _remove_container(work: Work) -> None:
    work.plugs.unwanted.discard(work.container.uuid)  # nothing else is at work on it
    work.plugs.runtime.containers.remove(work.name)
