"""Rules of `/v1/registries`."""

from tierce.control.policies.base import ADMIN, OWNER, rule

_REGISTRIES = "/v1/registries"
_REGISTRY = f"{_REGISTRIES}/{{ident}}"

RULES = [
    rule("registry:create", OWNER, "Create a registry.", f"POST {_REGISTRIES}"),
    rule("registry:get_all", OWNER, "List registries.", f"GET {_REGISTRIES}"),
    rule(
        "registry:get_all_all_projects", ADMIN, "List the registries of all projects.", f"GET {_REGISTRIES}"
    ),
    rule("registry:get_one", OWNER, "Show a registry.", f"GET {_REGISTRY}"),
    rule("registry:update", OWNER, "Change a registry.", f"PATCH {_REGISTRY}"),
    rule("registry:delete", OWNER, "Delete a registry.", f"DELETE {_REGISTRY}"),
]
