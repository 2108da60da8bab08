"""`/v1/networks` and `/v1/networks/{network}`: networks that nodes keep."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer, deleted, supported
from tierce.api.requests.networking import CreateNetwork
from tierce.api.requests.schema import Rules, parse
from tierce.api.views import networks as views
from tierce.control import Services


class Networks:
    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._networks = services.networks
        self._conf = conf

    def on_post(self, req: Request, resp: falcon.Response) -> None:
        parameters.require_json(req)
        asked = parse(CreateNetwork, parameters.body(req), Rules(req.version, self._conf))
        answer(resp, 200, views.kept(self._networks.create(req.caller, asked.neutron_net_id)))

    @supported(first="1.27")
    def on_delete_one(self, req: Request, resp: falcon.Response, network: str) -> None:
        self._networks.delete(req.caller, network)
        deleted(resp)
