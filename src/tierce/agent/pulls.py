"""Images that an administrator asked for: recorded in the database, pulled and removed here."""

import contextvars
import logging
import threading
from typing import Protocol

from tierce.agent.operations.base import Plugs
from tierce.db import images
from tierce.images.base import ImageRequest
from tierce.model.errors import Conflict, TierceError

LOG = logging.getLogger(__name__)


class PulledImage(Protocol):
    """What is known of a pull: a row of the image table, or a message about it."""

    @property
    def uuid(self) -> str | None: ...

    @property
    def repo(self) -> str | None: ...

    @property
    def tag(self) -> str | None: ...


class Pulls:
    """Each pull has a thread of its own, which the end of the process does not wait for."""

    def __init__(self, plugs: Plugs) -> None:
        self._plugs = plugs
        self._lock = threading.Lock()
        self._under_way: set[str] = set()

    def resume(self) -> None:
        """Begin what an earlier run left, and what no message told of."""
        host = self._plugs.host
        for image in self._plugs.database.read(lambda session: images.unfinished(session, host)):
            self.begin(image)

    def begin(self, image: PulledImage) -> None:
        """Pull in the background, unless that is under way.

        The record tells when the node has the image, and goes when that fails.
        """
        uuid = image.uuid or ""
        # What it logs is about the request that asked for it.
        work = contextvars.copy_context().run
        with self._lock:
            if uuid in self._under_way:
                return
            threading.Thread(
                target=work, args=(self._run, image, uuid), name="tierce-pull", daemon=True
            ).start()
            # Not before: where a thread cannot be had, it is begun by a later `resume`.
            self._under_way.add(uuid)

    def remove(self, image: PulledImage) -> None:
        """Ensure that neither the image nor its record is there.

        Of an image with several names only this one goes. A record whose pull never succeeded goes alone: an
        image of that name, if there is one, came from elsewhere. Raises Conflict while it is pulled or used,
        RuntimeUnreachable.
        """
        uuid = image.uuid or ""
        with self._lock:
            if uuid in self._under_way:
                raise Conflict(f"Image {uuid} is being pulled. Try again when that has ended.")
        row = self._plugs.database.read(lambda session: images.find(session, uuid))
        if row is not None and row.image_id is not None:
            self._plugs.images.remove(_reference(row))
        self._plugs.database.write(lambda session: images.forget(session, uuid))

    def _run(self, image: PulledImage, uuid: str) -> None:
        try:
            self._pull(image, uuid)
        finally:
            with self._lock:
                self._under_way.discard(uuid)

    def _pull(self, image: PulledImage, uuid: str) -> None:
        plugs, reference = self._plugs, _reference(image)
        if plugs.database.read(lambda session: images.find(session, uuid)) is None:
            LOG.info("Nobody wants %s any more", reference)  # the message is older than its record's end
            return
        try:
            facts = plugs.images.ensure(ImageRequest(reference, "always"))
        except TierceError as exc:
            LOG.warning("Pulling %s failed: %s", reference, exc)
            plugs.database.write(lambda session: images.forget(session, uuid))
            return
        now = plugs.clock.now()
        plugs.database.write(lambda session: images.pulled(session, uuid, facts.id, facts.size, now))


def _reference(image: PulledImage) -> str:
    tag = image.tag or ""
    return f"{image.repo}{tag}" if tag.startswith("@") else f"{image.repo}:{tag}"
