"""The two files that hold the users, as they are on disk now.

The user file has lines `name:hash` as `htpasswd -B` writes them, the project file `name:project:role`.
Blank lines and lines that begin with `#` mean nothing.
"""

import dataclasses
import enum
import logging
from collections.abc import Iterator
from pathlib import Path

LOG = logging.getLogger(__name__)


class Role(enum.StrEnum):
    """What a user may do in its project; each role has those after it."""

    ADMIN = "admin"
    MEMBER = "member"
    READER = "reader"

    @property
    def implied(self) -> tuple[str, ...]:
        """This role and those that it has in it."""
        roles = list(Role)
        return tuple(role.value for role in roles[roles.index(self) :])


@dataclasses.dataclass(frozen=True, slots=True)
class Account:
    """One user. `project` and `role` are None for one that the project file does not name."""

    name: str
    password_hash: bytes = dataclasses.field(repr=False)
    project: str | None = None
    role: Role | None = None


def read(user_file: Path, project_file: Path) -> dict[str, Account]:
    """The accounts by name. Lines that make no sense are logged by number, and are no account."""
    places = dict(_places(project_file))
    accounts = {}
    for number, line in _lines(user_file):
        name, _, password_hash = line.partition(":")
        if not name or not password_hash.startswith(("$2a$", "$2b$", "$2y$")):
            LOG.warning("%s, line %d: not name:bcrypt-hash; the line is ignored", user_file, number)
            continue
        project, role = places.get(name, (None, None))
        accounts[name] = Account(name, password_hash.encode(), project, role)
    return accounts


def _places(project_file: Path) -> Iterator[tuple[str, tuple[str, Role]]]:
    for number, line in _lines(project_file):
        match line.split(":"):
            case [name, project, role] if name and project and role in list(Role):
                yield name, (project, Role(role))
            case _:
                LOG.warning("%s, line %d: not name:project:role; the line is ignored", project_file, number)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()
