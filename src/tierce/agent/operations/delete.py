"""`delete`: stop if asked, then remove everything of the container, and its row last."""

import logging
from collections.abc import Sequence

from tierce.agent.operations import mounts
from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.agent.operations.create import release_networks
from tierce.model.errors import RuntimeNotFound
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
            Step("networks", release_networks),
            Step("volumes", mounts.remove),
        ]
        if work.arguments.get("stop_timeout") is not None:
            steps.insert(0, Step("stopped", _stop))
        return (Stage(self.event, steps, lambda _: {}),)

    def failure(self, work: Work, reason: str) -> Failure:
        if work.arguments.get("force"):
            LOG.error("Container %s was deleted by force; this may be left over: %s", work.name, reason)
            return Failure(destroys=True)
        return Failure({"status": Status.ERROR, "status_reason": reason})


def _stop(work: Work) -> None:
    try:
        work.plugs.runtime.containers.stop(work.name, work.arguments["stop_timeout"])
    except RuntimeNotFound:
        LOG.info("Container %s is gone already", work.name)


def _remove_container(work: Work) -> None:
    work.plugs.runtime.containers.remove(work.name)
