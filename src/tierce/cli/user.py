"""`tierce user`: the users of the http_basic identity."""

import argparse
import secrets
import sys
from pathlib import Path
from typing import Any

from oslo_config import cfg

from tierce.identity.accounts import Role
from tierce.identity.users import UserFiles
from tierce.model.errors import InvalidValue, TierceError

GENERATED_BYTES = 18
"""Randomness of a generated password."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command and its three verbs."""
    parser = subparsers.add_parser("user", help="add, list and remove users of the http_basic identity")
    verbs = parser.add_subparsers(dest="verb", required=True)

    add = verbs.add_parser("add", help="add a user; without --password-stdin a password is made and printed")
    add.add_argument("name")
    add.add_argument("--project", required=True, help="the project that its containers belong to")
    add.add_argument("--role", required=True, choices=[role.value for role in Role])
    add.add_argument("--password-stdin", action="store_true", help="read the password from standard input")

    verbs.add_parser("list", help="list users with their projects and roles")

    remove = verbs.add_parser("remove", help="remove a user; its containers stay")
    remove.add_argument("name")


def run(args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Do what was asked; the exit status. Whose users these are and what is wrong goes to standard error."""
    files = UserFiles(Path(conf.api.http_basic_auth_user_file), Path(conf.api.http_basic_project_file))
    # A service with another configuration has others, and would not know whom this one adds.
    print(f"Users: {conf.api.http_basic_auth_user_file}", file=sys.stderr)
    try:
        _VERBS[args.verb](files, args)
    except (TierceError, OSError) as exc:
        print(f"tierce user: {exc}", file=sys.stderr)
        return 1
    return 0


def _add(files: UserFiles, args: argparse.Namespace) -> None:
    password = _password_from_stdin() if args.password_stdin else secrets.token_urlsafe(GENERATED_BYTES)
    files.add(args.name, args.project, Role(args.role), password)
    if not args.password_stdin:
        print(password)


def _password_from_stdin() -> str:
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise InvalidValue("No password on standard input.")
    return line


def _list(files: UserFiles, _args: argparse.Namespace) -> None:
    users = files.users()
    width = max((len(user.name) for user in users), default=0)
    for user in users:
        print(f"{user.name:{width}}  {user.project or '-'}  {user.role or '-'}")


def _remove(files: UserFiles, args: argparse.Namespace) -> None:
    files.remove(args.name)


_VERBS: dict[str, Any] = {"add": _add, "list": _list, "remove": _remove}
