"""Rules of `/v1/hosts`."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN

RULES = [
    policy.DocumentedRuleDefault(
        "host:get_all", ADMIN, "List hosts.", [{"path": "/v1/hosts", "method": "GET"}]
    ),
    policy.DocumentedRuleDefault(
        "host:get", ADMIN, "Show a host.", [{"path": "/v1/hosts/{ident}", "method": "GET"}]
    ),
]
