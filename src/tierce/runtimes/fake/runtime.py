"""The fake engine as a Runtime."""

import dataclasses
from collections.abc import Callable, Mapping

from oslo_config import cfg

from tierce.model.clock import SystemClock
from tierce.model.container import ImageFacts
from tierce.model.errors import ImageNotFound, RuntimeConflict
from tierce.runtimes.fake.containers import FakeContainers
from tierce.runtimes.fake.engine import ALIVE, FakeEngine


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
            if self._engine.registry is not None and reference not in self._engine.registry:
                raise ImageNotFound(f"manifest for {reference} not found")
            return self._engine.add_image(reference)

    def remove(self, reference: str) -> None:
        with self._engine.call("images.remove"):
            facts = self._find(reference)
            if facts is None:
                return
            names = {facts.id, *facts.tags}
            if any(each.spec.image in names for each in self._engine.containers.values()):
                raise RuntimeConflict(f"Image {reference} is being used by a container")
            for tag in facts.tags:
                del self._engine.images[tag]

    def _find(self, reference: str) -> ImageFacts | None:
        images = self._engine.images
        return images.get(reference) or next((each for each in images.values() if each.id == reference), None)


class FakeNetworks:
    """`EngineNetworks` of `runtimes/base.py`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    def ensure(self, name: str, labels: Mapping[str, str]) -> str:
        with self._engine.call("networks.ensure"):
            return self._engine.add_network(name, labels).id

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
    def images(self) -> FakeImages:
        return FakeImages(self.engine)

    @property
    def networks(self) -> FakeNetworks:
        return FakeNetworks(self.engine)

    def close(self) -> None:
        """Nothing to let go of: the engine stays as it is."""
