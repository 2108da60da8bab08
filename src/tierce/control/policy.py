"""Who may do what: the rules of `policies/` with the operator's overrides."""

from collections.abc import Mapping
from typing import Any

from oslo_config import cfg
from oslo_policy import opts, policy

from tierce.control.policies import list_rules
from tierce.model.context import RequestContext
from tierce.model.errors import PolicyNotAuthorized


class Policy:
    """An enforcer; `[oslo_policy] policy_file` is read again when it changes."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        opts.set_defaults(conf)
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.suppress_default_change_warnings = True
        self._enforcer.register_defaults(list_rules())

    def admit(self, context: RequestContext) -> RequestContext:
        """The context with `is_admin` decided by the rule `context_is_admin`."""
        return context.replace(is_admin=self._allows(context, "context_is_admin", {}))

    def require(self, context: RequestContext, rule: str, target: Mapping[str, Any] | None = None) -> None:
        """Raise PolicyNotAuthorized unless the caller may; without a target, on its own project."""
        if not self.allows(context, rule, target):
            raise PolicyNotAuthorized(rule)

    def allows(self, context: RequestContext, rule: str, target: Mapping[str, Any] | None = None) -> bool:
        """Whether the caller may; a rule that nobody registered or wrote is allowed."""
        if rule not in self._enforcer.registered_rules:
            self._enforcer.load_rules()
            if rule not in self._enforcer.rules:
                return True
        return self._allows(
            context, rule, target or {"project_id": context.project_id, "user_id": context.user_id}
        )

    def written(self, prefix: str) -> set[str]:
        """What follows `prefix` in the names of rules that an operator's file has."""
        self._enforcer.load_rules()
        return {rule.removeprefix(prefix) for rule in self._enforcer.file_rules if rule.startswith(prefix)}

    def _allows(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        credentials = {
            "user_id": context.user_id,
            "project_id": context.project_id,
            "domain_id": context.domain_id,
            "roles": list(context.roles),
            "is_admin": context.is_admin,
        }
        return bool(self._enforcer.enforce(rule, dict(target), credentials))
