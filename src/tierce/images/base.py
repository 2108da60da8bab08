"""The contract between the node agent and an image driver."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Protocol

from tierce.model.container import ImageFacts


@dataclasses.dataclass(frozen=True, slots=True)
class ImageRequest:
    """An image that a container needs.

    `policy` is always, ifnotpresent or never. `auth` (username, password) is for the registry at
    `auth_domain` and is sent nowhere else.
    """

    reference: str
    policy: str = "always"
    auth_domain: str | None = None
    auth: Mapping[str, str] | None = dataclasses.field(default=None, repr=False)


class ImageDriver(Protocol):
    def ensure(self, request: ImageRequest, progress: Callable[[], None] = lambda: None) -> ImageFacts:
        """Ensure the node has the image.

        Concurrent calls for one image share one pull. Raises ImageNotFound, ImagePullFailed,
        RuntimeUnreachable, InvalidValue for a name that breaks the grammar.
        """

    def remove(self, reference: str) -> None:
        """Ensure the node does not have it; RuntimeConflict while it is used or being pulled."""
