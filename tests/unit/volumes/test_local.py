"""Volumes of one node: files to inject, directories that go with a container, and named ones."""

import base64
import os
import shutil
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tierce.model.errors import InvalidValue, RuntimeFailure
from tierce.volumes.base import VolumeSpec
from tierce.volumes.local import LocalVolumes

UUID = "0b1c5a5e-5d0b-4d3e-8a49-7b8f0f7a1d11"
OTHER = "7f6d1f9a-30c5-4a55-9a39-2f2f1c5e9f00"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "state" / "mnt"


@pytest.fixture
def volumes(root: Path) -> LocalVolumes:
    return LocalVolumes(root)


@pytest.fixture(params=[0o077, 0o000], ids=["closed", "open"])
def any_umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever the service is run with, modes are the same."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def file_volume(contents: bytes = b"hello\n", volume: str = UUID) -> VolumeSpec:
    return VolumeSpec(volume, "alpha", contents=base64.b64encode(contents).decode())


def directory_volume(volume: str = UUID) -> VolumeSpec:
    return VolumeSpec(volume, "alpha")


def named_volume(name: str, project: str = "alpha") -> VolumeSpec:
    return VolumeSpec(str(uuid.UUID(int=1)), project, name=name)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("contents", [b"hello\n", b"", bytes(range(256)), b"x" * 2 * 1024 * 1024])
def test_contents_become_a_file(volumes: LocalVolumes, root: Path, contents: bytes) -> None:
    path = volumes.ensure(file_volume(contents))
    assert path == str(root / UUID / UUID)
    assert Path(path).read_bytes() == contents
    assert os.listdir(root / UUID) == [UUID]


@pytest.mark.usefixtures("any_umask")
def test_any_user_of_the_container_can_read_the_file_and_no_other_user_of_the_node_reaches_it(
    volumes: LocalVolumes, root: Path
) -> None:
    assert mode(volumes.ensure(file_volume())) == 0o644
    assert mode(root / UUID) == 0o700
    assert mode(root) == 0o700


def test_wrapped_base64_is_read(volumes: LocalVolumes) -> None:
    contents = bytes(range(200))
    path = volumes.ensure(VolumeSpec(UUID, "alpha", contents=base64.encodebytes(contents).decode()))
    assert Path(path).read_bytes() == contents


@pytest.mark.parametrize("contents", ["c2VjcmV0!", "c2VjcmV", "%%%", "c2Vjcm\u00e9"])
def test_contents_that_are_not_base64_are_refused_without_being_quoted(
    volumes: LocalVolumes, root: Path, contents: str
) -> None:
    with pytest.raises(InvalidValue) as refusal:
        volumes.ensure(VolumeSpec(UUID, "alpha", contents=contents))
    assert contents not in refusal.value.message
    assert not root.exists()


def test_a_file_that_exists_keeps_what_the_container_wrote(volumes: LocalVolumes) -> None:
    path = Path(volumes.ensure(file_volume()))
    path.write_bytes(b"changed")
    inode = path.stat().st_ino
    assert volumes.ensure(file_volume()) == str(path)
    assert path.read_bytes() == b"changed"
    assert path.stat().st_ino == inode


def test_an_attempt_cut_short_before_the_file_was_there_is_made_good(
    volumes: LocalVolumes, root: Path
) -> None:
    (root / UUID).mkdir(parents=True)
    (root / UUID / "tmphalf").write_bytes(b"hel")
    assert Path(volumes.ensure(file_volume())).read_bytes() == b"hello\n"
    volumes.remove(file_volume())
    assert os.listdir(root) == []


# --- directories ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("any_umask")
def test_a_volume_without_contents_is_a_directory_that_any_user_can_write_to(
    volumes: LocalVolumes, root: Path
) -> None:
    path = volumes.ensure(directory_volume())
    assert path == str(root / UUID)
    assert mode(path) == 0o777


