"""Private MariaDB and PostgreSQL servers, and a database of its own for every test.

    servers = Servers()
    with servers.database("postgresql") as url:  # holds the schema of `tierce db upgrade`
        ...
    servers.stop()

The servers come from Debian's packages, listen on unix sockets alone, and run as an account without rights
when the tests run as root (both refuse root). What they commit they leave to the machine to write: it
outlives a kill of theirs, and no crash of the machine.
"""

import contextlib
import glob
import itertools
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import psycopg
import pymysql

from tests.support.waiting import DEADLINE, until
from tierce import config
from tierce.db import schema
from tierce.db.engine import Database, connect

KINDS = ("sqlite", "mariadb", "postgresql")

_UNPRIVILEGED = "nobody"


class Server(Protocol):
    """What has databases."""

    def url(self, name: str) -> str: ...

    def create(self, name: str) -> None:
        """Make an empty one."""

    def fork(self, template: str, name: str) -> None:
        """Make one that is like `template`, which nobody uses now."""

    def drop(self, name: str) -> None: ...

    def stop(self) -> None: ...


class Sqlite:
    """A directory of files."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory

    def url(self, name: str) -> str:
        return f"sqlite:///{self._file(name)}"

    def create(self, name: str) -> None:
        """Nothing to do: SQLite makes the file when it is opened."""

    def fork(self, template: str, name: str) -> None:
        shutil.copy(self._file(template), self._file(name))

    def drop(self, name: str) -> None:
        for file in glob.glob(f"{self._file(name)}*"):
            os.unlink(file)

    def stop(self) -> None:
        """Nothing runs."""

    def _file(self, name: str) -> pathlib.Path:
        return self._directory / f"{name}.sqlite"


class MariaDB:
    """A mariadbd whose default character set is that of old: what is made must not depend on it."""

    def __init__(self, directory: pathlib.Path, *more: str) -> None:
        self._directory = directory
        self._socket = str(directory / "s")
        options = [
            "--no-defaults",
            f"--datadir={directory / 'data'}",
            f"--tmpdir={directory}",  # a server that starts clears away what others have in /tmp
            "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=48M",
            "--innodb-flush-log-at-trx-commit=2",
            "--skip-innodb-doublewrite",
        ]
        install = ["mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db"]
        _run([*install, *options])
        self._command = [
            _program("mariadbd", "/usr/sbin"),
            *options,
            f"--socket={self._socket}",
            f"--pid-file={directory / 'pid'}",
            "--skip-networking",
            "--skip-grant-tables",
            "--character-set-server=latin1",
            "--max-connections=400",
            *more,
        ]
        self._templates: dict[str, list[str]] = {}
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = _spawn(self._command, self._directory / "log")
        _await(self._process, self._directory / "log", self._answers)

    def url(self, name: str) -> str:
        return f"mysql+pymysql://root@localhost/{name}?unix_socket={self._socket}"

    def create(self, name: str) -> None:
        self.execute(f"CREATE DATABASE {name}")

    def fork(self, template: str, name: str) -> None:
        if template not in self._templates:
            self._templates[template] = self._dump(template)
        self.create(name)
        self.execute(*self._templates[template], database=name)

    def drop(self, name: str) -> None:
        self.execute(f"DROP DATABASE {name}")

    def stop(self) -> None:
        _stop(self._process)

    def kill(self) -> None:
        """SIGKILL: transactions under way are lost, and no others."""
        self._process.kill()
        self._process.wait()

    def execute(self, *statements: str, database: str | None = None) -> None:
        with self._connect(database) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    def _dump(self, database: str) -> list[str]:
        """The statements that make a database with its rows: MariaDB has no templates."""
        with self._connect(database) as connection, connection.cursor() as cursor:
            cursor.execute("SHOW TABLES")
            tables = [table for (table,) in cursor.fetchall()]
            statements = ["SET foreign_key_checks = 0"]
            for table in tables:
                cursor.execute(f"SHOW CREATE TABLE `{table}`")
                statements.append(cursor.fetchone()[1])
                cursor.execute(f"SELECT * FROM `{table}`")
                for row in cursor.fetchall():
                    values = ", ".join(connection.escape(value) for value in row)
                    statements.append(f"INSERT INTO `{table}` VALUES ({values})")
        return statements

    def _connect(self, database: str | None = None) -> "pymysql.Connection[pymysql.cursors.Cursor]":
        return pymysql.connect(unix_socket=self._socket, user="root", database=database)

    def _answers(self) -> bool:
        # Not by its driver, which leaves a socket open when it fails.
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self._socket) == 0


class PostgreSQL:
    """A postgres whose text is ordered as people do, which is the usual and the harder case."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory
        programs = "/usr/lib/postgresql/*/bin"
        locale = ["--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8"]
        _run(
            [
                _program("initdb", programs),
                *("--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", *locale),
                str(directory / "data"),
            ]
        )
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(directory),
            "fsync": "off",
            "full_page_writes": "off",
            "max_connections": "400",
            "lc_messages": "C",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self._command = [_program("postgres", programs), "-D", str(directory / "data"), *options]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = _spawn(self._command, self._directory / "log")
        _await(self._process, self._directory / "log", self._answers)

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://postgres@/{name}?host={self._directory}"

    def create(self, name: str) -> None:
        self.execute(f"CREATE DATABASE {name}")

    def fork(self, template: str, name: str) -> None:
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")

    def drop(self, name: str) -> None:
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def stop(self) -> None:
        # What programs have open is closed, and not waited for.
        _stop(self._process, signal.SIGINT)

    def kill(self) -> None:
        """SIGKILL, all of its processes: transactions under way are lost, and no others."""
        pids = [self._process.pid, *_children(self._process.pid)]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        # It does not start while one of them still has its memory.
        until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids))

    def execute(self, statement: str) -> None:
        with self._connect() as connection:
            connection.execute(statement.encode())

    def _connect(self) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(host=str(self._directory), user="postgres", dbname="postgres", autocommit=True)

    def _answers(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError):
            self._connect().close()
            return True
        return False


