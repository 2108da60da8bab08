"""The `local` volume driver: files and directories of this node, under one directory.

    <volume_dir>/<uuid>/<uuid>                 a file injected into a container
    <volume_dir>/<uuid>/                       a directory that goes with its container
    <volume_dir>/named/<project's hash>/<name>/  a directory that outlives its containers
    <volume_dir>/.owner                        whose rows decide which of these are left over

Containers write into these directories as they like, so nothing inside one is trusted: removal
follows no link, enters no mount point, and no depth of directories can exhaust it.
"""

import base64
import contextlib
import errno
import hashlib
import itertools
import json
import logging
import os
import stat
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from tierce.files import replacing
from tierce.model.errors import Conflict, InvalidValue, RuntimeFailure
from tierce.volumes.base import VOLUME_NAME, VOLUME_NAME_RULE, VolumeSpec

LOG = logging.getLogger(__name__)

_REMOVING = ".removing-"


class LocalVolumes:
    """VolumeDriver over `volume_dir`, which is made, closed to other users, if it does not exist.

    Every method raises InvalidValue for a volume whose uuid, name or contents are malformed, and
    RuntimeFailure with the system's reason when the disk refuses.
    """

    def __init__(self, volume_dir: str | os.PathLike[str]) -> None:
        self._root = Path(volume_dir)

    def ensure(self, volume: VolumeSpec) -> str:
        """Ensure the volume exists; return the path to bind.

        One that exists is left as it is: a container may have written to it.
        """
        path = self._path(volume)
        contents = None if volume.contents is None else _decoded(volume)
        with _os_errors_told(volume):
            for parent in reversed(path.relative_to(self._root).parents):
                (self._root / parent).mkdir(mode=0o700, parents=True, exist_ok=True)
            if contents is None:
                _make_directory(path)
                return str(path)
            path.mkdir(mode=0o700, exist_ok=True)
            file = path / volume.uuid
            if not file.is_file():
                _write(file, contents)
            return str(file)

    def remove(self, volume: VolumeSpec) -> None:
        """Ensure nothing of the volume is left, unless it is a named one: those are kept.

        Raises Conflict, having kept what is mounted there, when something is mounted in it.
        """
        if volume.name is not None:
            return
        path = self._path(volume)
        removing = self._root / f"{_REMOVING}{volume.uuid}"
        with _os_errors_told(volume):
            if os.path.lexists(path) or removing.exists():
                _remove(path, removing)

    def sweep(self, owner_labels: Mapping[str, str], known: Callable[[], Collection[str]]) -> None:
        """As the protocol says. The first who sweeps the directory becomes its owner."""
        try:
            here = self._here(json.dumps(owner_labels, sort_keys=True))
        except OSError as error:
            raise RuntimeFailure(f"The node's volumes cannot be looked through: {error.strerror}.") from error
        for volume in sorted(here.difference(known())):
            self._sweep(VolumeSpec(volume, project_id=""))

    def _here(self, owner: str) -> set[str]:
        """The uuids of what is here, or is being removed; none where it is not this owner's."""
        if not self._root.exists():
            return set()
        if not self._belongs_to(owner):
            LOG.warning("The volumes here belong to another node or database: none is removed")
            return set()
        return set(filter(_is_uuid, (name.removeprefix(_REMOVING) for name in os.listdir(self._root))))

    def _belongs_to(self, owner: str) -> bool:
        file = self._root / ".owner"
        if not file.exists():
            _write(file, owner.encode())
        return file.read_text() == owner

    def _sweep(self, volume: VolumeSpec) -> None:
        LOG.warning("Removing volume %s, which no row of the database stands for", volume.uuid)
        try:
            self.remove(volume)
        except (Conflict, RuntimeFailure) as exc:
            LOG.warning("It could not be removed, left for the next comparison: %s", exc)

    def _path(self, volume: VolumeSpec) -> Path:
        if volume.name is None:
            return self._root / _checked_uuid(volume.uuid)
        if not VOLUME_NAME.fullmatch(volume.name):
            raise InvalidValue(f"The name of a volume is {VOLUME_NAME_RULE}")
        project = hashlib.sha256(volume.project_id.encode()).hexdigest()
        return self._root / "named" / project / volume.name


def _checked_uuid(text: str) -> str:
    """`text`, which becomes a file name, if it is a UUID."""
    if not _is_uuid(text):
        raise InvalidValue("The id of a volume must be a UUID.")
    return text


def _is_uuid(text: str) -> bool:
    """Whether this is a UUID in its one usual form."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def _decoded(volume: VolumeSpec) -> bytes:
    """The contents; line breaks, which many encoders put in, count for nothing."""
    try:
        return base64.b64decode("".join((volume.contents or "").split()), validate=True)
    except ValueError:
        # The decoder's own words are left out: they may quote a secret.
        raise InvalidValue(f"The contents of volume {volume.uuid} are not base64 text.") from None


def _write(file: Path, contents: bytes) -> None:
    """Publish a file.

    Mode 0644: the process in the container runs as a uid that is not known here, and must read it.
    Other users of this node are kept out by the directory around it, which only the engine crosses.
    """
    with replacing(file) as stream:
        os.fchmod(stream.fileno(), 0o644)
        stream.write(contents)


def _make_directory(path: Path) -> None:
    """Ensure a directory that a container can write to as any uid, hence mode 0777.

    Not sticky: in a sticky directory the kernel (fs.protected_regular) refuses root to open another
    user's file for writing, which is what the start scripts of many images do.

    Made with mode 0, so that one cut short is known and finished, and a mode that the container
    has set itself stays.
    """
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0)
    if stat.S_IMODE(path.stat().st_mode) == 0:
        path.chmod(0o777)


def _remove(path: Path, removing: Path) -> None:
    """Delete `path` and all below it, by way of the private directory `removing` beside it.

    Each directory is first moved into `removing`, then emptied there: its files deleted, its own
    directories moved likewise. So it never goes deeper than one level, nobody else can exchange
    what is being looked at for a link, and the kernel, which does not move a mount point (EBUSY),
    keeps us out of everything mounted. Cut short, it goes on from what is in `removing`.
    """
    removing.mkdir(mode=0o700, exist_ok=True)
    first_free = 1 + max((int(name) for name in os.listdir(removing)), default=0)
    places = (removing / str(number) for number in itertools.count(first_free))
    if os.path.lexists(path):
        os.rename(path, next(places))
    while names := os.listdir(removing):
        for name in names:
            _dismantle(removing / name, places)
    removing.rmdir()


def _dismantle(path: Path, places: Iterator[Path]) -> None:
    """Delete `path`; the directories in it go to `places` instead."""
    if not stat.S_ISDIR(path.lstat().st_mode):
        path.unlink()
        return
    with os.scandir(path) as entries:
        found = list(entries)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            os.rename(entry.path, next(places))
        else:
            os.unlink(entry.path)
    path.rmdir()


@contextlib.contextmanager
def _os_errors_told(volume: VolumeSpec) -> Iterator[None]:
    """Turn the system's errors into ours, without paths of this machine."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise Conflict(
                f"Something is mounted in volume {volume.uuid}: it must be unmounted first."
            ) from error
        raise RuntimeFailure(f"Volume {volume.uuid} failed on the node: {error.strerror}.") from error
