"""`commit`: an image of the container as it is now."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.db import images
from tierce.images.reference import Reference, parse
from tierce.model.container import RuntimeState
from tierce.model.errors import TierceError


class Commit:
    """The runtime freezes a container that runs, and thaws it itself. If the agent or the runtime ends in
    between, the next attempt does.
    """

    action = "commit"
    event = "compute__do_container_commit"
    must_succeed = False
    destroys = False

    def stages(self, work: Work) -> Sequence[Stage]:
        steps = (
            Step("image", _ensure_image, _thaw),
            Step("thawed", _thaw),
            Step("record", _record),
        )
        return (Stage(self.event, steps, Work.values_from_report),)

    def failure(self, work: Work, reason: str) -> Failure:
        try:
            values = work.values_from_report()
        except TierceError:
            values = {}
        return Failure(values | {"status_reason": reason})


def _ensure_image(work: Work) -> None:
    work.image = work.plugs.commits.save(work.name, _name(work))


def _thaw(work: Work) -> None:
    report = work.inspect() if work.arguments["running"] else None
    if report is not None and report.state == RuntimeState.PAUSED:
        work.plugs.runtime.containers.unpause(work.name)


def _record(work: Work) -> None:
    made, name, now = work.image, _name(work), work.plugs.clock.now()
    assert made is not None  # the image step ran

    def write(session: Session) -> None:
        record = images.made(
            session, work.arguments["record"], work.container, name.name, name.tag or "", now
        )
        images.pulled(session, record.uuid or "", made.id, made.size, now)

    work.plugs.database.write(write)


def _name(work: Work) -> Reference:
    return parse(f"{work.arguments['repository']}:{work.arguments['tag']}")
