"""Rules of `/v1/quotas` and `/v1/quota_classes`. The target of the former is the project in the path."""

from tierce.control.policies.base import ADMIN, OWNER, rule

_PROJECT = "/v1/quotas/{project_id}"
_CLASS = "/v1/quota_classes/{name}"

RULES = [
    rule("quota:get", OWNER, "Show a project's limits, and what it uses of them.", f"GET {_PROJECT}"),
    rule("quota:get_default", OWNER, "Show a project's default limits.", f"GET {_PROJECT}/defaults"),
    rule("quota:update", ADMIN, "Set a project's limits.", f"PUT {_PROJECT}"),
    rule("quota:delete", ADMIN, "Drop a project's own limits.", f"DELETE {_PROJECT}"),
    rule("quota_class:get", ADMIN, "Show the limits of a class.", f"GET {_CLASS}"),
    rule("quota_class:update", ADMIN, "Set the limits of a class.", f"PUT {_CLASS}"),
]
