"""Rules of `/v1/images`."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN, OWNER


def _rule(name: str, check: str, method: str, path: str, description: str) -> policy.DocumentedRuleDefault:
    operations = [{"path": f"/v1/images{path}", "method": method}]
    return policy.DocumentedRuleDefault(f"image:{name}", check, description, operations)


RULES = [
    _rule("pull", ADMIN, "POST", "", "Pull an image to a host."),
    _rule("get_all", ADMIN, "GET", "", "List image records."),
    _rule("get_one", ADMIN, "GET", "/{ident}", "Show an image record."),
    _rule("delete", ADMIN, "DELETE", "/{ident}", "Remove an image from its host."),
    _rule("search", OWNER, "GET", "/{ident}/search", "Search for images in the public registry."),
]
