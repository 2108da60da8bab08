"""`rebuild`: the container made anew in place of the old one, of the same or another image.

First everything is made ready that the new one needs; until then the old one is left alone, so an image
that cannot be had costs nothing. Networks, volumes and the claim are the container's, and stay whatever
happens. Which of the two is there, an attempt after the first sees by the id of the old one.
"""

from collections.abc import Sequence
from typing import Any

from tierce.agent.operations import create, images, mounts, networks
from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.agent.operations.power import start_stage
from tierce.model.container import ContainerReport
from tierce.model.errors import TierceError
from tierce.model.lifecycle import Status

_EVENT = "compute__do_container_rebuild"


class Rebuild:
    action = "rebuild"
    event = "compute__do_image_pull"
    must_succeed = False
    destroys = False

    def stages(self, work: Work) -> Sequence[Stage]:
        if work.attempt > 1:
            found = work.inspect()
            if found is None and _has_run_to_its_end(work):
                return (Stage(self.event, (), Work.removed_itself),)
            # From here on a report is about the new one.
            work.report = None if _is_old(work, found) else found
        stages = [
            Stage(self.event, (Step("image", _ensure_image),), _left_to_the_image),
            Stage(
                _EVENT,
                (
                    Step("volumes", mounts.ensure),
                    Step("networks", networks.ensure),
                    Step("removed", _remove_old),
                    Step("container", create.ensure_container, create.remove_container),
                ),
                _rebuilt,
            ),
        ]
        return [*stages, start_stage(once=True)] if work.arguments["run"] else stages

    def failure(self, work: Work, reason: str) -> Failure:
        values: dict[str, Any] = {"status": Status.ERROR, "status_reason": reason}
        try:
            found = work.inspect()
        except TierceError:
            return Failure(values)
        if found is None:
            addresses = work.plugs.networks.addresses(work.networks, ())
            values |= {"container_id": None, "addresses": addresses}
        elif _is_old(work, found):
            values |= {
                "image": work.arguments["image_before"],
                "image_driver": work.arguments["image_driver_before"],
                "command": list(work.container.command or found.command),
                "entrypoint": list(work.container.entrypoint or found.entrypoint),
            }
        return Failure(values)


def _is_old(work: Work, found: ContainerReport | None) -> bool:
    return found is not None and found.id == work.arguments["replaces"]


def _has_run_to_its_end(work: Work) -> bool:
    """Whether an earlier attempt has made the new one, which removed itself: it must not run twice."""
    known = work.container.container_id
    return bool(work.container.auto_remove) and known not in (None, work.arguments["replaces"])


def _ensure_image(work: Work) -> None:
    if work.report is not None:
        return
    runtime = work.plugs.runtime
    old = runtime.containers.inspect(work.name)
    # Found before anything is pulled: its name may be the new one's by then.
    work.replaced_image = runtime.images.find(old.image if old else work.arguments["image_before"] or "")
    work.image = images.ensure(work.plugs, work.container)


def _left_to_the_image(work: Work) -> dict[str, Any]:
    """The columns that had the old image's own command or entrypoint: the new image decides them anew."""
    old, new, container = work.replaced_image, work.image, work.container
    if old is None or new is None or old.id == new.id:
        return {}
    columns = {"command": container.command, "entrypoint": container.entrypoint}
    defaults = {"command": list(old.command), "entrypoint": list(old.entrypoint)}
    return {name: [] for name, value in columns.items() if value == defaults[name]}


def _remove_old(work: Work) -> None:
    if work.report is None:
        work.plugs.runtime.containers.remove(work.name)


def _rebuilt(work: Work) -> dict[str, Any]:
    of_the_old = {"started_at": None, "finished_at": None, "exit_code": None, "status_reason": None}
    return of_the_old | create.created(work)
