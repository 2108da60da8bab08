"""`tierce registry rotate`: what it encrypts anew, and what it says of the rest."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from tierce import config
from tierce.cli import registry
from tierce.db import schema
from tierce.db.engine import Database, connect
from tierce.db.secrets import Keyring
from tierce.db.tables import Registry

FIRST, SECOND, LOST = (f"{word} key, of 32 characters or more" for word in ("first", "second", "lost"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Registries with passwords under two keys, under a key that is lost, and with none."""
    made = connect(config.load(overrides=[("database", "connection", f"sqlite:///{tmp_path}/db")]))
    schema.upgrade(made)
    passwords = {
        "old": Keyring([SECOND]).encrypt("hunter2"),
        "new": Keyring([FIRST]).encrypt("hunter3"),
        "lost": Keyring([LOST]).encrypt("hunter4"),
        "none": None,
    }
    rows = [Registry(uuid=name, domain="reg.example.com", password=each) for name, each in passwords.items()]
    made.write(lambda session: session.add_all(rows))
    yield made
    made.close()


def rotate(tmp_path: Path, *keys: str) -> int:
    file = tmp_path / "tierce.conf"
    lines = [f"auth_encryption_key = {key}" for key in keys]
    file.write_text("\n".join(["[DEFAULT]", *lines, "[database]", f"connection = sqlite:///{tmp_path}/db"]))
    return registry.run(argparse.Namespace(registry_command="rotate"), config.load([str(file)]))


def stored(database: Database) -> dict[str | None, str | None]:
    return database.read(
        lambda session: {row.uuid: row.password for row in session.scalars(select(Registry))}
    )


def test_every_readable_password_is_encrypted_with_the_first_key(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = stored(database)

    assert rotate(tmp_path, FIRST, SECOND) == 1
    shown = capsys.readouterr()
    assert shown.out == "1 of 3 passwords encrypted anew.\n"
    assert shown.err == "registry lost: no key fits its password\n"
    after = stored(database)
    assert Keyring([FIRST]).decrypt(after.pop("old") or "") == "hunter2"
    assert after == {name: token for name, token in before.items() if name != "old"}

    assert rotate(tmp_path, FIRST, LOST) == 0
    assert capsys.readouterr().out == "1 of 3 passwords encrypted anew.\n"
    assert Keyring([FIRST]).decrypt(stored(database)["lost"] or "") == "hunter4"
