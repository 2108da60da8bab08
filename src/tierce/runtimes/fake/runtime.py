"""The fake engine as a Runtime."""

import dataclasses
from collections.abc import Callable, Mapping

from oslo_config import cfg

from tierce.model.clock import SystemClock
from tierce.model.container import AddressRange, FoundImage, ImageFacts
from tierce.model.errors import ImageNotFound, ImagePullFailed, RuntimeConflict
from tierce.runtimes.fake.archives import FakeArchives
from tierce.runtimes.fake.containers import FakeContainers
from tierce.runtimes.fake.engine import ALIVE, FakeEngine
from tierce.runtimes.fake.terminals import FakeTerminals


class FakeImages:
    """`ImageStore` of `runtimes/base.py`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    def find(self, reference: str) -> ImageFacts | None:
        with self._engine.call("images.find"):
            return self._find(reference)

    def pull(
        self,
        reference: str,
        *,
        auth: Mapping[str, str] | None,
        idle_timeout: float,
        progress: Callable[[], None] = lambda: None,
    ) -> ImageFacts:
        with self._engine.call("images.pull"):
            progress()
            self._ask_registry(reference, auth)
            return self._engine.add_image(reference)

    def require_access(self, reference: str, *, auth: Mapping[str, str] | None) -> None:
        with self._engine.call("images.require_access"):
            self._ask_registry(reference, auth)

    def _ask_registry(self, reference: str, auth: Mapping[str, str] | None) -> None:
        logins = self._engine.logins.get(reference.partition("/")[0])
        if logins is not None and (auth is None or logins.get(auth["username"]) != auth["password"]):
            raise ImagePullFailed("unauthorized: authentication required")
        if self._engine.registry is not None and reference not in self._engine.registry:
            raise ImageNotFound(f"manifest for {reference} not found")

    def remove(self, reference: str) -> None:
        with self._engine.call("images.remove"):
            facts = self._find(reference)
            if facts is None:
                return
            names = {facts.id, *facts.tags}
            if any(each.spec.image in names for each in self._engine.containers.values()):
                raise RuntimeConflict(f"Image {reference} is being used by a container")
            for name in facts.tags or (facts.id,):
                del self._engine.images[name]

    def search(self, term: str) -> list[FoundImage]:
        """What can be pulled is what its public registry has."""
        with self._engine.call("images.search"):
            names = {reference.rpartition(":")[0] for reference in self._engine.registry or ()}
            return [FoundImage(name) for name in sorted(names) if term in name]

    def _find(self, reference: str) -> ImageFacts | None:
        images = self._engine.images
        return images.get(reference) or next((each for each in images.values() if each.id == reference), None)


class FakeNetworks:
    """`EngineNetworks` of `runtimes/base.py`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    def ensure(self, name: str, labels: Mapping[str, str], addresses: AddressRange | None = None) -> str:
        with self._engine.call("networks.ensure"):
            return self._engine.add_network(name, labels, addresses).id

    def remove(self, name: str) -> None:
        with self._engine.call("networks.remove"):
            users = [each for each in self._engine.containers.values() if name in each.addresses]
            if any(each.state in ALIVE for each in users):
                raise RuntimeConflict(f"network {name} has active endpoints")
            self._engine.networks.pop(name, None)

    def list(self, labels: Mapping[str, str]) -> list[str]:
        with self._engine.call("networks.list"):
            networks = self._engine.networks.items()
            return [name for name, network in networks if labels.items() <= network.labels.items()]


@dataclasses.dataclass(frozen=True)
class FakeRuntime:
    """A connection to a fake engine."""

    engine: FakeEngine
    name: str = "the fake engine"

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "FakeRuntime":
        """An engine of its own, on which every image can be pulled."""
        return cls(FakeEngine(SystemClock()))

    @property
    def containers(self) -> FakeContainers:
        return FakeContainers(self.engine)

    @property
    def terminals(self) -> FakeTerminals:
        return FakeTerminals(self.engine)

    @property
    def archives(self) -> FakeArchives:
        return FakeArchives(self.engine)

    @property
    def images(self) -> FakeImages:
        return FakeImages(self.engine)

    @property
    def networks(self) -> FakeNetworks:
        return FakeNetworks(self.engine)

    def close(self) -> None:
        """Nothing to let go of: the engine stays as it is."""
