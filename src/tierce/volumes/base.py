"""The contract between the node agent and a volume driver."""

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping
from typing import Final, Protocol

VOLUME_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
VOLUME_NAME_RULE: Final = (
    "1 to 128 letters, digits, underscores, dots and dashes, beginning with a letter or a digit."
)


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

    def sweep(self, owner_labels: Mapping[str, str], known: Callable[[], Collection[str]]) -> None:
        """Ensure nothing is left on this node of volumes that no row stands for; named ones stay.

        `known` gives the uuids of the rows. It is asked after looking at what is here, so a volume that is
        accepted and made meanwhile is among them or was not seen. What cannot be removed stays for the
        next time, and all stays where somebody with other labels has swept before: with a new database,
        say, whose rows tell nothing of these volumes.
        """
