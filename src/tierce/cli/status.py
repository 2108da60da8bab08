"""`tierce status upgrade check`: whether this version can start on what is there.

Output and exit status are as oslo.upgradecheck's: 0 for success, 1 when something is to be looked at,
2 when a service would not start or not work.
"""

import argparse
import dataclasses
import enum
import os
from collections.abc import Iterator
from typing import Final

from oslo_config import cfg

from tierce.cli import policy
from tierce.config.ignored import ignored
from tierce.db import engine, registries, schema, services
from tierce.db.engine import DATABASE_TROUBLE, Database
from tierce.db.secrets import Keyring
from tierce.model.clock import Clock, SystemClock
from tierce.model.errors import DatabaseBusy, InvalidEncryptionKey
from tierce.rpc.threads import use_threads


class Code(enum.IntEnum):
    """How a check ended; the worst one is the exit status."""

    SUCCESS = 0
    WARNING = 1
    FAILURE = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    code: Code
    details: str = ""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("status", help="whether this version can start on what is there")
    areas = parser.add_subparsers(dest="area", required=True)
    upgrade = areas.add_parser("upgrade", help="the state of an upgrade")
    verbs = upgrade.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check", help="look at database, keys, policy and nodes before services start")


def run(_args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Print what each check found; the worst of their codes."""
    os.umask(0o077)
    database = engine.connect(conf)
    try:
        results = [*_results(conf, database, SystemClock())]
    finally:
        database.close()
    print("Upgrade Check Results")
    for name, result in results:
        print(f"\nCheck: {name}\nResult: {result.code.name.capitalize()}")
        if result.details:
            print(f"Details: {result.details}")
    return max(result.code for _, result in results)


def _results(conf: cfg.ConfigOpts, database: Database, clock: Clock) -> Iterator[tuple[str, Result]]:
    yield "Configuration", _configuration(conf)
    yield "Policy file", _policy_file(conf)
    schema_result = _schema(database)
    yield "Database schema", schema_result
    if schema_result.code is not Code.SUCCESS:
        return  # the rest reads tables
    yield "Encryption keys", _keys(conf, database)
    yield "Node agents", _agents(conf, database, clock)


def _configuration(conf: cfg.ConfigOpts) -> Result:
    use_threads()  # the library of the bus is asked for its options
    unread = ignored(conf)
    return Result(Code.WARNING, f"Nobody reads {', '.join(unread)}.") if unread else Result(Code.SUCCESS)


def _policy_file(conf: cfg.ConfigOpts) -> Result:
    problems = policy.problems(conf)
    return Result(Code.FAILURE, "; ".join(problems)) if problems else Result(Code.SUCCESS)


def _schema(database: Database) -> Result:
    try:
        pending = schema.pending(database)
    except schema.SchemaMismatch as exc:
        return Result(Code.FAILURE, exc.message)
    except DatabaseBusy as exc:
        return Result(Code.FAILURE, str(exc))
    except DATABASE_TROUBLE as exc:
        return Result(Code.FAILURE, f"The database cannot be read ({type(exc).__name__}).")
    if pending:
        revisions = ", ".join(revision for revision, _ in pending)
        return Result(Code.FAILURE, f"Revisions {revisions} are missing: run `tierce db upgrade`.")
    return Result(Code.SUCCESS)


def _keys(conf: cfg.ConfigOpts, database: Database) -> Result:
    try:
        keyring = Keyring.from_conf(conf)
    except InvalidEncryptionKey as exc:
        return Result(Code.FAILURE, exc.message)
    unreadable, old = [], 0
    for uuid, token in database.read(registries.tokens):
        try:
            old += keyring.renewed(token) is not None
        except InvalidEncryptionKey:
            unreadable.append(uuid)
    if unreadable:
        return Result(Code.FAILURE, f"No key fits the passwords of the registries {', '.join(unreadable)}.")
    if old:
        return Result(Code.WARNING, f"{old} passwords need older keys: run `tierce registry rotate`.")
    return Result(Code.SUCCESS)


_DOWN: Final = (
    "These agents are down: {}. Start them, or `openstack appcontainer service delete HOST zun-compute` "
    "what is gone for good."
)
_UNKNOWN: Final = (
    "These agents say not who they are, so they are of another service, or were just stopped: {}. See that "
    "another service's are stopped before this one's start."
)


def _agents(conf: cfg.ConfigOpts, database: Database, clock: Clock) -> Result:
    """An agent that serves a node without having registered is none of ours: see that it is stopped."""
    agents = [each for each in database.read(services.every) if each.binary == services.BINARY]
    up = [each for each in agents if services.is_up(each, clock.now(), conf.service_down_time)]
    found = {
        _DOWN: [each.host or "" for each in agents if each not in up],
        _UNKNOWN: [each.host or "" for each in up if not each.incarnation],
    }
    details = [sentence.format(", ".join(hosts)) for sentence, hosts in found.items() if hosts]
    return Result(Code.WARNING, " ".join(details)) if details else Result(Code.SUCCESS)
