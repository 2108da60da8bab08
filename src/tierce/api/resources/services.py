"""`/v1/services`: the node agents."""

import falcon
from oslo_config import cfg

from tierce.api.http import Request, answer
from tierce.api.views.services import service
from tierce.control import Services as Control


class Services:
    def __init__(self, services: Control, conf: cfg.ConfigOpts) -> None:
        self._services = services.hosts_services
        self._conf = conf

    def on_get(self, req: Request, resp: falcon.Response) -> None:
        rows = self._services.list(req.caller)
        zone = self._conf.default_availability_zone
        answer(resp, 200, {"services": [service(row, zone) for row in rows]})
