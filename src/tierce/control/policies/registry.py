"""Rules of `/v1/registries`."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN, OWNER


def _rule(name: str, check: str, method: str, path: str, description: str) -> policy.DocumentedRuleDefault:
    return policy.DocumentedRuleDefault(
        f"registry:{name}", check, description, [{"path": f"/v1/registries{path}", "method": method}]
    )


RULES = [
    _rule("create", OWNER, "POST", "", "Create a registry."),
    _rule("get_all", OWNER, "GET", "", "List registries."),
    _rule("get_all_all_projects", ADMIN, "GET", "", "List the registries of all projects."),
    _rule("get_one", OWNER, "GET", "/{ident}", "Show a registry."),
    _rule("update", OWNER, "PATCH", "/{ident}", "Change a registry."),
    _rule("delete", OWNER, "DELETE", "/{ident}", "Delete a registry."),
]
