"""`/v1/containers/{ident}/attach` and the sizes of terminals."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer
from tierce.api.requests.schema import Rules, parse
from tierce.api.requests.terminals import ExecuteResize, Resize
from tierce.control import Services


class Terminals:
    """One responder an action; each waits for the node's reply."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._terminals = services.terminals
        self._conf = conf

    def on_get_attach(self, req: Request, resp: falcon.Response, ident: str) -> None:
        answer(resp, 200, self._terminals.attach(req.caller, ident))

    def on_post_resize(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(Resize, parameters.merged(req), Rules(req.version, self._conf))
        self._terminals.resize(req.caller, ident, asked.h, asked.w)
        answer(resp, 200, None)

    def on_post_execute_resize(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(ExecuteResize, parameters.merged(req), Rules(req.version, self._conf))
        self._terminals.resize_exec(req.caller, ident, asked.exec_id, asked.h, asked.w)
        answer(resp, 200, None)
