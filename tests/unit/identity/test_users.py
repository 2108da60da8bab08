"""Editing the files of users, by the command and by the class behind it."""

import argparse
import base64
import errno
import io
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from oslo_config import cfg

from tierce import config
from tierce.cli import user as command
from tierce.identity.accounts import Role
from tierce.identity.http_basic import HttpBasicIdentity
from tierce.identity.users import User, UserFiles
from tierce.model.errors import Conflict, InvalidValue, NotFound


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "htpasswd", tmp_path / "projects"


@pytest.fixture
def files(paths: tuple[Path, Path]) -> UserFiles:
    return UserFiles(*paths, rounds=4)


def gets_in(paths: tuple[Path, Path], name: str, password: str) -> str | None:
    header = base64.b64encode(f"{name}:{password}".encode()).decode()
    return HttpBasicIdentity(*paths).authenticate({"authorization": f"Basic {header}"}).project_id


def test_a_user_that_was_added_gets_in(files: UserFiles, paths: tuple[Path, Path]) -> None:
    files.add("alice", "p1", Role.MEMBER, "pässword")

    assert gets_in(paths, "alice", "pässword") == "p1"
    assert files.users() == [User("alice", "p1", Role.MEMBER)]


def test_a_user_that_was_removed_is_gone_from_both_files(files: UserFiles, paths: tuple[Path, Path]) -> None:
    files.add("alice", "p1", Role.MEMBER, "pw")
    files.add("bob", "p2", Role.ADMIN, "pw")

    files.remove("alice")

    assert files.users() == [User("bob", "p2", Role.ADMIN)]
    assert all("alice" not in path.read_text() for path in paths)


def test_a_name_that_is_taken_is_refused_and_stays_as_it_was(
    files: UserFiles, paths: tuple[Path, Path]
) -> None:
    files.add("alice", "p1", Role.MEMBER, "pw")

    with pytest.raises(Conflict, match="alice"):
        files.add("alice", "p2", Role.ADMIN, "other")

    assert gets_in(paths, "alice", "pw") == "p1"


def test_an_unknown_name_cannot_be_removed(files: UserFiles) -> None:
    with pytest.raises(NotFound, match="alice"):
        files.remove("alice")


@pytest.mark.parametrize("name", ["", "a:b", "a b", "#a", "-a", "a\n", "ä", "a" * 65])
def test_bad_names_are_refused(files: UserFiles, paths: tuple[Path, Path], name: str) -> None:
    with pytest.raises(InvalidValue, match="name of a user"):
        files.add(name, "p1", Role.MEMBER, "pw")
    with pytest.raises(InvalidValue, match="name of a project"):
        files.add("alice", name, Role.MEMBER, "pw")
    assert not any(path.exists() for path in paths)


@pytest.mark.parametrize("password", ["", "x" * 73, "ä" * 37, "two\nlines", "nul\0"])
def test_bad_passwords_are_refused_without_being_repeated(files: UserFiles, password: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        files.add("alice", "p1", Role.MEMBER, password)

    assert not password or password not in str(caught.value)


def test_the_files_are_readable_by_their_owner_alone(files: UserFiles, paths: tuple[Path, Path]) -> None:
    for path in paths:
        path.write_text("# kept\n")
        path.chmod(0o644)

    files.add("alice", "p1", Role.MEMBER, "pw")

    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o600, 0o600]


def test_other_lines_stay_as_they_are(files: UserFiles, paths: tuple[Path, Path]) -> None:
    other = b"# by hand \xff\nbob:$2y$04$" + b"." * 53 + b"\n"
    paths[0].write_bytes(other)

    files.add("alice", "p1", Role.MEMBER, "pw")
    files.remove("alice")

    assert paths[0].read_bytes() == other


def test_writers_at_once_lose_nothing(files: UserFiles) -> None:
    names = [f"user{number}" for number in range(12)]

    with ThreadPoolExecutor(12) as pool:
        for future in [pool.submit(files.add, name, "p1", Role.READER, "pw") for name in names]:
            future.result()

    assert [each.name for each in files.users()] == sorted(names)


def test_a_write_that_fails_leaves_the_file_as_it_was_and_nothing_beside_it(
    files: UserFiles, paths: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    files.add("alice", "p1", Role.MEMBER, "pw")
    before = {path.name: path.read_bytes() for path in paths[0].parent.iterdir()}

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.remove("alice")

    assert {path.name: path.read_bytes() for path in paths[0].parent.iterdir()} == before


# --- the command ------------------------------------------------------------------------------------


@pytest.fixture
def conf(paths: tuple[Path, Path]) -> cfg.ConfigOpts:
    return config.load(
        overrides=[
            ("api", "http_basic_auth_user_file", str(paths[0])),
            ("api", "http_basic_project_file", str(paths[1])),
        ]
    )


def run(conf: cfg.ConfigOpts, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    return command.run(parser.parse_args(["user", *arguments]), conf)


def test_add_prints_a_password_that_works(
    conf: cfg.ConfigOpts, paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(conf, "add", "alice", "--project", "p1", "--role", "member") == 0

    password = capsys.readouterr().out.strip()
    assert len(password) >= 20
    assert gets_in(paths, "alice", password) == "p1"


def test_add_reads_the_password_and_does_not_print_it(
    conf: cfg.ConfigOpts,
    paths: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("open sesame\n"))

    assert run(conf, "add", "alice", "--project", "p1", "--role", "admin", "--password-stdin") == 0

    assert capsys.readouterr().out == ""
    assert gets_in(paths, "alice", "open sesame") == "p1"


def test_list_and_remove(conf: cfg.ConfigOpts, files: UserFiles, capsys: pytest.CaptureFixture[str]) -> None:
    files.add("alice", "p1", Role.MEMBER, "pw")
    files.add("bo", "p2", Role.ADMIN, "pw")

    assert run(conf, "list") == 0
    assert capsys.readouterr().out == "alice  p1  member\nbo     p2  admin\n"
    assert run(conf, "remove", "alice") == 0
    assert run(conf, "list") == 0
    assert capsys.readouterr().out == "bo  p2  admin\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("remove", "nobody"), "nobody"),
        (("add", "a:b", "--project", "p1", "--role", "member"), "name of a user"),
        (("add", "alice", "--project", "p1", "--role", "member", "--password-stdin"), "No password"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_1(
    conf: cfg.ConfigOpts,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert run(conf, *arguments) == 1

    printed = capsys.readouterr()
    assert printed.out == ""
    _users, complaint = printed.err.splitlines()
    assert says in complaint


def test_a_directory_that_is_not_there_is_one_line_and_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = config.load(overrides=[("api", "http_basic_auth_user_file", str(tmp_path / "none" / "htpasswd"))])

    for arguments in (("remove", "alice"), ("add", "alice", "--project", "p", "--role", "member")):
        assert run(conf, *arguments) == 1
        _users, complaint = capsys.readouterr().err.splitlines()
        assert f"There is no directory {tmp_path / 'none'} for htpasswd. Make it" in complaint
