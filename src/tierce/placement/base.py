"""The contract of a placement plug: what nodes offer, and claims that cannot be overrun."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Protocol

from sqlalchemy.orm import Session

from tierce.model.memory import mebibytes


@dataclasses.dataclass(frozen=True, slots=True)
class Resources:
    """An amount: vCPUs (whole), MiB, GiB."""

    vcpus: int = 0
    memory_mb: int = 0
    disk_gb: int = 0

    @classmethod
    def of(cls, cpu: float | None, memory: int | str | None, disk: int | None) -> "Resources":
        """What a container of this size takes: part of a vCPU counts as a whole one."""
        return cls(max(1, math.ceil(cpu or 0)), max(1, mebibytes(memory) or 0), disk or 0)

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(
            self.vcpus + other.vcpus, self.memory_mb + other.memory_mb, self.disk_gb + other.disk_gb
        )

    def beyond(self, other: "Resources") -> "Resources":
        """What this has more of than the other."""
        return Resources(
            max(0, self.vcpus - other.vcpus),
            max(0, self.memory_mb - other.memory_mb),
            max(0, self.disk_gb - other.disk_gb),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A node, what it offers in all (overcommit included) and what is taken."""

    host: str
    capacity: Resources
    used: Resources

    def shortage(self, asked: Resources) -> str | None:
        """Why `asked` does not fit, naming what is short; None when it fits."""
        short = [
            f"{capacity - used} of {capacity} {unit} free, {want} asked"
            for unit, capacity, used, want in (
                ("vCPU", self.capacity.vcpus, self.used.vcpus, asked.vcpus),
                ("MiB memory", self.capacity.memory_mb, self.used.memory_mb, asked.memory_mb),
                ("GiB disk", self.capacity.disk_gb, self.used.disk_gb, asked.disk_gb),
            )
            if want > max(0, capacity - used)
        ]
        return "; ".join(short) or None


class Placement(Protocol):
    def candidates(self, session: Session) -> Sequence[Candidate]:
        """Every node that offers anything."""

    def claim(
        self, session: Session, consumer: str, host: str, asked: Resources, *, wait: bool = True
    ) -> bool:
        """Give `consumer` (a container's uuid) `asked` of `host`, in the caller's transaction if it can.

        False, with nothing taken, when somebody else is taking of the node at this moment and we are not to
        `wait` for the end of that. Raises ResourcesUnavailable, saying what is short.
        """

    def reclaim(self, session: Session, consumer: str, host: str, asked: Resources) -> None:
        """Ensure `consumer` has a claim to exactly `asked` of `host`, whatever it held of it before.

        A container that a Zun process placed there without a claim holds the size that its row has. Only what
        goes beyond what is held must be free: to hold less always succeeds. Raises as `claim`.
        """

    def release(self, session: Session, consumer: str) -> None:
        """Ensure `consumer` has no claim.

        Its row must say then that it is being deleted, or was never made: else its size counts instead.
        """

    def audit(self, session: Session, host: str) -> int:
        """Release what containers hold that do not exist any more; how many there were."""
