"""`tierce db`: the schema."""

import argparse
import os

from oslo_config import cfg

from tierce.db import engine, schema
from tierce.db.engine import Database


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("db", help="the database's schema")
    commands = parser.add_subparsers(dest="db_command", required=True)
    upgrade = commands.add_parser("upgrade", help="bring the schema to what this version needs")
    instead = upgrade.add_mutually_exclusive_group()
    instead.add_argument("--dry-run", action="store_true", help="print what it would add, and change nothing")
    instead.add_argument(
        "--sql", action="store_true", help="print it as SQL for this database as it is, and change nothing"
    )
    commands.add_parser("check", help="print what an upgrade would add; the exit status is 1 then")
    commands.add_parser("version", help="print the schema's revision")


def run(args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Do what was asked; the exit status. Raises SchemaMismatch, DatabaseBusy."""
    os.umask(0o077)
    database = engine.connect(conf, patient=True)
    try:
        if args.db_command == "version":
            print(schema.current(database) or "none")
        elif args.db_command == "check":
            return 1 if _print_pending(database) else 0
        elif args.dry_run:
            _print_pending(database)
        elif args.sql:
            print(schema.script(database), end="")
        else:
            print(schema.upgrade(database))
    finally:
        database.close()
    return 0


def _print_pending(database: Database) -> bool:
    """Print the revisions that are to come; whether there are any."""
    pending = schema.pending(database)
    for revision, purpose in pending:
        print(f"{revision}  {purpose}")
    return bool(pending)
