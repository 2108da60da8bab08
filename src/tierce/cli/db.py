"""`tierce db`: the schema."""

import argparse
import os

from oslo_config import cfg

from tierce.db import engine, schema


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("db", help="the database's schema")
    commands = parser.add_subparsers(dest="db_command", required=True)
    commands.add_parser("upgrade", help="bring the schema to what this version needs")
    commands.add_parser("version", help="print the schema's revision")


def run(args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    os.umask(0o077)
    database = engine.connect(conf, patient=True)
    try:
        if args.db_command == "upgrade":
            print(schema.upgrade(database))
        else:
            print(schema.current(database) or "none")
    finally:
        database.close()
    return 0
