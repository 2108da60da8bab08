"""`/v1/containers/{ident}/start` and the other actions that change a container's state or name."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, accepted, answer, supported
from tierce.api.requests.actions import Kill, Rename, Stop
from tierce.api.requests.schema import Rules, parse
from tierce.api.views.containers import FIELDS, ContainerView
from tierce.control import Services
from tierce.model.clock import Clock


class Lifecycle:
    """One responder an action. Those without parameters ignore whatever comes with the request."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._containers = services.containers
        self._lifecycle = services.lifecycle
        self._conf = conf
        self._clock = clock

    def on_post_start(self, req: Request, resp: falcon.Response, ident: str) -> None:
        self._lifecycle.start(req.caller, ident)
        accepted(resp)

    def on_post_stop(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(Stop, parameters.merged(req), Rules(req.version, self._conf))
        self._lifecycle.stop(req.caller, ident, asked.timeout)
        accepted(resp)

    def on_post_reboot(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(Stop, parameters.merged(req), Rules(req.version, self._conf))
        self._lifecycle.reboot(req.caller, ident, asked.timeout)
        accepted(resp)

    def on_post_pause(self, req: Request, resp: falcon.Response, ident: str) -> None:
        self._lifecycle.pause(req.caller, ident)
        accepted(resp)

    def on_post_unpause(self, req: Request, resp: falcon.Response, ident: str) -> None:
        self._lifecycle.unpause(req.caller, ident)
        accepted(resp)

    def on_post_kill(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(Kill, parameters.merged(req), Rules(req.version, self._conf))
        self._lifecycle.kill(req.caller, ident, asked.signal)
        accepted(resp)

    @supported(last="1.13")
    def on_post_rename(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(Rename, parameters.merged(req), Rules(req.version, self._conf))
        row = self._containers.rename(req.caller, ident, asked.name)
        view = ContainerView(self._containers.hidden_fields(req.caller, FIELDS), self._clock.now())
        answer(resp, 200, view.whole(row, req.host_url, self._containers.down_hosts()))
