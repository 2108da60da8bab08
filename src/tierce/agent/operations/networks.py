"""The networks of a container, as steps of an operation."""

from collections.abc import Callable, Collection

from tierce.agent.operations.base import Work
from tierce.db import networks
from tierce.model.errors import RuntimeNotFound
from tierce.networks.base import RequestedNetwork


def ensure(work: Work) -> None:
    """Ensure that the container's networks exist, and note how the runtime joins them.

    They are those that the action asks for; without any, those that the container is in, as they were
    asked for.
    """
    _ensure_asked(work, anew=True)


def ensure_unseen(work: Work) -> None:
    """As `ensure`, but networks seen before are taken to be there. Who finds one missing calls `ensure`."""
    _ensure_asked(work, anew=False)


def _ensure_asked(work: Work, *, anew: bool) -> None:
    given = work.arguments.get("requested_networks")
    if given:
        _ensure(work, [RequestedNetwork.from_wire(item) for item in given], anew=anew)
    else:
        _ensure(work, _present(work), anew=anew)


def ensure_present(work: Work) -> None:
    """Ensure that the networks exist that the container is in, and note how the runtime joins them anew."""
    _ensure(work, _present(work), anew=True)


def _present(work: Work) -> list[RequestedNetwork]:
    asked = work.plugs.database.read(lambda session: networks.asked(session, work.container.uuid))
    return [RequestedNetwork.from_wire(asked.get(name, {"network": name})) for name in work.networks]


def release(work: Work, *, staying: Collection[str] = ()) -> None:
    """Ensure nothing of the container is left in its networks but for the `staying` ones, nor those that
    only it needed.
    """
    container, plugs = work.container, work.plugs

    def still_used() -> set[str]:
        needed = plugs.database.read(
            lambda session: networks.needed(session, container.project_id, plugs.host, container.uuid)
        )
        return needed | set(staying)

    plugs.networks.release(container.uuid, container.project_id or "", work.networks, still_used=still_used)


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
    ensure_present(work)
    work.plugs.runtime.containers.rejoin(work.name, work.attachments)


def _ensure(work: Work, requested: list[RequestedNetwork], *, anew: bool) -> None:
    container = work.container
    work.attachments = work.plugs.networks.ensure(
        container.uuid, container.project_id or "", container.name or "", requested, anew=anew
    )
