"""`/v1/containers/{ident}/logs` and the other actions that look into a running container."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer
from tierce.api.requests.actions import Execute, Logs, Top
from tierce.api.requests.schema import Rules, parse
from tierce.control import Services


class Inspection:
    """One responder an action; each waits for the node's reply."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._inspection = services.inspection
        self._terminals = services.terminals
        self._conf = conf

    def on_get_logs(self, req: Request, resp: falcon.Response, ident: str) -> None:
        query = parameters.single(parameters.query(req))
        asked = parse(Logs, query, Rules(req.version, self._conf))
        answer(resp, 200, self._inspection.logs(req.caller, ident, asked.to_request()))

    def on_post_execute(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(Execute, parameters.merged(req), Rules(req.version, self._conf))
        execute = self._inspection.execute if asked.run else self._terminals.prepare
        answer(resp, 200, execute(req.caller, ident, list(asked.command), asked.interactive))

    def on_get_top(self, req: Request, resp: falcon.Response, ident: str) -> None:
        query = parameters.single(parameters.query(req))
        asked = parse(Top, query, Rules(req.version, self._conf))
        answer(resp, 200, self._inspection.top(req.caller, ident, asked.ps_args))

    def on_get_stats(self, req: Request, resp: falcon.Response, ident: str) -> None:
        answer(resp, 200, self._inspection.stats(req.caller, ident))
