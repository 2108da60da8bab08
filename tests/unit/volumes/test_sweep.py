"""What is removed of volumes that no row of the database stands for, and what is not."""

import os
import uuid
from pathlib import Path

import pytest

from tierce.model.errors import RuntimeFailure
from tierce.volumes.base import VolumeSpec
from tierce.volumes.local import LocalVolumes

OWNER = {"tierce.node": "node1"}


@pytest.fixture
def volumes(tmp_path: Path) -> LocalVolumes:
    return LocalVolumes(tmp_path / "mnt")


def made(volumes: LocalVolumes, *, name: str | None = None, contents: str | None = None) -> tuple[str, Path]:
    """Uuid and path of a new volume, with something in it."""
    volume = VolumeSpec(str(uuid.uuid4()), "alpha", contents=contents, name=name)
    path = Path(volumes.ensure(volume))
    if path.is_dir():
        (path / "deep").mkdir()
        (path / "deep" / "file").write_text("data")
    return volume.uuid, path


def test_what_no_row_knows_goes_and_the_rest_stays(volumes: LocalVolumes) -> None:
    known, kept = made(volumes)
    _, directory = made(volumes)
    _, file = made(volumes, contents="aGVsbG8=")
    _, named = made(volumes, name="pages")

    volumes.sweep(OWNER, lambda: {known})

    assert (kept.exists(), named.exists()) == (True, True)
    assert (directory.exists(), file.parent.exists()) == (False, False)


def test_a_removal_that_was_cut_short_is_finished(volumes: LocalVolumes, tmp_path: Path) -> None:
    made(volumes)
    rest = tmp_path / "mnt" / f".removing-{uuid.uuid4()}"
    (rest / "1").mkdir(parents=True)
    volumes.sweep(OWNER, set)
    assert not rest.exists()


def test_a_volume_made_while_the_rows_are_read_stays(volumes: LocalVolumes) -> None:
    """Its row may have come after the rows were read."""
    later = []

    def meanwhile() -> set[str]:
        later.append(made(volumes)[1])
        return set()

    made(volumes)
    volumes.sweep(OWNER, meanwhile)
    assert later[0].exists()


def test_what_is_not_named_as_a_volume_stays(volumes: LocalVolumes, tmp_path: Path) -> None:
    _, path = made(volumes)
    others = [tmp_path / "mnt" / name for name in ("lost+found", "backup", str(uuid.uuid4()).upper())]
    for each in others:
        each.mkdir()
    volumes.sweep(OWNER, set)
    assert not path.exists()
    assert all(each.exists() for each in others)


def test_a_link_in_a_volume_s_place_goes_and_not_what_it_leads_to(
    volumes: LocalVolumes, tmp_path: Path
) -> None:
    made(volumes)
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    link = tmp_path / "mnt" / str(uuid.uuid4())
    link.symlink_to(treasure)
    volumes.sweep(OWNER, set)
    assert (os.path.lexists(link), treasure.exists()) == (False, True)


def test_nothing_goes_by_the_word_of_another_database(volumes: LocalVolumes) -> None:
    known, path = made(volumes)
    volumes.sweep(OWNER, lambda: {known})
    volumes.sweep({"tierce.node": "new"}, set)
    assert path.exists()


def test_where_no_volume_was_ever_made_there_is_nothing_to_do(volumes: LocalVolumes, tmp_path: Path) -> None:
    volumes.sweep(OWNER, set)
    assert not (tmp_path / "mnt").exists()


def test_a_disk_that_refuses_is_told_without_a_path(volumes: LocalVolumes, tmp_path: Path) -> None:
    made(volumes)
    (tmp_path / "mnt" / ".owner").mkdir()
    with pytest.raises(
        RuntimeFailure, match=r"^The node's volumes cannot be looked through: Is a directory\.$"
    ):
        volumes.sweep(OWNER, set)
