"""What a real server does to a transaction: deadlocks, lost connections, locks, values that do not fit."""

import datetime
import pathlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oslo_policy import opts
from sqlalchemy import event, func, select, text, update
from sqlalchemy.orm import Session

from tests.support.databases import connection
from tests.support.threads import at_once
from tierce import config
from tierce.control.policy import Policy
from tierce.control.registries import Registries
from tierce.db import containers, registries
from tierce.db.engine import Database
from tierce.db.secrets import Keyring
from tierce.db.tables import Container, Registry, Service
from tierce.model.clock import SystemClock
from tierce.model.context import RequestContext
from tierce.model.errors import DatabaseBusy, InvalidValue, RegistryNotFound

Open = Callable[..., Database]
NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00.900000")
EVERYBODY = RequestContext(is_admin=True, all_projects=True)
ALICE = RequestContext(user_id="alice", project_id="red")


@pytest.fixture(params=["mariadb", "postgresql"], scope="session")
def server_kind(request: pytest.FixtureRequest) -> str:
    """What happens between connections: SQLite has one writer, and no connection to lose."""
    return str(request.param)


@pytest.fixture
def open_server(servers: Any, server_kind: str) -> Iterator[Open]:
    with servers.database(server_kind) as url:
        opened: list[Database] = []

        def connected(**options: object) -> Database:
            opened.append(connection(url, **options))
            return opened[-1]

        yield connected
        for database in opened:
            database.close()


def add(database: Database, *names: str) -> None:
    database.write(
        lambda session: session.add_all([Registry(uuid=name, name=name, domain="d") for name in names])
    )


def names(database: Database) -> list[str | None]:
    return database.read(lambda session: list(session.scalars(select(Registry.name).order_by(Registry.id))))


def change(session: Session, uuid: str, **values: Any) -> int:
    result = session.execute(update(Registry).where(Registry.uuid == uuid).values(**values))
    return int(result.rowcount)  # type: ignore[attr-defined]  # of an UPDATE it has one


def die(session: Session) -> None:
    """End the session's own connection, as a restart of the server does."""
    bind = session.connection()
    mine = "CONNECTION_ID()" if bind.dialect.name == "mysql" else "pg_backend_pid()"
    ident = session.scalar(text(f"SELECT {mine}"))
    with bind.engine.connect() as other:
        kill = (
            f"KILL {ident}" if bind.dialect.name == "mysql" else f"SELECT pg_terminate_backend({ident}, 5000)"
        )
        other.execute(text(kill))


# --- run again ------------------------------------------------------------------------------------


def test_of_two_that_lock_each_other_both_are_done_once(open_server: Open) -> None:
    databases = [open_server(), open_server()]
    add(databases[0], "a", "b")
    met = threading.Barrier(2)
    runs: list[str] = []

    def work(session: Session, first: str, second: str) -> None:
        runs.append(first)
        change(session, first, username=first)
        if len(runs) <= 2:
            met.wait(30)
        change(session, second, username=first)
        session.add(Registry(uuid=f"by {first}", name=f"by {first}", domain="d"))

    at_once(
        [
            lambda: databases[0].write(lambda session: work(session, "a", "b")),
            lambda: databases[1].write(lambda session: work(session, "b", "a")),
        ]
    )

    assert len(runs) == 3
    assert sorted(map(str, names(databases[0]))) == ["a", "b", "by a", "by b"]


def test_who_changes_what_another_one_has_just_removed_looks_again_and_finds_it_gone(
    open_server: Open,
) -> None:
    mine, other = open_server(), open_server()
    add(mine, "a")

    def work(session: Session) -> None:
        registry = registries.get(session, EVERYBODY, "a", by_uuid=True)
        other.write(lambda inner: registries.destroy(inner, registry))
        registry.username = "u"

    with pytest.raises(RegistryNotFound):
        mine.write(work)


