"""`tierce db` and `tierce status upgrade check`: what operators ask before and after an upgrade."""

import argparse
import datetime
import os
import pathlib
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from tierce import config
from tierce.cli import db
from tierce.cli.main import main
from tierce.db import schema, services
from tierce.db.engine import Database, connect
from tierce.db.secrets import Keyring
from tierce.db.tables import Registry, Service

Run = Callable[..., tuple[int, str, str]]
FIRST, SECOND, LOST = (f"{word} key, of 32 characters or more" for word in ("first", "second", "lost"))


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "db.sqlite"


@pytest.fixture
def policy(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "policy.yaml"
    path.write_text("")
    return path


@pytest.fixture
def configuration(tmp_path: pathlib.Path, file: pathlib.Path, policy: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "tierce.conf"
    path.write_text(
        f"[DEFAULT]\nauth_encryption_key = {FIRST}\nauth_encryption_key = {SECOND}\n"
        f"[database]\nconnection = sqlite:///{file}\n[oslo_policy]\npolicy_file = {policy}\n"
    )
    return path


@pytest.fixture
def run(configuration: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; exit status, output and complaints."""

    def run(line: str) -> tuple[int, str, str]:
        code = main(["--config-file", os.fspath(configuration), *line.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def database(file: pathlib.Path) -> Iterator[Database]:
    """One that is up to date."""
    made = connect(config.load(overrides=[("database", "connection", f"sqlite:///{file}")]))
    schema.upgrade(made)
    yield made
    made.close()


def at(file: pathlib.Path, revision: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = ?", [revision])
    connection.close()


# --- db -------------------------------------------------------------------------------------------


def test_what_is_missing_is_listed_without_being_added(run: Run) -> None:
    code, listed, _ = run("db check")
    assert code == 1
    revisions = [line.split()[0] for line in listed.splitlines()]
    assert (revisions[0], revisions[-1], revisions) == ("0001", schema.HEAD, sorted(revisions))
    assert all(len(line.split()) > 3 for line in listed.splitlines())
    assert run("db upgrade --dry-run")[:2] == (0, listed)
    assert run("db version")[:2] == (0, "none\n")


def test_nothing_is_missing_after_an_upgrade(run: Run) -> None:
    assert run("db upgrade")[:2] == (0, f"{schema.HEAD}\n")
    assert run("db check")[:2] == run("db upgrade --dry-run")[:2] == (0, "")


@pytest.mark.usefixtures("database")
def test_an_older_schema_lacks_what_came_since(run: Run, file: pathlib.Path) -> None:
    at(file, "0003")
    code, listed, _ = run("db check")
    assert (code, listed.split()[0]) == (1, "0004")


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("line", ["db check", "db upgrade", "db upgrade --dry-run", "registry rotate"])
def test_a_schema_of_a_newer_version_is_refused_and_left(run: Run, file: pathlib.Path, line: str) -> None:
    at(file, "9999")
    code, output, complaint = run(line)
    assert (code, output) == (1, "")
    assert "newer version" in complaint
    assert run("db version")[:2] == (0, "9999\n")


@pytest.mark.parametrize("line", ["db version", "db check", "db upgrade --dry-run"])
def test_the_database_is_told_beside_the_output(run: Run, file: pathlib.Path, line: str) -> None:
    assert run(line)[2] == f"Database: sqlite:///{file}\n"


@pytest.mark.parametrize("written", [False, True])
def test_a_database_that_nobody_has_named_is_told_as_such(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], written: bool
) -> None:
    file = tmp_path / "tierce.conf"
    file.write_text("[api]\n")
    conf = config.load([str(file)] if written else (), [("DEFAULT", "state_path", str(tmp_path))])

    assert db.run(argparse.Namespace(db_command="version"), conf) == 0

    why = f"`[database] connection` is not set in {file}" if written else "no configuration file was found"
    said = capsys.readouterr().err
    assert said.startswith(f"Database: sqlite:///{tmp_path}/tierce.sqlite, as {why}")


def test_a_database_that_cannot_be_opened_is_refused_in_one_line(run: Run, file: pathlib.Path) -> None:
    file.mkdir()
    code, output, complaint = run("db version")
    assert (code, output) == (1, "")
    assert complaint.splitlines()[1].startswith(f"tierce: The database {file} cannot be opened (")
    assert len(complaint.splitlines()) == 2


# --- status ---------------------------------------------------------------------------------------


def results(output: str) -> dict[str, str]:
    """The result of each check, with its details."""
    blocks = [block.splitlines() for block in output.split("\n\n")[1:]]
    return {lines[0].removeprefix("Check: "): " ".join(lines[1:]) for lines in blocks}


@pytest.mark.usefixtures("database")
def test_all_is_well(run: Run) -> None:
    code, output, _ = run("status upgrade check")
    assert code == 0
    assert results(output) == dict.fromkeys(
        ("Configuration", "Policy file", "Database schema", "Encryption keys", "Node agents"),
        "Result: Success",
    )


@pytest.mark.usefixtures("database")
def test_options_that_nobody_reads_are_named(run: Run, configuration: pathlib.Path) -> None:
    """A file of the reference implementation has many, and a misspelt one would not be noticed else."""
    read = "[healthcheck]\ndetailed = true\n[Oslo_Messaging_Rabbit]\nssl = true\n[DEFAULT]\nlogdir = /tmp\n"
    unread = "[network]\ndriver = kuryr\n[compute]\nram_alocation_ratio = 2\n[DEFAULT]\nuse-json = true\n"
    with configuration.open("a") as file:
        file.write(read + unread)
    code, output, _ = run("status upgrade check")
    assert code == 1
    assert results(output)["Configuration"].endswith(
        "Nobody reads [DEFAULT] use-json, [network] driver, [compute] ram_alocation_ratio."
    )


def test_an_old_schema_is_a_failure(run: Run) -> None:
    code, output, _ = run("status upgrade check")
    assert code == 2
    assert "Failure" in results(output)["Database schema"]
    assert "`tierce db upgrade`" in output


def test_a_database_that_cannot_be_opened_is_a_failure(run: Run, file: pathlib.Path) -> None:
    file.mkdir()
    code, output, _ = run("status upgrade check")
    assert (code, f"The database {file} cannot be opened" in output) == (2, True)


@pytest.mark.usefixtures("database")
def test_mistakes_in_the_policy_file_are_a_failure(run: Run, policy: pathlib.Path) -> None:
    policy.write_text('"container:stopp": "role:member"')
    code, output, _ = run("status upgrade check")
    assert (code, "container:stopp" in results(output)["Policy file"]) == (2, True)


@pytest.mark.parametrize(("key", "code", "said"), [(FIRST, 0, ""), (SECOND, 1, "rotate"), (LOST, 2, "r1")])
def test_passwords_of_registries_must_be_readable(
    run: Run, database: Database, key: str, code: int, said: str
) -> None:
    row = Registry(uuid="r1", domain="reg.example.com", password=Keyring([key]).encrypt("hunter2"))
    database.write(lambda session: session.add(row))
    found, output, _ = run("status upgrade check")
    assert found == code
    assert said in results(output)["Encryption keys"]


def test_agents_that_are_down_or_unknown_are_named(run: Run, database: Database) -> None:
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    ours = {"installation": "i", "incarnation": "i"}
    rows = [
        Service(host="ours", binary=services.BINARY, last_seen_up=now, **ours),
        Service(host="theirs", binary=services.BINARY, last_seen_up=now),
        Service(host="dead", binary=services.BINARY, last_seen_up=now - datetime.timedelta(days=1), **ours),
    ]
    database.write(lambda session: session.add_all(rows))
    code, output, _ = run("status upgrade check")
    said = results(output)["Node agents"]
    assert (code, "Warning" in said) == (1, True)
    assert "These agents are down: dead. Start them, or `openstack appcontainer service delete" in said
    assert "or were just stopped: theirs." in said
    assert "ours" not in said.split()
