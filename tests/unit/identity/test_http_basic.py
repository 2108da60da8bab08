"""HTTP Basic against files: who gets in, as whom, and at what cost."""

import base64
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bcrypt
import pytest

from tierce import config
from tierce.identity.base import Unauthenticated
from tierce.identity.http_basic import HttpBasicIdentity
from tierce.model.errors import NotAuthorized


class Files:
    """A user file and a project file; hashes are cheap ones."""

    def __init__(self, directory: Path) -> None:
        self.users, self.projects = directory / "htpasswd", directory / "projects"

    def write(self, users: dict[str, str], projects: str) -> None:
        lines = [f"{name}:{self.hash(password)}\n" for name, password in users.items()]
        self.users.write_text("".join(lines))
        self.projects.write_text(projects)

    @staticmethod
    def hash(password: str, rounds: int = 4, prefix: str = "$2b$") -> str:
        return bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds)).decode().replace("$2b$", prefix)

    def identity(self) -> HttpBasicIdentity:
        return HttpBasicIdentity(self.users, self.projects)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    files = Files(tmp_path)
    files.write({"alice": "pa:ss", "root": "toor"}, "alice:p1:member\nroot:ops:admin\n")
    return files


def basic(name: str, password: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"}


@pytest.fixture
def verifications(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The hashes that bcrypt has been asked about since."""
    asked: list[bytes] = []
    real: Callable[[bytes, bytes], bool] = bcrypt.checkpw

    def checkpw(password: bytes, hashed: bytes) -> bool:
        asked.append(hashed)
        return real(password, hashed)

    monkeypatch.setattr(bcrypt, "checkpw", checkpw)
    return asked


def test_a_user_with_its_password_is_a_caller_in_its_project(files: Files) -> None:
    caller = files.identity().authenticate(basic("alice", "pa:ss"))

    assert (caller.user_id, caller.user_name) == ("alice", "alice")
    assert (caller.project_id, caller.project_name) == ("p1", "p1")
    assert caller.roles == ("member", "reader")
    assert not caller.is_admin


@pytest.mark.parametrize(
    ("role", "roles"),
    [("admin", ("admin", "member", "reader")), ("member", ("member", "reader")), ("reader", ("reader",))],
)
def test_a_role_implies_the_lesser_ones(files: Files, role: str, roles: tuple[str, ...]) -> None:
    files.write({"x": "y"}, f"x:p:{role}\n")

    assert files.identity().authenticate(basic("x", "y")).roles == roles


@pytest.mark.parametrize("prefix", ["$2a$", "$2b$", "$2y$"])
def test_hashes_of_all_common_tools_are_understood(files: Files, prefix: str) -> None:
    files.users.write_text(f"alice:{files.hash('pw', prefix=prefix)}\n")

    assert files.identity().authenticate(basic("alice", "pw")).user_id == "alice"


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Basic",
        "Basic ",
        "Bearer abc",
        "Basic !!!",
        f"Basic {base64.b64encode(b'alice').decode()}",
        f"Basic {base64.b64encode(bytes([255, 58, 120])).decode()}",
        basic("alice", "")["authorization"],
        basic("alice", "pass")["authorization"],
        basic("alice", "pa:ss ")["authorization"],
        basic("Alice", "pa:ss")["authorization"],
        basic("", "pa:ss")["authorization"],
        basic("nobody", "pa:ss")["authorization"],
        "Basic é",
    ],
)
def test_anything_else_is_refused_with_a_challenge(files: Files, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header}

    with pytest.raises(Unauthenticated) as caught:
        files.identity().authenticate(headers)

    assert caught.value.challenge == 'Basic realm="tierce"'


def test_the_files_are_those_of_the_configuration(files: Files) -> None:
    conf = config.load(
        overrides=[
            ("api", "http_basic_auth_user_file", str(files.users)),
            ("api", "http_basic_project_file", str(files.projects)),
        ]
    )

    assert HttpBasicIdentity.from_conf(conf).authenticate(basic("alice", "pa:ss")).project_id == "p1"


def test_the_scheme_is_written_in_any_case(files: Files) -> None:
    header = basic("alice", "pa:ss")["authorization"].replace("Basic", "bAsIc")

    assert files.identity().authenticate({"authorization": header}).user_id == "alice"


def test_a_user_without_a_project_is_known_but_may_nothing(files: Files) -> None:
    files.write({"alice": "pw"}, "")

    with pytest.raises(NotAuthorized, match="alice"):
        files.identity().authenticate(basic("alice", "pw"))
    with pytest.raises(Unauthenticated):
        files.identity().authenticate(basic("alice", "wrong"))


def test_a_password_longer_than_bcrypt_looks_at_works_as_with_the_tool_that_wrote_it(files: Files) -> None:
    files.users.write_text(f"alice:{files.hash('x' * 72)}\n")

    assert files.identity().authenticate(basic("alice", "x" * 80)).user_id == "alice"


# --- cost -----------------------------------------------------------------------------------------


def test_a_right_password_costs_bcrypt_once(files: Files, verifications: list[bytes]) -> None:
    identity = files.identity()
    for _ in range(5):
        identity.authenticate(basic("alice", "pa:ss"))

    assert len(verifications) == 1


def test_a_wrong_password_costs_bcrypt_each_time_even_for_a_user_who_is_logged_in(
    files: Files, verifications: list[bytes]
) -> None:
    identity = files.identity()
    identity.authenticate(basic("alice", "pa:ss"))
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            identity.authenticate(basic("alice", "wrong"))
    identity.authenticate(basic("alice", "pa:ss"))

    assert len(verifications) == 4


def test_an_unknown_user_costs_as_much_as_the_costliest_known_one(
    files: Files, verifications: list[bytes]
) -> None:
    files.users.write_text(f"alice:{files.hash('a', rounds=4)}\nroot:{files.hash('b', rounds=6)}\n")

    with pytest.raises(Unauthenticated):
        files.identity().authenticate(basic("nobody", "x"))

    assert [hashed[:7] for hashed in verifications] == [b"$2b$06$"]


def test_many_first_requests_of_one_user_at_once_cost_bcrypt_once(
    files: Files, verifications: list[bytes]
) -> None:
    files.users.write_text(f"alice:{files.hash('pw', rounds=9)}\n")
    identity, together = files.identity(), threading.Barrier(8)

    def ask() -> str | None:
        together.wait(timeout=10)
        return identity.authenticate(basic("alice", "pw")).user_id

    with ThreadPoolExecutor(8) as pool:
        answers = [future.result() for future in [pool.submit(ask) for _ in range(8)]]

    assert answers == ["alice"] * 8
    assert len(verifications) == 1


# --- changes of the files -------------------------------------------------------------------------


def test_a_changed_password_counts_at_once(files: Files) -> None:
    identity = files.identity()
    identity.authenticate(basic("alice", "pa:ss"))

    files.write({"alice": "new"}, "alice:p1:member\n")

    assert identity.authenticate(basic("alice", "new")).user_id == "alice"
    with pytest.raises(Unauthenticated):
        identity.authenticate(basic("alice", "pa:ss"))


def test_a_changed_project_counts_at_once(files: Files) -> None:
    identity = files.identity()
    identity.authenticate(basic("alice", "pa:ss"))

    files.projects.write_text("alice:p2:reader\n")

    assert identity.authenticate(basic("alice", "pa:ss")).project_id == "p2"


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_read_again(files: Files) -> None:
    identity = files.identity()
    identity.authenticate(basic("alice", "pa:ss"))
    before = os.stat(files.users)

    other = files.users.with_name("other")
    other.write_text(files.users.read_text().replace("alice", "alicx"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, files.users)

    with pytest.raises(Unauthenticated):
        identity.authenticate(basic("alice", "pa:ss"))


def test_without_the_files_nobody_gets_in_until_they_are_there(files: Files) -> None:
    users, projects = files.users.read_text(), files.projects.read_text()
    files.users.unlink()
    files.projects.unlink()
    identity = files.identity()
    with pytest.raises(Unauthenticated):
        identity.authenticate(basic("alice", "pa:ss"))

    files.projects.write_text(projects)
    files.users.write_text(users)

    assert identity.authenticate(basic("alice", "pa:ss")).user_id == "alice"


def test_lines_that_make_no_sense_are_logged_without_their_text_and_others_count(
    files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    good = f"alice:{files.hash('pw')}"
    files.users.write_text(
        f"# comment\n\nsecretline\nbob:secretplain\ncarl:$2b$04$short\n:{files.hash('x')}\n{good}\n"
    )
    files.projects.write_text("alice:p1\nalice:p1:king\nalice:p1:member\ncarl:p1:member\n\n# comment\n")

    with caplog.at_level(logging.WARNING):
        identity = files.identity()

    assert identity.authenticate(basic("alice", "pw")).project_id == "p1"
    with pytest.raises(Unauthenticated):
        identity.authenticate(basic("carl", "short"))
    assert [record.args[1] for record in caplog.records if record.args] == [1, 2, 3, 4, 6]
    assert "secret" not in caplog.text


def test_no_hash_shows_in_a_representation(files: Files) -> None:
    identity = files.identity()
    identity.authenticate(basic("alice", "pa:ss"))

    assert "$2b$" not in repr(vars(identity)) + repr(identity._current().accounts)
