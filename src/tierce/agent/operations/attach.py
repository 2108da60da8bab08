"""`network_attach` and `network_detach`: a container joins a network, or leaves one.

What it is in afterwards is what the runtime says, also when the operation failed half-way.
"""

from collections.abc import Sequence

from tierce.agent.operations import networks
from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.model.errors import RuntimeNotFound, TierceError


class NetworkAttach:
    action = "network_attach"
    event = "compute__do_network_attach"
    must_succeed = False
    destroys = False

    def stages(self, work: Work) -> Sequence[Stage]:
        steps = (Step("network", networks.ensure, _release_joined), Step("joined", _join, _leave_joined))
        return (Stage(self.event, steps, Work.values_from_report),)

    def failure(self, work: Work, reason: str) -> Failure:
        return _failure(work, reason)


class NetworkDetach:
    action = "network_detach"
    event = "compute__do_network_detach"
    must_succeed = False
    destroys = False

    def stages(self, work: Work) -> Sequence[Stage]:
        steps = (Step("left", _leave), Step("network", _release_left))
        return (Stage(self.event, steps, Work.values_from_report),)

    def failure(self, work: Work, reason: str) -> Failure:
        return _failure(work, reason)


def _join(work: Work) -> None:
    for attachment in work.attachments:
        work.plugs.runtime.containers.join(work.name, attachment)


def _leave(work: Work) -> None:
    work.plugs.runtime.containers.leave(work.name, work.arguments["left_network"])


def _leave_joined(work: Work) -> None:
    for attachment in work.attachments:
        try:
            work.plugs.runtime.containers.leave(work.name, attachment.network)
        except RuntimeNotFound:  # the container is gone
            return


def _release_joined(work: Work) -> None:
    networks.release(work, staying=list(work.container.addresses))


def _release_left(work: Work) -> None:
    networks.release(work, staying=work.networks)


def _failure(work: Work, reason: str) -> Failure:
    """The status as it is, and the network in question only if the runtime has the container in it."""
    try:
        values = work.values_from_report()
    except TierceError:
        return Failure({"status_reason": reason})
    if work.report is not None:
        endpoints = work.report.endpoints
        joined = {endpoint.network for endpoint in endpoints}
        before = list(work.container.addresses)
        left = work.arguments.get("left_network")
        names = [name for name in before if name != left or name in joined]
        names += [name for name in work.networks if name not in before and name in joined]
        values["addresses"] = work.plugs.networks.addresses(names, endpoints)
    return Failure(values | {"status_reason": reason})
