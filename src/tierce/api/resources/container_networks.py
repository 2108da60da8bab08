"""`/v1/containers/{ident}/network_attach` and the other actions on networks and security groups."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, accepted, answer, supported
from tierce.api.requests.networking import NetworkAttach, NetworkDetach, SecurityGroup
from tierce.api.requests.schema import Rules, parse
from tierce.api.versions import Version
from tierce.api.views import networks as views
from tierce.control import Services

GROUPED_LIST = Version(1, 18)
"""From here on a list of networks has an item a port, before it had one an address."""


class ContainerNetworks:
    """One responder an action."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._networks = services.container_networks
        self._conf = conf

    @supported(first="1.13")
    def on_get_list(self, req: Request, resp: falcon.Response, ident: str) -> None:
        addresses = self._networks.addresses(req.caller, ident)
        view = views.by_port if req.version >= GROUPED_LIST else views.flat
        answer(resp, 200, {"networks": view(addresses)})

    @supported(first="1.8")
    def on_post_attach(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(NetworkAttach, parameters.merged(req), Rules(req.version, self._conf))
        self._networks.attach(req.caller, ident, asked.to_item())
        # Not 202, although it is queued: what clients always got.
        answer(resp, 200, None)

    @supported(first="1.6")
    def on_post_detach(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(NetworkDetach, parameters.merged(req), Rules(req.version, self._conf))
        self._networks.detach(req.caller, ident, network=asked.network, port=asked.port)
        accepted(resp)

    @supported(last="1.14")
    def on_post_add_group(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(SecurityGroup, parameters.merged(req), Rules(req.version, self._conf))
        self._networks.add_security_group(req.caller, ident, asked.name)
        accepted(resp)

    @supported(last="1.14")
    def on_post_remove_group(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(SecurityGroup, parameters.merged(req), Rules(req.version, self._conf))
        self._networks.remove_security_group(req.caller, ident, asked.name)
        accepted(resp)
