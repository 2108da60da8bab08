"""Containers and their images: making a container anew of one, and one of a container."""

import uuid
from typing import Any

from sqlalchemy.orm import Session

from tierce.control.intake import Intake
from tierce.control.messages import Messages
from tierce.control.quotas import Quotas
from tierce.db import images, networks, zun_actions
from tierce.db.tables import Container
from tierce.images import committed
from tierce.images.reference import Reference, parse
from tierce.model.context import RequestContext
from tierce.model.lifecycle import Status
from tierce.placement import cores
from tierce.placement.base import Placement, Resources


class Remaking:
    """Both methods raise what `Lifecycle.start` does."""

    def __init__(self, intake: Intake, quotas: Quotas, placement: Placement, messages: Messages) -> None:
        self._intake = intake
        self._quotas = quotas
        self._placement = placement
        self._messages = messages

    def rebuild(
        self, context: RequestContext, ident: str, image: str | None, image_driver: str | None
    ) -> None:
        """Accept that the container is made anew, of another image if one is given; it runs if it did.

        Raises InvalidValue for a name that is no image's, ResourcesUnavailable when its node has no room
        any more (it had let it go because the creation had failed).
        """

        def work(session: Session) -> tuple[Container, bool]:
            container = self._intake.admit(session, context, ident, "rebuild")
            run = container.status == Status.RUNNING
            wanted: dict[str, Any] = {
                "image": image or container.image,
                "image_driver": image_driver or container.image_driver,
            }
            if image is not None and wanted["image_driver"] == "docker":
                parse(image)
            size = Resources.of(container.cpu, container.memory, container.disk)
            self._placement.reclaim(session, container.uuid, container.host or "", size)
            if cores.lacks(container):
                wanted["cpuset"] = cores.take(session, container, container.host or "")
            arguments = rebuild_arguments(session, container, run)
            self._intake.queue(session, context, container, "rebuild", "rebuild", arguments, **wanted)
            return container, run

        container, run = self._intake.decide(work)
        self._messages.rebuild(context, container, run)

    def commit(self, context: RequestContext, ident: str, reference: Reference) -> str:
        """Accept that an image is made of the container, to be called `reference` in its project.

        Returns the uuid of the image's record, which is there when the image is. Raises InvalidValue for
        a name that is too long, OverQuota when the project keeps too many such images on the node.
        """

        def work(session: Session) -> tuple[Container, Reference, str]:
            container = self._intake.admit(session, context, ident, "commit")
            name = committed.name_for(container.project_id or "", reference)
            self._quotas.reserve_image(session, container.project_id or "", container.host or "", name)
            known = images.named(session, name.name, name.tag or "", container.host or "")
            record = known.uuid if known is not None and known.uuid else str(uuid.uuid4())
            arguments = {
                "repository": name.name,
                "tag": name.tag,
                "record": record,
                "running": container.status == Status.RUNNING,
            }
            self._intake.queue(session, context, container, "commit", "commit", arguments)
            return container, name, record

        container, name, record = self._intake.decide(work)
        self._messages.commit(context, container, name.name, name.tag or "")
        return record


def rebuild_arguments(session: Session, container: Container, run: bool) -> dict[str, Any]:
    """What the node has to know of a rebuild, of the container as it is before that is accepted.

    The networks are those that it is in; of one whose creation failed, those that it was to be in.
    """
    arguments: dict[str, Any] = {
        "run": run,
        "replaces": container.container_id,
        "image_before": container.image,
        "image_driver_before": container.image_driver,
    }
    if not container.addresses:
        arguments["requested_networks"] = list(networks.asked(session, container.uuid).values())
        # What could not be made as it was asked for cannot be made anew so either.
        arguments |= zun_actions.refused_creation(session, container.uuid)
    return arguments
