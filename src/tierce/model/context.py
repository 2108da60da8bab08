"""Who asks: the identity and request id that travel with every piece of work."""

import dataclasses
import uuid
from typing import Any


def new_request_id() -> str:
    return f"req-{uuid.uuid4()}"


@dataclasses.dataclass(frozen=True, slots=True)
class RequestContext:
    """The caller of one request, as identity middleware and policy left it.

    `all_projects` lifts the project scope of database queries and counts only together with
    `is_admin`. `auth_token` exists only where an outside identity service issued one.
    """

    user_id: str | None = None
    user_name: str | None = None
    project_id: str | None = None
    project_name: str | None = None
    domain_id: str | None = None
    domain_name: str | None = None
    roles: tuple[str, ...] = ()
    is_admin: bool = False
    all_projects: bool = False
    request_id: str = dataclasses.field(default_factory=new_request_id)
    global_request_id: str | None = None
    auth_token: str | None = dataclasses.field(default=None, repr=False)
    resource_uuid: str | None = None
    """The container whose action is queued already: told with the message that wakes its node. Zun's
    processes, whose rows are queued on arrival, send nothing here and read nothing.
    """

    def replace(self, **changes: Any) -> "RequestContext":
        return dataclasses.replace(self, **changes)

    def spanning(self) -> "RequestContext":
        """The same caller, searching every project where its rights allow it."""
        return self if self.all_projects else dataclasses.replace(self, all_projects=True)

    def finding(self) -> "RequestContext":
        """The same caller, asking for one object: an administrator finds it in whatever project it is."""
        return self.spanning() if self.is_admin else self


def service_context() -> RequestContext:
    """The service acting for itself: start-up, periodic work."""
    return RequestContext(roles=("admin",), is_admin=True, all_projects=True)
