"""The contract between the node agent and a volume driver."""

import dataclasses
from typing import Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class VolumeSpec:
    """A row of the volume table, as a driver needs it.

    `contents` is base64 text of a file to inject; `name` a volume that outlives its containers.
    """

    uuid: str
    project_id: str
    contents: str | None = dataclasses.field(default=None, repr=False)
    name: str | None = None


class VolumeDriver(Protocol):
    def ensure(self, volume: VolumeSpec) -> str:
        """Ensure the volume is usable on this node; return the path to bind into the container."""

    def remove(self, volume: VolumeSpec) -> None:
        """Ensure nothing of it is left on this node. Never follows a mount point or a link."""
