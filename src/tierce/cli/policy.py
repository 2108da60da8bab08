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
    try:
        enforcer = _load(conf)
    except Exception as exc:  # noqa: BLE001 (whatever the library makes of a file that it cannot read)
        print(f"tierce policy: the policy file cannot be read: {' '.join(str(exc).split())}", file=sys.stderr)
        return 1
    return _list(enforcer) if args.verb == "list" else _check(enforcer)


def _load(conf: cfg.ConfigOpts) -> policy.Enforcer:
    # Its warnings are what `_problems` says, with tracebacks.
    logging.getLogger("oslo_policy").setLevel(logging.CRITICAL)
    enforcer = policy.Enforcer(conf)
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults(list_rules())
    enforcer.load_rules()
    return enforcer


def _list(enforcer: policy.Enforcer) -> int:
    for name, check in sorted(enforcer.rules.items()):
        print(f'{"*" if name in enforcer.file_rules else " "} "{name}": "{check}"')
    return 0


def _check(enforcer: policy.Enforcer) -> int:
    problems = [*_problems(enforcer)]
    for problem in problems:
        print(f"tierce policy: {problem}", file=sys.stderr)
    return 1 if problems else 0


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
