"""`tierce db`: the schema."""

import argparse
import os
import sys

from oslo_config import cfg

from tierce import config
from tierce.db import address, engine, schema
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
    """Do what was asked; the exit status. Which database it is goes to standard error.

    Raises SchemaMismatch, DatabaseBusy.
    """
    os.umask(0o077)
    database = engine.connect(conf, patient=True)
    print(_which(conf), file=sys.stderr)
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


def _which(conf: cfg.ConfigOpts) -> str:
    """The database, and why it is that one when nobody has named it: programs elsewhere may use another."""
    database = f"Database: {address.summary(address.parse_url(conf))}"
    if not conf.config_file:
        return f"{database}, as no configuration file was found ({', '.join(config.SEARCHED)})."
    if conf.get_location("connection", "database").location is cfg.Locations.opt_default:
        return f"{database}, as `[database] connection` is not set in {', '.join(conf.config_file)}."
    return database


def _print_pending(database: Database) -> bool:
    """Print the revisions that are to come; whether there are any."""
    pending = schema.pending(database)
    for revision, purpose in pending:
        print(f"{revision}  {purpose}")
    return bool(pending)