def test_a_connection_that_is_lost_half_way_is_replaced_and_the_work_done_once(open_server: Open) -> None:
    database = open_server()
    runs: list[int] = []

    def work(session: Session) -> None:
        runs.append(1)
        session.add(Registry(uuid="a", name="a", domain="d"))
        session.flush()
        if len(runs) == 1:
            die(session)
        change(session, "a", username="u")

    database.write(work)
    assert (len(runs), names(database)) == (2, ["a"])


def test_connections_that_died_in_the_pool_are_nobody_s_concern(open_server: Open) -> None:
    database = open_server(db_max_retries=0)
    with pytest.raises(DatabaseBusy):
        database.read(lambda session: (die(session), session.scalar(select(func.count(Registry.id)))))
    add(database, "a")
    assert names(database) == ["a"]


def test_a_connection_that_is_lost_at_the_commit_is_told_and_the_work_not_done_twice(
    open_server: Open,
) -> None:
    database = open_server()
    runs: list[int] = []

    def work(session: Session) -> None:
        runs.append(1)
        session.add(Registry(uuid="a", name="a", domain="d"))
        session.flush()
        die(session)

    with pytest.raises(DatabaseBusy, match="may be made or not"):
        database.write(work)
    assert len(runs) == 1
    assert names(database) == []


def test_a_lock_that_is_not_let_go_is_told_in_time(open_server: Open) -> None:
    holder, other = open_server(), open_server(lock_timeout=1, db_max_retries=0)
    add(holder, "a")

    def hold(session: Session) -> None:
        change(session, "a", username="holder")
        with pytest.raises(DatabaseBusy, match="refused the transaction 1 times"):
            other.write(lambda inner: change(inner, "a", username="other"))

    holder.write(hold)
    assert holder.read(lambda session: session.scalar(select(Registry.username))) == "holder"


def test_a_statement_that_takes_too_long_is_given_up(open_server: Open, server_kind: str) -> None:
    database = open_server(statement_timeout=1, db_max_retries=0)
    sleep = {"mariadb": "SELECT SLEEP(20)", "postgresql": "SELECT pg_sleep(20)"}[server_kind]
    with pytest.raises(DatabaseBusy):
        database.read(lambda session: session.execute(text(sleep)))


@pytest.mark.parametrize("scheme", ["mysql", "mariadb", "postgresql"])
def test_a_server_that_is_not_there_is_told(scheme: str) -> None:
    """A URL needs no driver, and nothing of a password is told."""
    database = connection(f"{scheme}://user:secret@127.0.0.1:1/x", db_max_retries=1)
    with pytest.raises(DatabaseBusy, match=r"127\.0\.0\.1:1 cannot be reached, tried 2x") as caught:
        database.read(lambda session: session.execute(text("SELECT 1")))
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"
    database.close()


def test_more_transactions_than_connections_wait_and_then_are_told(open_server: Open) -> None:
    database = open_server(max_pool_size=1, max_overflow=0, pool_timeout=1)

    def nested(_session: Session) -> None:
        with pytest.raises(DatabaseBusy, match="All connections"):
            database.read(lambda session: session.execute(text("SELECT 1")))

    database.read(nested)


# --- what a transaction sees ----------------------------------------------------------------------


def test_a_read_sees_one_moment_and_a_write_what_is_committed(open_server: Open) -> None:
    database, other = open_server(), open_server()

    def look(session: Session) -> list[int]:
        count = select(func.count()).select_from(Registry)
        before = session.scalar(count) or 0
        add(other, f"{len(names(other))}")
        return [before, session.scalar(count) or 0]

    assert database.read(look) == [0, 0]
    assert database.write(look) == [1, 2]


def test_a_row_that_is_held_is_as_it_is_now_and_changed_by_nobody_else(open_server: Open) -> None:
    mine, other = open_server(), open_server(lock_timeout=1, db_max_retries=0)
    add(mine, "a")

    def work(session: Session) -> str | None:
        registry = registries.get(session, EVERYBODY, "a", by_uuid=True)
        other.write(lambda inner: change(inner, "a", username="other"))
        registries.hold(session, registry)
        with pytest.raises(DatabaseBusy):
            other.write(lambda inner: change(inner, "a", username="late"))
        return registry.username

    assert mine.write(work) == "other"


