"""`/v1/openapi`: the description of this API for programs."""

from collections.abc import Callable

import falcon

from tierce.api.http import Request, respond
from tierce.api.versions import Version


class OpenApi:
    def __init__(self, render: Callable[[Version], bytes]) -> None:
        """`render` gives the document of a microversion as JSON."""
        self._render = render

    def on_get(self, req: Request, resp: falcon.Response) -> None:
        respond(resp, 200, self._render(req.version))
