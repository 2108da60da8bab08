"""The `tierce` command: finds the configuration, and hands over to the command's module."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

from oslo_config import cfg

from tierce import __version__, config
from tierce.model.errors import TierceError

_COMMANDS = ("standalone", "api", "agent", "db", "user", "home", "registry", "policy", "status", "openapi")
"""Names of the modules beside this one, each with `add_parser(subparsers)` and `run`."""

_WITHOUT_CONFIGURATION = ("home", "openapi")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. A refusal is one line on standard error."""
    argv = sys.argv[1:] if argv is None else argv
    modules = _modules(argv)
    args = _parser(modules).parse_args(argv)
    run = modules[args.command].run
    try:
        if args.command in _WITHOUT_CONFIGURATION:
            code: int = run(args)
        else:
            code = run(args, config.load(args.config_file or config.found()))
    except (TierceError, cfg.Error) as exc:
        print(f"tierce: {exc}", file=sys.stderr)
        return 1
    return code


def _modules(argv: Sequence[str]) -> dict[str, ModuleType]:
    # A command loads what it needs alone: the whole service takes most of a second to import.
    wanted = [name for name in _COMMANDS if name in argv] or _COMMANDS
    return {name: importlib.import_module(f"tierce.cli.{name}") for name in wanted}


def _parser(modules: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tierce", description="Containers as a cloud service.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--config-file",
        action="append",
        metavar="FILE",
        help=f"configuration (default: the first of {', '.join(config.SEARCHED)}; "
        "may be given several times)",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in modules.values():
        module.add_parser(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())
