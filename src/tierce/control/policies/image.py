"""Rules of `/v1/images`."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN

RULES = [
    policy.DocumentedRuleDefault(
        "image:pull", ADMIN, "Pull an image to a host.", [{"path": "/v1/images", "method": "POST"}]
    ),
    policy.DocumentedRuleDefault(
        "image:get_all", ADMIN, "List image records.", [{"path": "/v1/images", "method": "GET"}]
    ),
    policy.DocumentedRuleDefault(
        "image:get_one", ADMIN, "Show an image record.", [{"path": "/v1/images/{uuid}", "method": "GET"}]
    ),
]
