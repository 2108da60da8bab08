"""Change the files of users: one writer at a time, and readers see the old or the new file, whole.

Other lines of the files, comments too, stay as they are.
"""

import contextlib
import dataclasses
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import bcrypt

from tierce.files import replacing
from tierce.identity.accounts import Role, read
from tierce.model.errors import Conflict, InvalidValue, NotFound, TierceError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_LONGEST_PASSWORD: Final = 72
"""Bytes that bcrypt looks at; more would give a false feeling of safety."""


@dataclasses.dataclass(frozen=True, slots=True)
class User:
    """One user as it is listed; without project and role it can do nothing."""

    name: str
    project: str | None
    role: Role | None


class UserFiles:
    """The two files. `rounds` is bcrypt's cost: each more doubles the time of a verification."""

    def __init__(self, user_file: Path, project_file: Path, rounds: int = 12) -> None:
        self._user_file = user_file
        self._project_file = project_file
        self._rounds = rounds

    def users(self) -> list[User]:
        """All users by name."""
        accounts = read(self._user_file, self._project_file)
        return [User(name, accounts[name].project, accounts[name].role) for name in sorted(accounts)]

    def add(self, name: str, project: str, role: Role, password: str) -> None:
        """Add a user.

        Raises InvalidValue, Conflict for a name that is taken, and TierceError when there is no directory
        for the files.
        """
        _check_name("user", name)
        _check_name("project", project)
        secret = _check_password(password)
        line = f"{name}:{bcrypt.hashpw(secret, bcrypt.gensalt(self._rounds)).decode()}"
        with self._locked():
            if any(user.name == name for user in self.users()):
                raise Conflict(f"User {name} exists already.")
            # The project first: a user is never seen without one.
            _rewrite(self._project_file, name, f"{name}:{project}:{role}")
            _rewrite(self._user_file, name, line)

    def remove(self, name: str) -> None:
        """Remove a user; its containers stay. Raises NotFound, and TierceError as `add` does."""
        with self._locked():
            if all(user.name != name for user in self.users()):
                raise NotFound(f"User {name} could not be found.")
            _rewrite(self._user_file, name, None)
            _rewrite(self._project_file, name, None)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        for file in (self._user_file, self._project_file):
            if not file.parent.is_dir():
                raise TierceError(
                    f"There is no directory {file.parent} for {file.name}. Make it, readable for the account "
                    "that runs the service, or name other files: `[api] http_basic_auth_user_file` and "
                    "`http_basic_project_file`."
                )
        path = self._user_file.with_name(f"{self._user_file.name}.lock")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _give_to_owner(descriptor, path.parent)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _check_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidValue(
            f"The name of a {kind} has 1 to 64 letters, digits and . _ @ -, the first a letter or digit."
        )


def _check_password(password: str) -> bytes:
    secret = password.encode()
    if not 1 <= len(secret) <= _LONGEST_PASSWORD or not password.isprintable():
        raise InvalidValue(f"A password has 1 to {_LONGEST_PASSWORD} bytes of printable characters.")
    return secret


def _rewrite(path: Path, name: str, line: str | None) -> None:
    """Replace the lines of `name` by `line`."""
    old = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    kept = [other for other in old.splitlines() if other.partition(":")[0].strip() != name]
    text = "".join(f"{each}\n" for each in (*kept, *([line] if line else ())))
    with replacing(path) as stream:
        _give_to_owner(stream.fileno(), path if path.exists() else path.parent)
        stream.write(text.encode(errors="surrogateescape"))


def _give_to_owner(descriptor: int, model: Path) -> None:
    """Root edits files that the service, as another user, must read."""
    if os.geteuid() == 0:
        owner = os.stat(model)
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
