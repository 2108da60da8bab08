"""What ends the wait for a process or a pull: a KILL or a delete by force that was asked for since."""

import contextlib
from typing import Any, Final

from tierce.agent.operations.base import Plugs, runtime_name
from tierce.db import actions
from tierce.model.errors import Conflict, RuntimeFailure

_GRACEFUL: Final = frozenset({"stop", "reboot"})
"""Actions that give a process time to end."""


def cut_short(plugs: Plugs, uuid: str) -> None:
    """End what is waited for of a container if somebody who does not want to wait is behind it.

    A grace ends by a kill, and what gave it comes to its end then. A pull goes on without the container.
    """
    unfinished = plugs.database.read(lambda session: actions.unfinished_of(session, uuid))
    if any(_is_delete_by_force(*each) for each in unfinished[1:]):
        plugs.unwanted.add(uuid)
        plugs.images.look_again()
    names = [name for name, _ in unfinished]
    graceful = next((place for place, name in enumerate(names) if name in _GRACEFUL), len(names))
    if any(_is_kill(*each) or _is_delete_by_force(*each) for each in unfinished[graceful:]):
        # What cannot be killed now is dealt with when the turn comes to what was asked for.
        with contextlib.suppress(RuntimeFailure):
            plugs.runtime.containers.kill(runtime_name(uuid))


def require_wanted(plugs: Plugs, uuid: str) -> None:
    """Raises Conflict for a container that was deleted by force meanwhile."""
    if uuid in plugs.unwanted:
        raise Conflict(f"Container {uuid} is to be deleted.")


def ends(signal: str | None) -> bool:
    """Whether no process outlives this signal; None is the default one."""
    return (signal or "KILL").upper().removeprefix("SIG") in ("KILL", "9")


def _is_kill(action: str, arguments: dict[str, Any]) -> bool:
    return action == "kill" and ends(arguments.get("signal"))


def _is_delete_by_force(action: str, arguments: dict[str, Any]) -> bool:
    return action == "delete" and bool(arguments.get("force"))
