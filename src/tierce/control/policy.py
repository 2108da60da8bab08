"""Who may do what: the rules of `policies/` with the operator's overrides.

A request asks many small questions and most of them again and again, while the rules change once in a
month. So the files are looked at once a second at most, and within that second an answer is remembered
for those who differ in nothing that the rule looks at.
"""

import contextlib
import dataclasses
import logging
import os
import re
import threading
from collections.abc import Mapping
from typing import Any, Final

from oslo_config import cfg
from oslo_policy import _checks, opts, policy

from tierce.control.policies import list_rules
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import InvalidValue, PolicyNotAuthorized

LOG = logging.getLogger(__name__)

_FRESH: Final = 1.0
"""Seconds until an operator's change is seen."""

_REFERENCE: Final = re.compile(r"%\(([^)]*)\)")
_ABSENT: Final = object()


@dataclasses.dataclass(frozen=True, slots=True)
class _Generation:
    """The rules as they were at one moment, and what was answered by them.

    `judge` reads no files itself, so a reading that fails half way cannot change it.
    """

    loaded: float
    judge: policy.Enforcer
    written: frozenset[str]
    """Names of the rules that are in files."""
    keys: dict[str, frozenset[str] | None] = dataclasses.field(default_factory=dict)
    answers: dict[tuple[Any, ...], bool] = dataclasses.field(default_factory=dict)

    @property
    def rules(self) -> Mapping[str, Any]:
        rules: Mapping[str, Any] = self.judge.rules
        return rules

    def target_keys(self, rule: str) -> frozenset[str] | None:
        """What the rule looks at in its target; None when its answer may depend on anything."""
        if rule not in self.keys:
            try:
                self.keys[rule] = frozenset(_target_keys(self.rules[rule], self.rules))
            except (_Unforeseeable, KeyError):
                self.keys[rule] = None
        return self.keys[rule]


class _Unforeseeable(Exception):
    """A check that asks somebody else, e.g. over HTTP."""


def _target_keys(check: Any, rules: Mapping[str, Any]) -> set[str]:
    # Half of these classes the library has under its private name alone.
    match check:
        case _checks.AndCheck() | _checks.OrCheck():
            return set().union(*(_target_keys(part, rules) for part in check.rules))
        case _checks.NotCheck():
            return _target_keys(check.rule, rules)
        case _checks.RuleCheck():
            return _target_keys(rules[check.match], rules)
        case _checks.TrueCheck() | _checks.FalseCheck():
            return set()
        case _checks.RoleCheck() | _checks.GenericCheck():
            return set(_REFERENCE.findall(check.match))
    raise _Unforeseeable


class Policy:
    """An enforcer; the files of `[oslo_policy]` are read again when they change. Thread-safe.

    A changed file that cannot be read changes nothing: the rules before it stay, and the log says why.
    """

    def __init__(self, conf: cfg.ConfigOpts, clock: Clock) -> None:
        """Raises InvalidValue for a file that cannot be read."""
        opts.set_defaults(conf)
        self._conf = conf
        self._clock = clock
        self._lock = threading.Lock()
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.suppress_default_change_warnings = True
        self._enforcer.register_defaults(list_rules())
        self._failed = False
        self._judged: object = None
        self._generation = self._load()

    def admit(self, context: RequestContext) -> RequestContext:
        """The context with `is_admin` decided by the rule `context_is_admin`."""
        return context.replace(is_admin=self._allows(context, "context_is_admin", {}))

    def require(self, context: RequestContext, rule: str, target: Mapping[str, Any] | None = None) -> None:
        """Raise PolicyNotAuthorized unless the caller may; without a target, on its own project."""
        if not self.allows(context, rule, target):
            raise PolicyNotAuthorized(rule)

    def allows(self, context: RequestContext, rule: str, target: Mapping[str, Any] | None = None) -> bool:
        """Whether the caller may; a rule that nobody registered or wrote is allowed."""
        if rule not in self._enforcer.registered_rules and rule not in self._current().rules:
            return True
        own = {"project_id": context.project_id, "user_id": context.user_id}
        return self._allows(context, rule, own if target is None else target)

    def knows_nodes(self, context: RequestContext) -> bool:
        """Whether the caller may know the names of nodes."""
        return self.allows(context, "container:get_one:host")

    def written(self, prefix: str) -> set[str]:
        """What follows `prefix` in the names of rules that an operator's file has."""
        return {rule.removeprefix(prefix) for rule in self._current().written if rule.startswith(prefix)}

    def _allows(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        generation = self._current()
        keys = generation.target_keys(rule)
        if keys is None:
            return _decide(generation.judge, context, rule, target)
        question = (
            rule,
            context.user_id,
            context.project_id,
            context.domain_id,
            context.roles,
            context.is_admin,
            *(target.get(key, _ABSENT) for key in keys),
        )
        answer = generation.answers.get(question)
        if answer is None:
            answer = generation.answers[question] = _decide(generation.judge, context, rule, target)
        return answer

    def _current(self) -> _Generation:
        if self._clock.monotonic() - self._generation.loaded >= _FRESH:
            with self._lock:
                if self._clock.monotonic() - self._generation.loaded >= _FRESH:
                    self._generation = self._reload()
        return self._generation

    def _reload(self) -> _Generation:
        try:
            generation = self._load()
        except InvalidValue as exc:
            if not self._failed:
                LOG.error("%s. The rules before stay in force.", exc)
            self._failed = True
            return self._unchanged()
        self._failed = False
        return generation

    def _load(self) -> _Generation:
        """Raises InvalidValue."""
        try:
            self._read()
        except Exception as exc:  # the library lets through whatever its parsers raise
            raise InvalidValue(f"The policy files cannot be read: {exc}") from exc
        if self._enforcer.rules is self._judged:  # any change makes a new object of them
            return self._unchanged()
        self._judged = self._enforcer.rules
        judge = policy.Enforcer(self._conf, rules=self._enforcer.rules, use_conf=False)
        judge.skip_undefined_check = True  # the other enforcer has logged them
        return _Generation(self._clock.monotonic(), judge, frozenset(self._enforcer.file_rules))

    def _read(self) -> None:
        # The library takes a file in a directory that is closed to it for one that was removed.
        if self._enforcer.policy_path:
            with contextlib.suppress(FileNotFoundError):
                os.stat(self._enforcer.policy_path)
        # It would not read a file again that it could read, also when it then failed at another one.
        self._enforcer.load_rules(force_reload=self._failed)

    def _unchanged(self) -> _Generation:
        return _Generation(self._clock.monotonic(), self._generation.judge, self._generation.written)


def _decide(judge: policy.Enforcer, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
    credentials = {
        "user_id": context.user_id,
        "project_id": context.project_id,
        "domain_id": context.domain_id,
        "roles": list(context.roles),
        "is_admin": context.is_admin,
    }
    return bool(judge.enforce(rule, dict(target), credentials))
