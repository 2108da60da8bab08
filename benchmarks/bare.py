"""A route that does nothing but answer with the body in $TIERCE_BENCHMARK_HOME, the floor of `listing`."""

import os
import pathlib

import falcon


class Bare:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def on_get(self, _req: falcon.Request, resp: falcon.Response) -> None:
        resp.content_type = "application/json"
        resp.data = self._body


application = falcon.App()
application.add_route("/", Bare((pathlib.Path(os.environ["TIERCE_BENCHMARK_HOME"]) / "body").read_bytes()))
