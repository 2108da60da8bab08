"""Rules of `/v1/services` and `/v1/availability_zones`."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN, OWNER


def _rule(name: str, method: str, path: str, description: str) -> policy.DocumentedRuleDefault:
    operations = [{"path": f"/v1/services{path}", "method": method}]
    return policy.DocumentedRuleDefault(f"zun-service:{name}", ADMIN, description, operations)


RULES = [
    _rule("get_all", "GET", "", "List services."),
    _rule("delete", "DELETE", "", "Remove the record of a service."),
    _rule("enable", "PUT", "/enable", "Let the scheduler use a node."),
    _rule("disable", "PUT", "/disable", "Keep new containers from a node."),
    _rule("force_down", "PUT", "/force_down", "Count a node as down, or no longer."),
    policy.DocumentedRuleDefault(
        "availability_zones:get_all",
        OWNER,
        "List availability zones.",
        [{"path": "/v1/availability_zones", "method": "GET"}],
    ),
]
