"""Give every request its id."""

import re

import falcon

from tierce.api.http import Request
from tierce.model.context import new_request_id

_REQUEST_ID = re.compile(r"req-[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


class RequestId:
    """Answers carry our own id; a well-formed one that came in is kept as the global id, unechoed."""

    def process_request(self, req: Request, resp: falcon.Response) -> None:
        req.request_id = new_request_id()
        inbound = req.get_header("X-Openstack-Request-Id", default="")
        req.global_request_id = inbound if _REQUEST_ID.fullmatch(inbound) else None
        resp.set_header("x-openstack-request-id", req.request_id)
