"""`/` and `/v1`: the version documents."""

import falcon

from tierce.api.http import Request, answer
from tierce.api.views import discovery


class Root:
    def on_get(self, req: Request, resp: falcon.Response) -> None:
        answer(resp, 200, discovery.root(req.host_url))

    on_head = on_get


class V1:
    def on_get(self, req: Request, resp: falcon.Response) -> None:
        answer(resp, 200, discovery.v1(req.host_url))

    on_head = on_get
