"""`resize`: other limits for a container that goes on as it is."""

from collections.abc import Sequence
from typing import Any

from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.model.errors import TierceError
from tierce.placement.base import Resources


class Resize:
    """The row and its claim hold the larger of both sizes while this is at work.

    It must succeed: a runtime that is away may have the new limits or the old ones, so nothing can be said
    of the container before it is back.
    """

    action = "resize"
    event = "compute__do_container_resize"
    must_succeed = True
    destroys = False

    def stages(self, work: Work) -> Sequence[Stage]:
        step = Step("limits", lambda work: _limit(work, ""), lambda work: _limit(work, "_before"))
        return (
            Stage(
                self.event,
                (step,),
                lambda work: work.values_from_report() | _size(work, ""),
                _claim(work, ""),
            ),
        )

    def failure(self, work: Work, reason: str) -> Failure:
        try:
            values = work.values_from_report()
        except TierceError:
            values = {}
        return Failure(values | _size(work, "_before") | {"status_reason": reason}, _claim(work, "_before"))


def _limit(work: Work, which: str) -> None:
    arguments = work.arguments
    cpuset = arguments.get(f"cpuset{which}") or {}
    work.plugs.runtime.containers.resize(
        work.name, arguments[f"memory{which}"], arguments[f"cpu{which}"], cpuset.get("cpuset_cpus") or ()
    )


def _size(work: Work, which: str) -> dict[str, Any]:
    cpu, memory = work.arguments[f"cpu{which}"], work.arguments[f"memory{which}"]
    values = {"cpu": cpu, "memory": None if memory is None else str(memory)}
    cpuset = work.arguments.get(f"cpuset{which}")
    return values if cpuset is None else values | {"cpuset": cpuset}


def _claim(work: Work, which: str) -> Resources:
    cpu, memory = work.arguments[f"cpu{which}"], work.arguments[f"memory{which}"]
    return Resources.of(cpu, memory, work.container.disk)
