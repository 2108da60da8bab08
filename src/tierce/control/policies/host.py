"""Rules of `/v1/hosts`."""

from tierce.control.policies.base import ADMIN, rule

RULES = [
    rule("host:get_all", ADMIN, "List hosts.", "GET /v1/hosts"),
    rule("host:get", ADMIN, "Show a host.", "GET /v1/hosts/{ident}"),
]
