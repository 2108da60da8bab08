"""Rules of `/v1/services`."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN

RULES = [
    policy.DocumentedRuleDefault(
        "zun-service:get_all", ADMIN, "List services.", [{"path": "/v1/services", "method": "GET"}]
    ),
]
