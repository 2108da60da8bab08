"""`/v1/containers/{ident}/container_actions`: what was done to a container, and how it went."""

import falcon

from tierce.api.http import Request, answer
from tierce.api.views.container_actions import action, action_with_events
from tierce.control import Services


class ContainerActions:
    """The collection, and one action by the id of the request that caused it."""

    def __init__(self, services: Services) -> None:
        self._actions = services.actions

    def on_get(self, req: Request, resp: falcon.Response, ident: str) -> None:
        rows = self._actions.list(req.caller, ident)
        answer(resp, 200, {"containerActions": [action(row) for row in rows]})

    def on_get_one(self, req: Request, resp: falcon.Response, ident: str, request_id: str) -> None:
        row, events, show_traceback = self._actions.get(req.caller, ident, request_id)
        answer(resp, 200, action_with_events(row, events, show_traceback))
