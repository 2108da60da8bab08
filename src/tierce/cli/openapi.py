"""`tierce openapi`: the description of the API for programs, as the service gives it at `/v1/openapi`."""

import argparse
import sys

from tierce.api.openapi.document import rendered
from tierce.api.versions import MAXIMUM, MINIMUM, Version


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = subparsers.add_parser("openapi", help="print the description of the API in OpenAPI 3.1")
    parser.add_argument(
        "--microversion",
        type=_version,
        default=MAXIMUM,
        metavar="X.Y",
        help=f"of {MINIMUM} to {MAXIMUM} (default: the newest)",
    )


def run(args: argparse.Namespace) -> int:
    """Print the document; the exit status."""
    sys.stdout.write(rendered(args.microversion).decode())
    return 0


def _version(text: str) -> Version:
    """Raises ValueError, which argparse words, for what is no version of the API."""
    version = Version.of(text)
    if not MINIMUM <= version <= MAXIMUM:
        raise argparse.ArgumentTypeError(f"{text} is not between {MINIMUM} and {MAXIMUM}")
    return version
