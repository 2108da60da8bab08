"""Find out who asks."""

from typing import Final

import falcon

from tierce.api.http import Request
from tierce.control.policy import Policy
from tierce.identity.base import Identity

PUBLIC: Final = frozenset({"/", "/v1", "/v1/openapi"})
"""What describes the service, and nothing that is in it: clients read it before they have credentials."""


class Authentication:
    """Sets `req.caller`, everywhere but on public routes. Unauthenticated is answered 401.

    Identity says who it is and with which roles; whether that makes an administrator is policy.
    """

    def __init__(self, identity: Identity, policy: Policy) -> None:
        self._identity = identity
        self._policy = policy

    def process_request(self, req: Request, _resp: falcon.Response) -> None:
        if req.path not in PUBLIC:
            caller = self._identity.authenticate(req.headers_lower)
            req.caller = self._policy.admit(
                caller.replace(request_id=req.request_id, global_request_id=req.global_request_id)
            )
