"""An engine's images and the registry behind them, scripted; and the driver over them."""

from collections.abc import Callable, Mapping

from tierce.images.access import ImageAccess
from tierce.images.registry import DefaultRegistry, RegistryImages
from tierce.model.container import ImageFacts
from tierce.model.errors import ImagePullFailed

ALICE = {"username": "alice", "password": "secret"}
BOB = {"username": "bob", "password": "hidden"}
NODE = {"username": "node", "password": "shared"}

Progress = Callable[[], None]


class Store:
    """An engine's images; `during_pull` scripts what happens while one is pulled."""

    def __init__(
        self, *present: str, during_pull: Callable[[Progress], None] = lambda progress: None
    ) -> None:
        self.images = {name: facts(name) for name in present}
        self.during_pull = during_pull
        self.pulls: list[tuple[str, Mapping[str, str] | None]] = []
        self.idle_timeouts: list[float] = []
        self.asked: list[tuple[str, Mapping[str, str] | None]] = []
        self.members: list[Mapping[str, str]] | None = None
        """The credentials that the registry of all images takes; None: it asks for none."""

    def find(self, reference: str) -> ImageFacts | None:
        by_id = {image.id: image for image in self.images.values()}
        return self.images.get(reference) or by_id.get(reference)

    def pull(
        self,
        reference: str,
        *,
        auth: Mapping[str, str] | None,
        idle_timeout: float,
        progress: Progress = lambda: None,
    ) -> ImageFacts:
        self.require_access(reference, auth=auth)
        self.pulls.append((reference, auth))
        self.idle_timeouts.append(idle_timeout)
        self.during_pull(progress)
        return self.images.setdefault(reference, facts(reference))

    def require_access(self, reference: str, *, auth: Mapping[str, str] | None) -> None:
        self.asked.append((reference, auth))
        if self.members is not None and auth not in self.members:
            raise ImagePullFailed("unauthorized: authentication required")

    def remove(self, reference: str) -> None:
        self.images = {
            name: image for name, image in self.images.items() if reference not in (name, image.id)
        }


def facts(name: str) -> ImageFacts:
    return ImageFacts(id=f"sha256:{name.encode().hex()}", tags=(name, "<none>:<none>"))


def driver(store: Store, default_registry: DefaultRegistry | None = None) -> RegistryImages:
    return RegistryImages(store, ImageAccess(), idle_timeout=7.0, default_registry=default_registry)