def test_a_password_does_not_go_to_a_host_that_a_registry_had_until_just_now(
    open_server: Open, tmp_path: pathlib.Path
) -> None:
    """Its owner puts host and password right between another one's look at it and the change."""
    mine, other = open_server(), open_server()
    mine.write(
        lambda session: session.add(
            Registry(uuid="a", name="a", domain="evil.example", password="x", project_id="red")
        )
    )
    conf = config.load()
    opts.set_defaults(conf, policy_file=str(tmp_path / "policy.yaml"))
    keyring = Keyring(["32 characters that a test knows."])
    control = Registries(mine, Policy(conf, SystemClock()), keyring, SystemClock())

    @event.listens_for(mine.engine, "after_cursor_execute", once=True)
    def looked(*_: object) -> None:
        other.write(lambda session: change(session, "a", domain="good.example", password="secret"))

    with pytest.raises(InvalidValue):
        control.update(ALICE, "a", {"domain": "evil.example/path"})
    (left,) = mine.read(lambda session: list(session.scalars(select(Registry))))
    assert (left.domain, left.password) == ("good.example", "secret")


def test_a_read_writes_nothing(database: Database) -> None:
    def work(session: Session) -> None:
        change(session, "a", username="changed")
        session.flush()

    add(database, "a")
    if database.engine.dialect.name == "sqlite":
        database.read(work)
    else:
        with pytest.raises(DatabaseBusy):
            database.read(work)
    assert database.read(lambda session: session.scalar(select(Registry.username))) is None


def test_a_change_to_what_is_there_already_counts_as_one(database: Database) -> None:
    """Compare-and-swap counts rows that were found, which MySQL does not by itself."""
    add(database, "a")
    counts = [database.write(lambda session: change(session, "a", username="u")) for _ in range(2)]
    assert counts == [1, 1]


# --- values ---------------------------------------------------------------------------------------


def insert(database: Database, **values: Any) -> Container:
    row = Container(uuid="c", container_type=0, generation=0, status="Running", created_at=NOW, **values)
    database.write(lambda session: containers.insert(session, row, ""))
    return database.read(lambda session: containers.get(session, EVERYBODY, "c", by_uuid=True))


def test_times_are_whole_seconds_and_never_later_than_they_were(database: Database) -> None:
    assert insert(database, started_at=NOW).started_at == NOW.replace(microsecond=0)


@pytest.mark.parametrize("text", ["Zażółć 🚀", "日本語", "\U0010ffff"])
def test_every_character_is_kept(database: Database, text: str) -> None:
    row = insert(database, workdir=text, environment={text: text}, labels={"a": text}, command=[text])
    assert (row.workdir, row.environment, row.labels, row.command) == (
        text,
        {text: text},
        {"a": text},
        [text],
    )


@pytest.mark.parametrize("long", ["\0" + "é" * 100_000, "\ud800" * 100_000, "x" * 100_000])
def test_messages_are_made_to_fit(database: Database, long: str) -> None:
    row = insert(database, status_reason=long, status_detail=long)
    assert 8 <= len(row.status_detail or "") <= 50
    assert 65_500 < len((row.status_reason or "").encode()) <= 65_535


@pytest.mark.parametrize("value", ["x" * 300, "lone \ud800"])
def test_what_does_not_fit_is_refused(open_server: Open, value: str) -> None:
    database = open_server()
    with pytest.raises(InvalidValue):
        insert(database, workdir=value)
    assert database.read(lambda session: session.scalar(select(func.count(Container.id)))) == 0


def test_two_texts_that_differ_in_case_or_accent_are_two(database: Database) -> None:
    database.write(
        lambda session: session.add_all(
            [Service(host=host, binary="zun-compute", report_count=1) for host in ("node", "Node", "nöde")]
        )
    )
    found = database.read(
        lambda session: session.scalars(select(Service.host).where(Service.host == "node")).all()
    )
    assert found == ["node"]
