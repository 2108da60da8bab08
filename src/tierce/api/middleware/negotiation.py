"""Agree with the client on media type and microversion."""

from typing import Final

import falcon

from tierce.api.http import Request
from tierce.api.versions import HEADER, MAXIMUM, MINIMUM, SERVICE, UnsupportedVersion, negotiate

_RANGE: Final = {
    "OpenStack-API-Minimum-Version": f"{SERVICE} {MINIMUM}",
    "OpenStack-API-Maximum-Version": f"{SERVICE} {MAXIMUM}",
    "vary": HEADER,
}


class Negotiation:
    """Sets `req.version`, and says the version and the range on every answer below `/v1`, errors too."""

    def process_request(self, req: Request, resp: falcon.Response) -> None:
        if req.path == "/":
            return
        try:
            req.version = negotiate(req.get_header(HEADER))
        except UnsupportedVersion as exc:
            resp.set_header(HEADER, f"{SERVICE} {exc.requested}")
            raise
        resp.set_header(HEADER, f"{SERVICE} {req.version}")
        if not req.client_accepts_json:
            raise falcon.HTTPNotAcceptable(description="Only application/json can be served.")

    def process_response(
        self, req: Request, resp: falcon.Response, _resource: object, _succeeded: bool
    ) -> None:
        if req.path != "/":
            resp.set_headers(_RANGE)
