"""The request context in its wire form: the `_context_*` keys of a message, without their prefix.

Source: reference, RPC 5.
"""

import datetime
from collections.abc import Mapping
from typing import Any

from tierce.model.context import RequestContext, new_request_id

_TIMESTAMP = "%Y-%m-%dT%H:%M:%S.%f"  # six digits and no zone: Zun parses nothing else


def context_to_wire(context: RequestContext, now: datetime.datetime) -> dict[str, Any]:
    """Every key that Zun sends, null where we have nothing to say. `now` is naive UTC.

    The identity service's token body (`auth_token_info`) is never sent: it is large and secret, and
    receivers can do with `auth_token`. The user's domain goes under both names that Zun has for it.
    """
    who = (context.user_id, context.project_id, context.domain_id, context.domain_id, None)
    return {
        "user": context.user_id,
        "project_id": context.project_id,
        "system_scope": None,
        "project": context.project_id,
        "domain": context.domain_id,
        "user_domain": context.domain_id,
        "project_domain": None,
        "is_admin": context.is_admin,
        "read_only": False,
        "show_deleted": False,
        "auth_token": context.auth_token,
        "request_id": context.request_id,
        "global_request_id": context.global_request_id,
        "resource_uuid": context.resource_uuid,
        "roles": list(context.roles),
        "user_identity": " ".join(part or "-" for part in who),
        "is_admin_project": True,
        "domain_id": context.domain_id,
        "domain_name": context.domain_name,
        "user_domain_id": context.domain_id,
        "user_domain_name": context.domain_name,
        "user_name": context.user_name,
        "user_id": context.user_id,
        "project_name": context.project_name,
        "trust_id": None,
        "auth_token_info": None,
        "password": None,
        "all_projects": context.all_projects,
        "timestamp": now.strftime(_TIMESTAMP),
    }


def context_from_wire(keys: Mapping[str, Any]) -> RequestContext:
    """The context of a received message; any key may be absent or null, unknown ones are ignored.

    `is_admin` must have been said to be true: a sender that leaves it open gets no rights by that.
    """
    return RequestContext(
        user_id=keys.get("user_id"),
        user_name=keys.get("user_name"),
        project_id=keys.get("project_id"),
        project_name=keys.get("project_name"),
        domain_id=keys.get("domain_id") or keys.get("user_domain_id"),
        domain_name=keys.get("domain_name") or keys.get("user_domain_name"),
        roles=tuple(keys.get("roles") or ()),
        is_admin=keys.get("is_admin") is True,
        all_projects=bool(keys.get("all_projects")),
        request_id=keys.get("request_id") or new_request_id(),
        global_request_id=keys.get("global_request_id"),
        auth_token=keys.get("auth_token"),
        resource_uuid=keys.get("resource_uuid"),
    )
