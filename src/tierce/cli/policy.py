"""`tierce policy`: which rules there are, which are in force, and what is wrong with an operator's own."""

import argparse
import logging
import sys
from collections.abc import Iterator
from typing import Final

from oslo_config import cfg
from oslo_policy import generator, policy

from tierce.control.policies import list_rules

_OPEN_ENDED: Final = ("container:get_one:", "registry:get_one:")
"""What begins so is a rule on a field, whatever follows."""


class Unreadable(Exception):
    """The policy file is none; the message has the library's reason."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command and its three verbs."""
    parser = subparsers.add_parser("policy", help="who may do what")
    verbs = parser.add_subparsers(dest="verb", required=True)
    sample = verbs.add_parser("sample", help="write a policy.yaml of every rule, all commented out")
    sample.add_argument("--output-file", metavar="FILE", help="default: standard output")
    verbs.add_parser("list", help="print the rules in force; * marks those from the policy file")
    verbs.add_parser("check", help="say what is wrong with the policy file; the exit status is 1 then")


def run(args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Do what was asked; the exit status. Errors are lines on standard error."""
    if args.verb == "sample":
        arguments = ["--namespace", "tierce"]
        arguments += ["--output-file", args.output_file] if args.output_file else []
        generator.generate_sample(arguments, cfg.ConfigOpts())
        return 0
    if args.verb == "list":
        try:
            return _list(_load(conf))
        except Unreadable as exc:
            return _complain([str(exc)])
    return _complain(problems(conf))


def problems(conf: cfg.ConfigOpts) -> list[str]:
    """What is wrong with the policy file, a sentence each."""
    try:
        return [*_problems(_load(conf))]
    except Unreadable as exc:
        return [str(exc)]


def _load(conf: cfg.ConfigOpts) -> policy.Enforcer:
    """Raises Unreadable."""
    # Its warnings are what `_problems` says, with tracebacks.
    logging.getLogger("oslo_policy").setLevel(logging.CRITICAL)
    enforcer = policy.Enforcer(conf)
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults(list_rules())
    try:
        enforcer.load_rules()
    except Exception as exc:
        # Whatever the library makes of a file that it cannot read.
        raise Unreadable(f"the policy file cannot be read: {' '.join(str(exc).split())}") from exc
    return enforcer


def _list(enforcer: policy.Enforcer) -> int:
    for name, check in sorted(enforcer.rules.items()):
        print(f'{"*" if name in enforcer.file_rules else " "} "{name}": "{check}"')
    return 0


def _complain(found: list[str]) -> int:
    for problem in found:
        print(f"tierce policy: {problem}", file=sys.stderr)
    return 1 if found else 0


def _problems(enforcer: policy.Enforcer) -> Iterator[str]:
    for name, rule in sorted(enforcer.file_rules.items()):
        if ":" in name and name not in enforcer.registered_rules and not name.startswith(_OPEN_ENDED):
            yield f'"{name}": there is no such rule, so it has no effect'
        # What the library cannot read is nobody's, and only the log would tell.
        if str(enforcer.rules[name]).count("!") > str(rule.check_str).count("!"):
            yield f'"{name}": "{rule.check_str}" has a part that means nothing, which is never true'
    try:
        enforcer.check_rules(raise_on_violation=True)
    except policy.InvalidDefinitionError as exc:
        named = str(exc).partition(".")[0]
        yield f"{named}: they refer to rules that do not exist, or to each other in a circle"
