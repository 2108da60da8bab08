"""`/v1/containers` and `/v1/containers/{ident}`."""

from collections.abc import Callable
from typing import Final, TypeVar

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer, deleted, document, respond
from tierce.api.pages import Pages
from tierce.api.requests import containers as requests
from tierce.api.requests.changes import UpdateContainer
from tierce.api.requests.listing import container_listing, flag
from tierce.api.requests.schema import Rules, parse
from tierce.api.views.containers import FIELDS, ContainerView
from tierce.api.views.links import next_page, self_link
from tierce.control import Services
from tierce.model.clock import Clock
from tierce.model.errors import ContainerNotFound

T = TypeVar("T")

_LONG: Final = 100
"""Rows from which on it pays to ask first whether a list has changed."""


class Containers:
    """The collection, and one container."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._containers = services.containers
        self._lifecycle = services.lifecycle
        self._resizing = services.resizing
        self._conf = conf
        self._clock = clock
        self._pages = Pages(clock)

    def on_get(self, req: Request, resp: falcon.Response) -> None:
        rules = Rules(req.version, self._conf)
        asked = container_listing(parameters.query(req), self._conf.api.max_limit, rules)
        caller, query, view = req.caller, asked.query, self._view(req)
        everywhere = [("all_projects", "1")] if asked.all_projects else []

        def render() -> bytes:
            rows = self._containers.list(caller, query, asked.all_projects)
            following = next_page(req.host_url, "containers", query, rows, [*asked.filters, *everywhere])
            down = self._containers.down_hosts() if rows else frozenset()
            return document({"containers": view.items(rows, down), "next": following})

        if query.limit < _LONG:
            respond(resp, 200, render())
            return
        scope = (caller.project_id, caller.user_id, caller.is_admin, view.hidden, req.host_url)
        fingerprint = self._containers.fingerprint(caller, query, asked.all_projects)
        respond(resp, 200, self._pages.body((*scope, req.query_string), fingerprint, render))

    def on_post(self, req: Request, resp: falcon.Response) -> None:
        parameters.require_json(req)
        query = parameters.single(parameters.query(req))
        rules = Rules(req.version, self._conf)
        spec, run = requests.create(query, parameters.body(req), rules)
        row = self._containers.create(req.caller, spec, run)
        location = self_link(req.host_url, "containers", row.uuid)
        answer(resp, 202, self._view(req).whole(row, req.host_url), location)

    def on_get_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        everywhere = flag(parameters.query(req), "all_projects")
        row = _addressed(ident, lambda name: self._containers.get(req.caller, name, all_projects=everywhere))
        answer(resp, 200, self._view(req).whole(row, req.host_url, self._containers.down_hosts()))

    def on_patch_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        asked = parse(UpdateContainer, parameters.merged(req), Rules(req.version, self._conf))
        row = _addressed(ident, lambda name: self._resizing.update(req.caller, name, asked.to_change()))
        answer(resp, 200, self._view(req).whole(row, req.host_url, self._containers.down_hosts()))

    def on_delete_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        flags = requests.delete(parameters.merged(req), Rules(req.version, self._conf))
        _addressed(
            ident,
            lambda name: self._lifecycle.delete(
                req.caller, name, force=flags.force, stop=flags.stop, all_projects=flags.all_projects
            ),
        )
        deleted(resp)

    def _view(self, req: Request) -> ContainerView:
        return ContainerView(self._containers.hidden_fields(req.caller, FIELDS), self._clock.now())


def _addressed(ident: str, act: Callable[[str], T]) -> T:
    """Act on the container of that name; `x.json` means `x` where there is no `x.json`."""
    try:
        return act(ident)
    except ContainerNotFound:
        if not ident.endswith(".json"):
            raise
    return act(ident.removesuffix(".json"))
