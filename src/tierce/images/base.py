"""The contract between the node agent and an image driver."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tierce.model.container import FoundImage, ImageFacts


@dataclasses.dataclass(frozen=True, slots=True)
class ImageRequest:
    """An image that a container needs.

    `policy` is always, ifnotpresent or never. `auth` (username, password) is for the registry at
    `auth_domain` and is sent nowhere else. `project` is whose container it is; None: the service's own.
    """

    reference: str
    policy: str = "always"
    auth_domain: str | None = None
    auth: Mapping[str, str] | None = dataclasses.field(default=None, repr=False)
    project: str | None = None


class ImageDriver(Protocol):
    def ensure(self, request: ImageRequest, progress: Callable[[], None] = lambda: None) -> ImageFacts:
        """Ensure the node has the image.

        Concurrent calls for one image share one pull. Who waits for one calls `progress`: once, at its signs
        of life, and at `look_again`; what that raises ends the wait, and not the pull. Raises ImageNotFound,
        ImagePullFailed, RuntimeUnreachable, InvalidValue for a name that breaks the grammar.
        """

    def look_again(self) -> None:
        """Have everybody who waits for a pull call its `progress`."""

    def remove(self, reference: str) -> None:
        """Ensure the node does not have it; RuntimeConflict while it is used or being pulled."""

    def tidy(self) -> None:
        """Forget what is known of images that the node has no more. Raises RuntimeUnreachable."""

    def search(self, name: str, exact: bool) -> Sequence[FoundImage]:
        """Images whose names have `name` in them, or with `exact` are `name`.

        Raises InvalidValue for a bad name, OperationNotSupported where it cannot be searched,
        ImageSearchFailed, RuntimeUnreachable, RuntimeTimeout.
        """
