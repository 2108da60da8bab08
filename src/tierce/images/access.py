"""Which projects may use the images that a user's credentials brought to a node.

An engine gives what it has to whoever asks. An image that was pulled with the credentials of a project
is therefore written down here, with the projects that have shown that they may pull it; every other
image is for all. It is written down before the pull begins, so that no crash leaves a private image
behind that nobody knows of. What another service pulled to the node earlier is not known here.
"""

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tierce.files import replacing
from tierce.images.reference import canonical_names
from tierce.model.container import ImageFacts


class ImageAccess:
    """The record of one node, kept in `file`; without one it lasts as long as the object."""

    def __init__(self, file: Path | None = None) -> None:
        """Raises OSError and ValueError for a file that is there and cannot be read."""
        self._file = file
        self._lock = threading.Lock()
        present = json.loads(file.read_text()) if file is not None and file.exists() else {}
        self._projects: dict[str, list[str | None]] = present.get("projects", {})
        """Image id -> the projects that may use it."""
        self._pulling: dict[str, str | None] = present.get("pulling", {})
        """Name of an image that is being pulled for a project -> the id it had for everybody before."""
        self._under_way: Counter[str] = Counter()
        """Name of an image -> how many such pulls of it this process does now, with different credentials."""

    def allows(self, found: ImageFacts, name: str, project: str | None) -> bool:
        """Whether the project may use the image that the node has, found as `name` (canonical)."""
        with self._lock:
            if found.id in self._projects:
                return project in self._projects[found.id]
            names = {name, *canonical_names(found.tags)}
            return all(self._pulling[each] == found.id for each in names & self._pulling.keys())

    def grant(self, found: ImageFacts, project: str | None) -> None:
        """Add a project that has shown that it may pull the image; nothing to do for one that is for all."""
        with self._lock:
            projects = self._projects.get(found.id)
            if projects is not None and project not in projects:
                projects.append(project)
                self._save()

    def forget_gone(self, exists: Callable[[str], bool]) -> None:
        """Drop what is written down of images that the node has no more; `exists` looks for an id.

        Raises what `exists` does; what it had not answered for stays.
        """
        with self._lock:
            known = list(self._projects)
        for image in known:
            with self._lock:
                if self._under_way:
                    return  # what such a pull brings may be one of them
                if image in self._projects and not exists(image):
                    del self._projects[image]
                    self._save()

    @contextlib.contextmanager
    def restricted(self, name: str, find: Callable[[], ImageFacts | None]) -> Iterator[None]:
        """Pull the image `name` (canonical) inside: what that brings is for nobody before it is granted.

        What was for everybody before stays so. `find` looks for the image on the node.
        """
        before = find()
        with self._lock:
            first = before.id if before and before.id not in self._projects else None
            # A pull of it that is under way, or that a crash cut short, has noted what was there before both.
            public = self._pulling.setdefault(name, first)
            self._under_way[name] += 1
            self._save()
        try:
            yield
        finally:
            try:
                after = find()
            except BaseException:
                with self._lock:
                    self._under_way[name] -= 1
                raise
            with self._lock:
                self._under_way[name] -= 1
                if after is not None and after.id != public and not self._has_other_names(after, name):
                    self._projects.setdefault(after.id, [])
                if not self._under_way[name]:
                    self._pulling.pop(name, None)
                self._under_way += Counter()  # drops what is zero
                self._save()

    def _has_other_names(self, image: ImageFacts, name: str) -> bool:
        """Whether it was on the node already, for everybody, under a name of its own."""
        return bool(canonical_names(image.tags) - self._pulling.keys() - {name})

    def _save(self) -> None:
        if self._file is None:
            return
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        content: dict[str, Any] = {"projects": self._projects, "pulling": self._pulling}
        with replacing(self._file) as stream:
            stream.write(json.dumps(content).encode())
