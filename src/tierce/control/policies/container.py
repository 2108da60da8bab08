"""Rules of `/v1/containers`."""

from oslo_policy import policy

from tierce.control.policies.base import ADMIN, NOBODY, OWNER

ADMIN_FIELDS = ("host", "image_pull_policy", "privileged", "runtime")
"""Fields of a container that only an administrator sees by default."""

_LOOKS = frozenset("logs attach top stats get_archive".split())
"""Actions that are asked for with GET."""

ACTIONS = (
    "start stop reboot rebuild pause unpause kill logs execute execute_resize attach resize top stats commit "
    "get_archive put_archive add_security_group remove_security_group network_attach network_detach"
).split()


def _rule(name: str, check: str, method: str, path: str, description: str) -> policy.DocumentedRuleDefault:
    return policy.DocumentedRuleDefault(
        f"container:{name}", check, description, [{"path": f"/v1/containers{path}", "method": method}]
    )


RULES = [
    _rule("create", OWNER, "POST", "", "Create a container."),
    _rule("create:runtime", ADMIN, "POST", "", "Create a container with a runtime of one's choice."),
    _rule("create:privileged", NOBODY, "POST", "", "Create a privileged container."),
    _rule("create:image_pull_policy", ADMIN, "POST", "", "Create a container with a pull policy."),
    _rule("create:requested_destination", ADMIN, "POST", "", "Create a container on a host of one's choice."),
    _rule("get_all", OWNER, "GET", "", "List containers."),
    _rule("get_all_all_projects", ADMIN, "GET", "", "List the containers of all projects."),
    policy.DocumentedRuleDefault(
        "container:get_one",
        OWNER,
        "Show a container, and its networks.",
        [
            {"path": "/v1/containers/{ident}", "method": "GET"},
            {"path": "/v1/containers/{ident}/network_list", "method": "GET"},
        ],
    ),
    _rule("get_one_all_projects", ADMIN, "GET", "/{ident}", "Show a container of any project."),
    *(
        _rule(f"get_one:{field}", ADMIN, "GET", "/{ident}", f"See the field `{field}`, and filter by it.")
        for field in ADMIN_FIELDS
    ),
    _rule("update", OWNER, "PATCH", "/{ident}", "Change a container."),
    _rule("rename", OWNER, "POST", "/{ident}/rename", "Rename a container."),
    _rule("resize_container", OWNER, "POST", "/{ident}/resize_container", "Change a container's size."),
    _rule("delete", OWNER, "DELETE", "/{ident}", "Delete a container."),
    _rule("delete_all_projects", ADMIN, "DELETE", "/{ident}", "Delete a container of any project."),
    _rule("delete_force", ADMIN, "DELETE", "/{ident}", "Delete a container in any state."),
    *(
        _rule(
            action,
            OWNER,
            "GET" if action in _LOOKS else "POST",
            f"/{{ident}}/{action}",
            f"Do `{action}` on a container.",
        )
        for action in ACTIONS
    ),
    _rule("actions", OWNER, "GET", "/{ident}/container_actions", "List and show a container's actions."),
    _rule(
        "action:events", ADMIN, "GET", "/{ident}/container_actions/{request_id}", "See an event's traceback."
    ),
]
