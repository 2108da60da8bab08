"""`tierce registry`: the passwords of registries in the database, and the keys that they are kept with."""

import argparse
import os
import sys

from oslo_config import cfg

from tierce.db import engine, registries, schema
from tierce.db.engine import Database
from tierce.db.secrets import Keyring
from tierce.model.errors import InvalidEncryptionKey


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("registry", help="the passwords of registries in the database")
    commands = parser.add_subparsers(dest="registry_command", required=True)
    commands.add_parser("rotate", help="encrypt every password anew, with the first key")


def run(_args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Rotate; 1 when there are passwords that no key can read, which are named and stay as they are."""
    os.umask(0o077)
    keyring = Keyring.from_conf(conf)
    database = engine.connect(conf)
    try:
        schema.require_current(database)
        return _rotate(database, keyring)
    finally:
        database.close()


def _rotate(database: Database, keyring: Keyring) -> int:
    """May be run again at any time, beside a running service: a password that changes meanwhile is left."""
    done, unreadable = 0, []
    tokens = database.read(registries.tokens)
    for uuid, token in tokens:
        try:
            renewed = keyring.renewed(token)
        except InvalidEncryptionKey:
            unreadable.append(uuid)
            continue
        if renewed is not None:
            done += _replace(database, uuid, token, renewed)
    print(f"{done} of {len(tokens)} passwords encrypted anew.")
    for uuid in unreadable:
        print(f"registry {uuid}: no key fits its password", file=sys.stderr)
    return 1 if unreadable else 0


def _replace(database: Database, uuid: str, old: str, new: str) -> bool:
    return database.write(lambda session: registries.replace_token(session, uuid, old, new))
