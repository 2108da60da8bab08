"""Rules of `/v1/containers`."""

from tierce.control.policies.base import ADMIN, NOBODY, OWNER, rule

ADMIN_FIELDS = ("host", "image_pull_policy", "privileged", "runtime")
"""Fields of a container that only an administrator sees by default."""

_LOOKS = frozenset("logs attach top stats get_archive".split())
"""Actions that are asked for with GET."""

ACTIONS = (
    "start stop reboot rebuild pause unpause kill logs execute execute_resize attach resize top stats commit "
    "get_archive put_archive add_security_group remove_security_group network_attach network_detach"
).split()

_LIST = "GET /v1/containers"
_CREATE = "POST /v1/containers"
_ONE = "/v1/containers/{ident}"
_SHOW = f"GET {_ONE}"
_DELETE = f"DELETE {_ONE}"

RULES = [
    rule("container:create", OWNER, "Create a container.", _CREATE),
    rule("container:create:runtime", ADMIN, "Create a container with a runtime of one's choice.", _CREATE),
    rule("container:create:privileged", NOBODY, "Create a privileged container.", _CREATE),
    rule("container:create:image_pull_policy", ADMIN, "Create a container with a pull policy.", _CREATE),
    rule(
        "container:create:requested_destination",
        ADMIN,
        "Create a container on a host of one's choice.",
        _CREATE,
    ),
    rule("container:get_all", OWNER, "List containers.", _LIST),
    rule("container:get_all_all_projects", ADMIN, "List the containers of all projects.", _LIST),
    rule("container:get_one", OWNER, "Show a container, and its networks.", _SHOW, f"{_SHOW}/network_list"),
    rule("container:get_one_all_projects", ADMIN, "Show a container of any project.", _SHOW),
    *(
        rule(f"container:get_one:{field}", ADMIN, f"See the field `{field}`, and filter by it.", _SHOW)
        for field in ADMIN_FIELDS
    ),
    rule("container:update", OWNER, "Change a container.", f"PATCH {_ONE}"),
    rule("container:rename", OWNER, "Rename a container.", f"POST {_ONE}/rename"),
    rule("container:resize_container", OWNER, "Change a container's size.", f"POST {_ONE}/resize_container"),
    rule("container:delete", OWNER, "Delete a container.", _DELETE),
    rule("container:delete_all_projects", ADMIN, "Delete a container of any project.", _DELETE),
    rule("container:delete_force", ADMIN, "Delete a container in any state.", _DELETE),
    *(
        rule(
            f"container:{action}",
            OWNER,
            f"Do `{action}` on a container.",
            f"{'GET' if action in _LOOKS else 'POST'} {_ONE}/{action}",
        )
        for action in ACTIONS
    ),
    rule("container:actions", OWNER, "List and show a container's actions.", f"{_SHOW}/container_actions"),
    rule(
        "container:action:events",
        ADMIN,
        "See an event's traceback.",
        f"{_SHOW}/container_actions/{{request_id}}",
    ),
]