_SERVERS: Mapping[str, type[Sqlite] | type[MariaDB] | type[PostgreSQL]] = {
    "sqlite": Sqlite,
    "mariadb": MariaDB,
    "postgresql": PostgreSQL,
}


class Servers:
    """One server of each kind, started when the first of its databases is asked for."""

    def __init__(self) -> None:
        # Not under pytest's own directory, which is closed to other accounts.
        self._directory = pathlib.Path(tempfile.mkdtemp(prefix="tierce-servers-"))
        self._directory.chmod(0o711)
        self._started: dict[str, Server] = {}
        self._names = (f"tierce_{number}" for number in itertools.count())

    def server(self, kind: str) -> Server:
        if kind not in self._started:
            directory = self._directory / kind
            directory.mkdir()
            if account := _account():
                os.chown(directory, account.pw_uid, account.pw_gid)
            server: Server = _SERVERS[kind](directory)
            self._started[kind] = server
            server.create("template_of_tests")
            upgrade(server.url("template_of_tests"))
        return self._started[kind]

    @contextlib.contextmanager
    def database(self, kind: str, *, empty: bool = False) -> Iterator[str]:
        """The URL of a database that holds our schema, unless it is to be `empty`; dropped after use."""
        server, name = self.server(kind), next(self._names)
        if empty:
            server.create(name)
        else:
            server.fork("template_of_tests", name)
        yield server.url(name)
        server.drop(name)

    def stop(self) -> None:
        for server in self._started.values():
            server.stop()
        shutil.rmtree(self._directory)


def connection(url: str, **options: object) -> Database:
    """What a program with this `[database]` has."""
    overrides = [("database", name, value) for name, value in {"connection": url, **options}.items()]
    return connect(config.load(overrides=overrides))


def upgrade(url: str) -> None:
    """What `tierce db upgrade` does."""
    database = connection(url)
    schema.upgrade(database)
    database.close()


# --- processes --------------------------------------------------------------------------------------


def _program(name: str, directories: str) -> str:
    found = shutil.which(name) or next(iter(sorted(glob.glob(f"{directories}/{name}"), reverse=True)), None)
    assert found, f"{name} is missing: apt-get install mariadb-server postgresql"
    return found


def _account() -> pwd.struct_passwd | None:
    """Whom the servers run as, when not as whoever runs the tests."""
    return pwd.getpwnam(_UNPRIVILEGED) if os.geteuid() == 0 else None


def _as_account() -> dict[str, Any]:
    """Arguments of subprocess for it."""
    account = _account()
    return (
        {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": [], "cwd": "/"} if account else {}
    )


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **_as_account())
    assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"


def _spawn(command: list[str], log: pathlib.Path) -> "subprocess.Popen[bytes]":
    with log.open("wb") as output:
        # It goes with the tests, also when these are killed.
        bound = ["setpriv", "--pdeathsig", "TERM", *command]
        return subprocess.Popen(bound, stdout=output, stderr=output, **_as_account())


def _await(process: "subprocess.Popen[bytes]", log: pathlib.Path, answers: Callable[[], bool]) -> None:
    until(lambda: process.poll() is not None or answers())
    assert process.poll() is None, log.read_text(errors="replace")


def _stop(process: "subprocess.Popen[bytes]", number: signal.Signals = signal.SIGTERM) -> None:
    process.send_signal(number)
    process.wait(DEADLINE)


def _children(pid: int) -> list[int]:
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
