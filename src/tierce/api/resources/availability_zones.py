"""`/v1/availability_zones`: the zones of the nodes."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer
from tierce.api.requests.listing import paging
from tierce.control import Services


class AvailabilityZones:
    """There is no `next`: clients know no way to continue a list of what has no uuid."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._zones = services.zones
        self._conf = conf

    def on_get(self, req: Request, resp: falcon.Response) -> None:
        query = paging(parameters.query(req), self._conf.api.max_limit, "availability_zone")
        zones = self._zones.list(req.caller, query)
        answer(
            resp,
            200,
            {"availability_zones": [{"availability_zone": zone} for zone in zones], "next": None},
        )