def test_a_directory_that_exists_keeps_its_files_and_the_mode_that_the_container_set(
    volumes: LocalVolumes,
) -> None:
    path = Path(volumes.ensure(directory_volume()))
    (path / "data").write_bytes(b"kept")
    path.chmod(0o700)
    volumes.ensure(directory_volume())
    assert (path / "data").read_bytes() == b"kept"
    assert mode(path) == 0o700


def test_a_directory_whose_making_was_cut_short_is_finished(volumes: LocalVolumes, root: Path) -> None:
    root.mkdir(parents=True)
    (root / UUID).mkdir(mode=0)
    assert mode(volumes.ensure(directory_volume())) == 0o777


# --- named volumes --------------------------------------------------------------------------------


@pytest.mark.usefixtures("any_umask")
def test_no_other_user_of_the_node_reaches_a_named_volume(volumes: LocalVolumes, root: Path) -> None:
    project = Path(volumes.ensure(named_volume("data"))).parent
    assert [mode(directory) for directory in (root, root / "named", project)] == [0o700] * 3


def test_a_named_volume_is_one_directory_per_project_and_name(volumes: LocalVolumes) -> None:
    path = volumes.ensure(named_volume("data"))
    assert mode(path) == 0o777
    assert volumes.ensure(named_volume("data")) == path
    others = {volumes.ensure(named_volume("data", "beta")), volumes.ensure(named_volume("Data"))}
    assert len(others | {path}) == 3


def test_a_named_volume_outlives_its_containers(volumes: LocalVolumes) -> None:
    path = Path(volumes.ensure(named_volume("data")))
    (path / "row").write_bytes(b"kept")
    volumes.remove(named_volume("data"))
    assert (path / "row").read_bytes() == b"kept"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\x00", "-x", "x\n", "n" * 129])
def test_a_malformed_name_is_refused(volumes: LocalVolumes, root: Path, name: str) -> None:
    with pytest.raises(InvalidValue):
        volumes.ensure(named_volume(name))
    assert not root.exists()


def test_many_can_ask_for_a_new_named_volume_at_once(volumes: LocalVolumes) -> None:
    with ThreadPoolExecutor(8) as threads:
        paths = set(threads.map(volumes.ensure, [named_volume("data")] * 32))
    [path] = paths
    assert mode(path) == 0o777


# --- removal --------------------------------------------------------------------------------------


@pytest.mark.parametrize("volume", [file_volume(), directory_volume()], ids=["file", "directory"])
def test_a_removed_volume_leaves_nothing_and_touches_no_other(
    volumes: LocalVolumes, root: Path, volume: VolumeSpec
) -> None:
    volumes.ensure(volume)
    other = Path(volumes.ensure(file_volume(b"other", OTHER)))
    for _ in range(2):
        volumes.remove(volume)
        assert os.listdir(root) == [OTHER]
    assert other.read_bytes() == b"other"


def test_removing_what_never_was_succeeds_and_makes_nothing(volumes: LocalVolumes, root: Path) -> None:
    volumes.remove(file_volume())
    assert not root.exists()


def test_a_tree_of_files_directories_pipes_and_modes_goes_as_a_whole(
    volumes: LocalVolumes, root: Path
) -> None:
    path = Path(volumes.ensure(directory_volume()))
    (path / "1" / "2" / "1").mkdir(parents=True)
    (path / "2").mkdir()
    (path / "1" / "2" / "file").write_bytes(b"x")
    os.mkfifo(path / "1" / "pipe")
    (path / "1" / "2" / "file").chmod(0)
    volumes.remove(directory_volume())
    assert os.listdir(root) == []


def test_links_are_removed_and_not_followed(volumes: LocalVolumes, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"kept")
    path = Path(volumes.ensure(directory_volume()))
    (path / "to directory").symlink_to(outside)
    (path / "to file").symlink_to(outside / "precious")
    (path / "sub").mkdir()
    (path / "sub" / "up").symlink_to("../../..")
    volumes.remove(directory_volume())
    assert os.listdir(root) == []
    assert (outside / "precious").read_bytes() == b"kept"


