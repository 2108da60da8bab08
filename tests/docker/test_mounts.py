"""Mounts and the links that containers make in them: what is injected stays inside, on a real Engine."""

import base64
import pathlib

import pytest

from tests.support.containers import POLITE, execute, finish, run
from tests.support.service import Http
from tests.support.team import Team


def injected(contents: bytes, destination: str) -> dict[str, str]:
    return {"type": "bind", "source": base64.b64encode(contents).decode(), "destination": destination}


@pytest.fixture
def outside(tmp_path: pathlib.Path) -> pathlib.Path:
    """A directory of the machine that containers must not reach, with a file in it."""
    (tmp_path / "file").write_text("untouched")
    return tmp_path


def test_a_destination_behind_a_link_stays_inside_the_container(ann: Http, outside: pathlib.Path) -> None:
    volume = {"source": "traps", "destination": "/data"}
    up = "../" * 20
    links = (
        f"ln -s {outside} /data/absolute && ln -s {up}{outside} /data/up && ln -s {outside}/file /data/file"
    )
    finish(ann, ["sh", "-c", links], mounts=[volume])
    for destination in ("/data/absolute/new", "/data/up/new", "/data/file"):
        ident = ann.create(
            image="tierce-test/busybox:1",
            command=POLITE,
            mounts=[volume, injected(b"mine", destination)],
        )
        if ann.wait(ident, "Running", "Error")["status"] == "Running":
            assert execute(ann, ident, "cat", destination) == (0, "mine")
    assert {each.name: each.read_text() for each in outside.iterdir()} == {"file": "untouched"}


def test_a_link_in_a_volume_is_not_followed_when_that_is_removed(
    ann: Http, team: Team, outside: pathlib.Path
) -> None:
    links = f"ln -s {outside} /data/directory && ln -s {outside}/file /data/file && rm -rf /data/nothing"
    ident = run(ann, mounts=[{"size": 1, "destination": "/data"}], command=POLITE)
    assert execute(ann, ident, "sh", "-c", links)[0] == 0
    ann.call("DELETE", f"/containers/{ident}?stop=true")
    ann.wait(ident, None)
    assert (outside / "file").read_text() == "untouched"
    assert not list((team.service.home / "mnt").glob("*-*"))


def test_a_large_file_is_whole_readable_by_anybody_and_goes_with_the_container(ann: Http, team: Team) -> None:
    contents = bytes(range(256)) * 8192
    ident = run(ann, mounts=[injected(contents, "/etc/app/large")], command=POLITE)
    assert execute(ann, ident, "stat", "-c", "%s %a", "/etc/app/large") == (0, f"{len(contents)} 644\n")
    [directory] = (team.service.home / "mnt").glob("*-*")
    [file] = directory.iterdir()
    assert file.read_bytes() == contents
    ann.call("DELETE", f"/containers/{ident}?stop=true")
    ann.wait(ident, None)
    assert not directory.exists()
