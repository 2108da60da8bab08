"""A file that is replaced is there as it was or as it is to be, and nothing lies beside it."""

import stat
from pathlib import Path

import pytest

from tierce.files import replacing


def test_a_file_is_replaced_when_all_is_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with replacing(file) as stream:
        stream.write(b"after")
        assert file.read_bytes() == b"before"
    assert file.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with pytest.raises(TypeError), replacing(file) as stream:
        stream.writelines([b"half", "of it"])  # type: ignore[list-item]  # the failure
    assert file.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [file]


def test_its_owner_alone_may_read_it(tmp_path: Path) -> None:
    with replacing(tmp_path / "file") as stream:
        stream.write(b"secret")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
