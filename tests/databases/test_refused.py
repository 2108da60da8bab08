"""Accounts, databases and hosts that are wrong in the configuration: one line that says where, never how."""

import os
import pathlib
import pwd
import tempfile
from collections.abc import Callable, Iterator

import pytest

from tests.support.databases import MariaDB, PostgreSQL, connection
from tests.support.programs import Program
from tests.support.service import free_port
from tierce.cli.main import main
from tierce.db import schema
from tierce.db.engine import Database
from tierce.model.errors import DatabaseAway

PASSWORD, WRONG = "correct horse", "hunter2"

Ask = Callable[[str, str], tuple[int, list[str]]]


class Guarded:
    """A server that asks for passwords, with a database `tierce`, the account that owns it, and a reader."""

    def __init__(self, server: MariaDB | PostgreSQL, socket: str) -> None:
        self.server = server
        self._socket = socket

    def url(self, user: str, password: str, database: str = "tierce") -> str:
        scheme, _, _ = self.server.url("x").partition(":")
        return f"{scheme}://{user}:{password.replace(' ', '%20')}@/{database}?{self._socket}"


@pytest.fixture(scope="module", params=["mariadb", "postgresql"])
def guarded(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    """The servers that tests share let everybody in."""
    with tempfile.TemporaryDirectory(prefix="tierce-guarded-") as name:
        directory = pathlib.Path(name)
        if os.geteuid() == 0:
            account = pwd.getpwnam("nobody")
            os.chown(directory, account.pw_uid, account.pw_gid)
        made = (_mariadb if request.param == "mariadb" else _postgresql)(directory)
        yield made
        made.server.stop()


def _mariadb(directory: pathlib.Path) -> Guarded:
    server = MariaDB(directory, "--skip-grant-tables=0")
    server.create("tierce")
    server.execute(
        f"CREATE USER owner@localhost IDENTIFIED BY '{PASSWORD}'",
        "GRANT ALL ON tierce.* TO owner@localhost",
        f"CREATE USER reader@localhost IDENTIFIED BY '{PASSWORD}'",
        "GRANT SELECT ON tierce.* TO reader@localhost",
    )
    return Guarded(server, f"unix_socket={directory / 's'}")


def _postgresql(directory: pathlib.Path) -> Guarded:
    server = PostgreSQL(directory)
    for account in ("owner", "reader"):
        server.execute(f"CREATE ROLE {account} LOGIN PASSWORD '{PASSWORD}'")
    server.execute("CREATE DATABASE tierce OWNER owner")
    rules = directory / "data" / "pg_hba.conf"
    rules.write_text(f"local all owner,reader scram-sha-256\n{rules.read_text()}")
    server.execute("SELECT pg_reload_conf()")
    return Guarded(server, f"host={directory}")


def configuration(directory: pathlib.Path, url: str) -> pathlib.Path:
    """A file of a cloud on that database, whose bus nobody comes to ask."""
    file = directory / "tierce.conf"
    file.write_text(
        f"[DEFAULT]\nstate_path = {directory}\ntransport_url = rabbit://127.0.0.1:1/\n"
        f"[api]\nport = {free_port()}\nworkers = 3\n"
        f"[database]\ndb_max_retries = 0\nconnection = {url}\n"
    )
    return file


@pytest.fixture
def ask(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs a command on a database; its exit status, and what it printed to either side."""

    def ask(url: str, line: str) -> tuple[int, list[str]]:
        code = main(["--config-file", str(configuration(tmp_path, url)), *line.split()])
        captured = capsys.readouterr()
        return code, [*captured.out.splitlines(), *captured.err.splitlines()]

    return ask


@pytest.mark.parametrize(
    ("user", "password", "database"),
    [("owner", WRONG, "tierce"), ("nobody", WRONG, "tierce"), ("owner", PASSWORD, "nosuch")],
    ids=["password", "account", "database"],
)
@pytest.mark.parametrize("command", ["db version", "db check", "db upgrade"])
def test_a_command_that_is_not_let_in_ends_with_one_line(
    guarded: Guarded, ask: Ask, command: str, user: str, password: str, database: str
) -> None:
    code, lines = ask(guarded.url(user, password, database), command)
    assert (code, len(lines)) == (1, 2)
    assert lines[1].startswith("tierce: The database at /")
    assert "`[database] connection`" in lines[1]
    assert f'"{user}"' in lines[1] or f'"{database}"' in lines[1] or f"{user} for {database}" in lines[1]
    assert password not in "".join(lines)


@pytest.mark.parametrize("command", ["agent", "api", "standalone"])
def test_a_program_that_is_not_let_in_says_so_once_and_ends(
    guarded: Guarded, tmp_path: pathlib.Path, command: str
) -> None:
    program = Program(configuration(tmp_path, guarded.url("owner", WRONG)), command)
    program.start()
    assert program.wait() == 1
    (complaint,) = program.log.splitlines()
    assert complaint.startswith("tierce: The database at /")
    assert WRONG not in complaint


def test_a_check_of_an_upgrade_says_why_it_was_not_let_in(guarded: Guarded, ask: Ask) -> None:
    code, lines = ask(guarded.url("owner", WRONG), "status upgrade check")
    (details,) = [line for line in lines if line.startswith("Details: The database at /")]
    assert (code, "owner" in details, "`[database] connection`" in details) == (2, True, True)
    assert WRONG not in "".join(lines)


def test_an_account_that_may_not_make_tables_is_told(guarded: Guarded, ask: Ask) -> None:
    code, lines = ask(guarded.url("reader", PASSWORD), "db upgrade")
    assert code == 1
    assert "refuses the account reader for tierce (" in lines[-1]
    assert len(lines) == 2


@pytest.mark.parametrize("scheme", ["mysql", "postgresql"])
def test_a_server_that_is_not_there_is_told_with_host_and_port(ask: Ask, scheme: str) -> None:
    port = free_port()
    code, lines = ask(f"{scheme}://tierce:{WRONG}@127.0.0.1:{port}/tierce", "db version")
    assert code == 1
    assert lines[0] == f"Database: {scheme}://tierce@127.0.0.1:{port}/tierce"
    assert lines[1].startswith(f"tierce: The database at 127.0.0.1:{port} cannot be reached, tried 1x (")
    assert lines[1].endswith("): is it up, and `[database] connection` right?")
    assert WRONG not in "".join(lines)


def test_callers_learn_nothing_of_where_the_database_is(guarded: Guarded) -> None:
    database: Database = connection(guarded.url("owner", WRONG), db_max_retries=0)
    with pytest.raises(DatabaseAway) as caught:
        schema.current(database)
    database.close()
    assert caught.value.message == "The database cannot be used now. Try again later."
