"""The points at which an action may be cut short, and agents whose actions stop at one of them for good.

There is a point before and after each step of an operation and each call that it makes to its runtime, and
one when the end of a stage has been committed. Of a container with the label `dies_in` the first attempt of
that action notes each point that it reaches. At the one whose number is in the label `dies_at` it stays,
until somebody kills its agent.
"""

import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Iterator

from tierce.agent.operations.base import Work

ACTION_LABEL = "dies_in"
NUMBER_LABEL = "dies_at"


@dataclasses.dataclass
class _Way:
    """What an action has come by."""

    file: pathlib.Path
    end: int
    points: int = 0

    def reach(self, point: str) -> None:
        self.points += 1
        with self.file.open("a") as file:
            file.write(f"{point}\n")
        if self.points == self.end:
            threading.Event().wait()


class Points:
    """Of all programs whose files are in one directory."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory / "points"
        self._directory.mkdir(exist_ok=True)
        self._thread = threading.local()

    def reached(self, uuid: str) -> list[str]:
        """The points that the container's action has come to, in order."""
        file = self._file(uuid)
        return file.read_text().splitlines() if file.exists() else []

    @contextlib.contextmanager
    def on_the_way(self, action: str, work: Work) -> Iterator[None]:
        """Inside, this thread does an attempt of the action."""
        labels = work.container.labels
        if work.attempt == 1 and labels.get(ACTION_LABEL) == action:
            self._thread.way = _Way(self._file(work.container.uuid), int(labels[NUMBER_LABEL]))
        try:
            yield
        finally:
            self._thread.way = None

    def reach(self, *point: str) -> None:
        """Say that this thread has come to a point, whatever it does."""
        way: _Way | None = getattr(self._thread, "way", None)
        if way is not None:
            way.reach(" ".join(point))

    def _file(self, uuid: str) -> pathlib.Path:
        return self._directory / uuid
