"""Give every request its id, and the log a line for each that was to change something."""

import logging
import re

import falcon

from tierce.api.http import Request
from tierce.model.context import new_request_id
from tierce.observability import logs

LOG = logging.getLogger(__name__)

_REQUEST_ID = re.compile(r"req-[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


class RequestId:
    """Answers carry our own id; a well-formed one that came in is kept as the global id, unechoed.

    Everything that is logged until the answer is marked with ours. Requests that only read are logged at
    debug level, as there are many.
    """

    def process_request(self, req: Request, resp: falcon.Response) -> None:
        req.request_id = new_request_id()
        inbound = req.get_header("X-Openstack-Request-Id", default="")
        req.global_request_id = inbound if _REQUEST_ID.fullmatch(inbound) else None
        resp.set_header("x-openstack-request-id", req.request_id)
        logs.mark(request_id=req.request_id)

    def process_response(
        self, req: Request, resp: falcon.Response, _resource: object, _succeeded: bool
    ) -> None:
        level = logging.DEBUG if req.method in ("GET", "HEAD") else logging.INFO
        if LOG.isEnabledFor(level):
            LOG.log(level, "%s: %s", req.line, resp.status_code)
        logs.mark()
