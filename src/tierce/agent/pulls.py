"""Pulls that an administrator asked for: recorded in the database, done here, resumed after a restart."""

import logging
import threading
from typing import Protocol

from tierce.agent.operations.base import Plugs
from tierce.db import images
from tierce.images.base import ImageRequest
from tierce.model.errors import TierceError

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

    def resume(self) -> None:
        """Begin again what an earlier run left."""
        host = self._plugs.host
        for image in self._plugs.database.read(lambda session: images.unfinished(session, host)):
            self.begin(image)

    def begin(self, image: PulledImage) -> None:
        """Pull in the background. The record tells when the node has the image, and goes when that fails."""
        threading.Thread(target=self._pull, args=(image,), name="tierce-pull", daemon=True).start()

    def _pull(self, image: PulledImage) -> None:
        plugs, uuid, tag = self._plugs, image.uuid or "", image.tag or ""
        reference = f"{image.repo}{tag}" if tag.startswith("@") else f"{image.repo}:{tag}"
        try:
            facts = plugs.images.ensure(ImageRequest(reference, "always"))
        except TierceError as exc:
            LOG.warning("Pulling %s failed: %s", reference, exc)
            plugs.database.write(lambda session: images.forget(session, uuid))
            return
        now = plugs.clock.now()
        plugs.database.write(lambda session: images.pulled(session, uuid, facts.id, facts.size, now))
