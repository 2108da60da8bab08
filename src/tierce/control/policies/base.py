"""Rules that others refer to, and the three defaults."""

from oslo_policy import policy

OWNER = "is_admin:True or project_id:%(project_id)s"
ADMIN = "rule:context_is_admin"
NOBODY = "rule:deny_everybody"

RULES = [
    policy.RuleDefault("context_is_admin", "role:admin", "Who counts as an administrator."),
    policy.RuleDefault("admin_or_owner", OWNER, "An administrator, or a member of the owning project."),
    policy.RuleDefault("admin_api", ADMIN, "An administrator."),
    policy.RuleDefault("deny_everybody", "!", "Nobody."),
]
