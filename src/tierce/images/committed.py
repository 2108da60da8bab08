"""Images made of containers, kept in the engine of the node that made them.

What a user calls `web:1` is kept under a name that no registry has and that belongs to the user's project:
under its own name it would pass for the image that everybody else means by it.
"""

import contextlib
import hashlib
from typing import Protocol

from tierce.images.reference import Reference
from tierce.model.container import ImageFacts
from tierce.model.errors import InvalidValue, RuntimeConflict

DOMAIN = "committed.invalid"
"""The registry in the names of these images: there is none that could be called so (RFC 2606)."""

_LONGEST = 255
"""Characters of a name in the image table."""


class CommitStore(Protocol):
    """Where images made of containers go."""

    def save(self, container: str, name: Reference) -> ImageFacts:
        """Ensure there is an image of the runtime's container `container`, as it is now, under `name`.

        Whatever had the name before is gone. Raises what the runtime raises.
        """


class Committer(Protocol):
    """The part of `runtimes.base.Containers` that is needed here."""

    def commit(self, ref: str, repository: str, tag: str) -> ImageFacts: ...


class ImageStore(Protocol):
    """The part of `runtimes.base.ImageStore` that is needed here."""

    def find(self, reference: str) -> ImageFacts | None: ...

    def remove(self, reference: str) -> None: ...


class EngineCommits:
    """A CommitStore: the engine itself. Its images are for containers of the same node."""

    def __init__(self, containers: Committer, images: ImageStore) -> None:
        self._containers = containers
        self._images = images

    def save(self, container: str, name: Reference) -> ImageFacts:
        previous = self._images.find(name.engine_name)
        made = self._containers.commit(container, name.name, name.tag or "")
        if previous is not None and previous.id != made.id and len(previous.tags) < 2:
            # It has lost its only name. A container may still be made of it.
            with contextlib.suppress(RuntimeConflict):
                self._images.remove(previous.id)
        return made


def name_for(project_id: str, reference: Reference) -> Reference:
    """What the project's image of this name is really called.

    Raises InvalidValue for a name with a digest, and for one that gets too long by that.
    """
    if reference.digest is not None:
        raise InvalidValue("An image that is still to be made has no digest yet.")
    owner = hashlib.sha256(f"{project_id} {reference.domain or ''}".encode()).hexdigest()[:16]
    name = Reference(DOMAIN, f"{owner}/{reference.path}", reference.tag or "latest")
    if len(name.name) > _LONGEST:
        most = _LONGEST - len(name.name) + len(reference.path)
        raise InvalidValue(f"The repository is too long: its path may have at most {most} characters.")
    return name
