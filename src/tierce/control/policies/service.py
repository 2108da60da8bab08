"""Rules of `/v1/services` and `/v1/availability_zones`."""

from tierce.control.policies.base import ADMIN, OWNER, rule

_SERVICES = "/v1/services"

RULES = [
    rule("zun-service:get_all", ADMIN, "List services.", f"GET {_SERVICES}"),
    rule("zun-service:delete", ADMIN, "Remove the record of a service.", f"DELETE {_SERVICES}"),
    rule("zun-service:enable", ADMIN, "Let the scheduler use a node.", f"PUT {_SERVICES}/enable"),
    rule("zun-service:disable", ADMIN, "Keep new containers from a node.", f"PUT {_SERVICES}/disable"),
    rule(
        "zun-service:force_down",
        ADMIN,
        "Count a node as down, or no longer.",
        f"PUT {_SERVICES}/force_down",
    ),
    rule("availability_zones:get_all", OWNER, "List availability zones.", "GET /v1/availability_zones"),
]
