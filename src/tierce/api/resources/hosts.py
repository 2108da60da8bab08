"""`/v1/hosts`: the nodes."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer, supported
from tierce.api.requests.listing import paging
from tierce.api.views.hosts import host
from tierce.api.views.links import next_page
from tierce.control import Services


class Hosts:
    """The collection, and one node by uuid or host name."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._hosts = services.hosts
        self._conf = conf

    @supported(first="1.4")
    def on_get(self, req: Request, resp: falcon.Response) -> None:
        query = paging(parameters.query(req), self._conf.api.max_limit, "hostname")
        rows = self._hosts.list(req.caller, query)
        document = {
            "hosts": [host(row, req.host_url) for row in rows],
            "next": next_page(req.host_url, "hosts", query, rows),
        }
        answer(resp, 200, document)

    @supported(first="1.4")
    def on_get_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        answer(resp, 200, host(self._hosts.get(req.caller, ident), req.host_url))
