"""`/v1/containers/{ident}/resize_container`, `rebuild` and `commit`."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, accepted, answer, supported
from tierce.api.requests import changes as requests
from tierce.api.requests.changes import CommitContainer, ResizeContainer
from tierce.api.requests.schema import Rules, parse
from tierce.api.views.containers import FIELDS, ContainerView
from tierce.control import Services
from tierce.model.clock import Clock


class Changes:
    """One responder an action. (A change of a container's name and size is a PATCH of the container.)"""

    def __init__(self, services: Services, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._containers = services.containers
        self._resizing = services.resizing
        self._remaking = services.remaking
        self._conf = conf
        self._clock = clock

    @supported(first="1.19")
    def on_post_resize_container(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(ResizeContainer, parameters.merged(req), Rules(req.version, self._conf))
        row = self._resizing.resize(req.caller, ident, asked.to_change())
        view = ContainerView(self._containers.hidden_fields(req.caller, FIELDS), self._clock.now())
        answer(resp, 202, view.whole(row, req.host_url))

    def on_post_rebuild(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = requests.rebuild(parameters.merged(req), Rules(req.version, self._conf))
        self._remaking.rebuild(req.caller, ident, asked.image, asked.image_driver)
        accepted(resp)

    def on_post_commit(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(CommitContainer, parameters.merged(req), Rules(req.version, self._conf))
        answer(resp, 202, {"uuid": self._remaking.commit(req.caller, ident, asked.to_reference())})
