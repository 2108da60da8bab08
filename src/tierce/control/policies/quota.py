"""Rules of `/v1/quotas` and `/v1/quota_classes`. The target of the former is the project in the path."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN, OWNER

_PROJECT = "/v1/quotas/{project_id}"
_CLASS = "/v1/quota_classes/{name}"


def _rule(name: str, check: str, method: str, path: str, description: str) -> policy.DocumentedRuleDefault:
    return policy.DocumentedRuleDefault(name, check, description, [{"path": path, "method": method}])


RULES = [
    _rule("quota:get", OWNER, "GET", _PROJECT, "Show a project's limits, and what it uses of them."),
    _rule("quota:get_default", OWNER, "GET", f"{_PROJECT}/defaults", "Show a project's default limits."),
    _rule("quota:update", ADMIN, "PUT", _PROJECT, "Set a project's limits."),
    _rule("quota:delete", ADMIN, "DELETE", _PROJECT, "Drop a project's own limits."),
    _rule("quota_class:get", ADMIN, "GET", _CLASS, "Show the limits of a class."),
    _rule("quota_class:update", ADMIN, "PUT", _CLASS, "Set the limits of a class."),
]
