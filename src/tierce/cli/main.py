"""The `tierce` command: finds the configuration, and hands over to the command's module."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tierce import __version__, config
from tierce.cli import db, home, standalone, user
from tierce.model.errors import TierceError

_SEARCHED = ("~/.tierce/tierce.conf", "/etc/tierce/tierce.conf", "/etc/zun/zun.conf")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. A refusal is one line on standard error."""
    parser = _parser()
    args = parser.parse_args(argv)
    try:
        if args.command == "home":
            return home.run(args)
        conf = config.load(args.config_file or _found())
        commands = {"standalone": standalone.run, "db": db.run, "user": user.run}
        return commands[args.command](args, conf)
    except TierceError as exc:
        print(f"tierce: {exc}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tierce", description="Containers as a cloud service.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--config-file",
        action="append",
        metavar="FILE",
        help=f"configuration (default: the first of {', '.join(_SEARCHED)}; may be given several times)",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (standalone, db, user, home):
        module.add_parser(subparsers)
    return parser


def _found() -> list[str]:
    places = [os.path.expanduser(place) for place in _SEARCHED]
    return [place for place in places if Path(place).is_file()][:1]


if __name__ == "__main__":
    sys.exit(main())
