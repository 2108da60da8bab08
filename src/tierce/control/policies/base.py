"""Rules that others refer to, the three defaults, and how a rule is written."""

from oslo_policy import policy

OWNER = "is_admin:True or project_id:%(project_id)s"
ADMIN = "rule:context_is_admin"
NOBODY = "rule:deny_everybody"


def rule(name: str, check: str, description: str, *operations: str) -> policy.DocumentedRuleDefault:
    """A rule and the requests that it decides on, each as `GET /v1/path`."""
    pairs = [operation.split() for operation in operations]
    requests = [{"path": path, "method": method} for method, path in pairs]
    return policy.DocumentedRuleDefault(name, check, description, requests)


RULES = [
    policy.RuleDefault("context_is_admin", "role:admin", "Who counts as an administrator."),
    policy.RuleDefault("admin_or_owner", OWNER, "An administrator, or a member of the owning project."),
    policy.RuleDefault("admin_api", ADMIN, "An administrator."),
    policy.RuleDefault("deny_everybody", "!", "Nobody."),
]
