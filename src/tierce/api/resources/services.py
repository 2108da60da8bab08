"""`/v1/services`: the node agents. Clients name one in the query string, others in a body: both work."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer
from tierce.api.requests.schema import P, Rules, parse
from tierce.api.requests.services import ForceDown, ServiceName
from tierce.api.views.services import changed, service
from tierce.control import Services as Control


class Services:
    def __init__(self, services: Control, conf: cfg.ConfigOpts) -> None:
        self._services = services.host_services
        self._conf = conf

    def on_get(self, req: Request, resp: falcon.Response) -> None:
        rows = self._services.list(req.caller)
        answer(resp, 200, {"services": [service(row) for row in rows]})

    def on_delete(self, req: Request, resp: falcon.Response) -> None:
        asked = self._asked(ServiceName, req)
        self._services.delete(req.caller, asked.host, asked.binary)
        answer(resp, 200, None)

    def on_put_enable(self, req: Request, resp: falcon.Response) -> None:
        asked = self._asked(ServiceName, req)
        row = self._services.enable(req.caller, asked.host, asked.binary)
        answer(resp, 200, changed(row, "disabled", "disabled_reason"))

    def on_put_disable(self, req: Request, resp: falcon.Response) -> None:
        asked = self._asked(ServiceName, req)
        row = self._services.disable(req.caller, asked.host, asked.binary, asked.disabled_reason)
        answer(resp, 200, changed(row, "disabled", "disabled_reason"))

    def on_put_force_down(self, req: Request, resp: falcon.Response) -> None:
        asked = self._asked(ForceDown, req)
        row = self._services.force_down(req.caller, asked.host, asked.binary, asked.forced_down)
        answer(resp, 200, changed(row, "forced_down"))

    def _asked(self, model: type[P], req: Request) -> P:
        return parse(model, parameters.merged(req), Rules(req.version, self._conf))
