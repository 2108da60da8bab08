"""The networks of a container, as steps of an operation."""

from collections.abc import Callable

from tierce.agent.operations.base import Work
from tierce.db import containers
from tierce.model.errors import RuntimeNotFound
from tierce.networks.base import RequestedNetwork


def ensure(work: Work) -> None:
    """Ensure that the networks asked for exist, and note how the runtime joins them."""
    asked = work.arguments.get("requested_networks") or ()
    _ensure(work, [RequestedNetwork.from_wire(item) for item in asked])


def release(work: Work) -> None:
    """Ensure nothing of the container is left in its networks, nor those that only it needed."""
    container, plugs = work.container, work.plugs
    plugs.networks.release(
        container.uuid,
        container.project_id or "",
        work.networks,
        still_used=lambda: plugs.database.read(
            lambda session: containers.networks_of_neighbours(
                session, container.project_id, plugs.host, container.uuid
            )
        ),
    )


def starting(work: Work, start: Callable[[str], None]) -> None:
    """Call `start` on the container; once more, its networks made anew, if they were removed meanwhile.

    The runtime says "not found" of whatever a start needs, so anything of the kind is tried once more.
    """
    if work.attempt > 1:
        # An earlier attempt may have ended after leaving a network that it meant to join again.
        _rejoin(work)
    try:
        start(work.name)
    except RuntimeNotFound:
        if work.inspect() is None:
            raise
        _rejoin(work)
        start(work.name)


def _rejoin(work: Work) -> None:
    """Ensure the container is in its networks as they are now, whatever the runtime remembers of them."""
    _ensure(work, [RequestedNetwork(network=network) for network in work.networks])
    work.plugs.runtime.containers.rejoin(work.name, work.attachments)


def _ensure(work: Work, requested: list[RequestedNetwork]) -> None:
    container = work.container
    work.attachments = work.plugs.networks.ensure(
        container.uuid, container.project_id or "", container.name or "", requested
    )