def test_a_volume_that_is_itself_a_link_is_removed_and_not_followed(
    volumes: LocalVolumes, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"kept")
    root.mkdir(parents=True)
    (root / UUID).symlink_to(outside)
    volumes.remove(directory_volume())
    assert os.listdir(root) == []
    assert (outside / "precious").read_bytes() == b"kept"


def test_no_depth_of_directories_exhausts_a_removal(volumes: LocalVolumes, root: Path) -> None:
    """Deeper than the interpreter's stack, than the longest path, and than the open files allowed."""
    path = volumes.ensure(directory_volume())
    here = os.open(path, os.O_RDONLY)
    for _ in range(5000):
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    volumes.remove(directory_volume())
    assert os.listdir(root) == []


def test_a_removal_cut_short_is_finished_by_the_next(volumes: LocalVolumes, root: Path) -> None:
    path = Path(volumes.ensure(directory_volume()))
    (path / "data").mkdir()
    half = root / f".removing-{UUID}"
    half.mkdir()
    path.rename(half / "1")
    volumes.remove(directory_volume())
    assert os.listdir(root) == []


def test_a_volume_made_again_after_half_a_removal_goes_with_the_rest(
    volumes: LocalVolumes, root: Path
) -> None:
    (root / f".removing-{UUID}" / "1" / "data").mkdir(parents=True)
    (Path(volumes.ensure(directory_volume())) / "new").mkdir()
    volumes.remove(directory_volume())
    assert os.listdir(root) == []


IN_A_MOUNT_NAMESPACE = """
set -e
mount -t tmpfs none "$1"
echo kept > "$1/precious"
"$2" - "$3" "$4" <<'EOF'
import sys
from tierce.model.errors import Conflict
from tierce.volumes.base import VolumeSpec
from tierce.volumes.local import LocalVolumes
try:
    LocalVolumes(sys.argv[1]).remove(VolumeSpec(sys.argv[2], "alpha"))
except Conflict as error:
    print(error.message)
EOF
find "$3" -xdev -type d -exec cat {}/precious ';' 2>/dev/null || true
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run(["unshare", "--mount", "--map-root-user", "true"], capture_output=True).returncode != 0,
    reason="needs the right to make a mount namespace",
)
@pytest.mark.parametrize("below", [".", "sub/deep"])
def test_what_is_mounted_in_a_volume_is_never_entered(volumes: LocalVolumes, root: Path, below: str) -> None:
    place = Path(volumes.ensure(directory_volume())) / below
    place.mkdir(parents=True, exist_ok=True)
    script = ["sh", "-c", IN_A_MOUNT_NAMESPACE, "sh", str(place), sys.executable, str(root), UUID]
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", *script], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"Something is mounted in volume {UUID}: it must be unmounted first.\nkept\n"
    volumes.remove(directory_volume())  # here, outside of that namespace, nothing is mounted
    assert os.listdir(root) == []


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    ["", "..", "../../etc", "named", UUID.upper(), "{" + UUID + "}", UUID.replace("-", ""), UUID + "\n"],
)
def test_an_id_that_is_not_a_uuid_is_refused(volumes: LocalVolumes, root: Path, bad: str) -> None:
    for volume in (file_volume(volume=bad), directory_volume(bad)):
        with pytest.raises(InvalidValue):
            volumes.ensure(volume)
        with pytest.raises(InvalidValue):
            volumes.remove(volume)
    assert not root.exists()


def test_a_failed_write_leaves_no_half_file(volumes: LocalVolumes, root: Path) -> None:
    (root / UUID / UUID / "in the way").mkdir(parents=True)
    with pytest.raises(RuntimeFailure):
        volumes.ensure(file_volume())
    assert os.listdir(root / UUID) == [UUID]


def test_a_failing_disk_is_told_with_the_systems_reason_and_without_paths(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RuntimeFailure) as failure:
        LocalVolumes(tmp_path / "file").ensure(directory_volume())
    assert failure.value.message == f"Volume {UUID} failed on the node: File exists."
