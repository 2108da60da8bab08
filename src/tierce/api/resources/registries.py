"""`/v1/registries`: where images come from, and the credentials there."""

from typing import Any

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer, deleted
from tierce.api.requests.registries import ChangedRegistry, NewRegistry, fields, registry_listing
from tierce.api.requests.schema import Rules
from tierce.api.views import registries as views
from tierce.api.views.links import next_page, self_link
from tierce.control import Services
from tierce.db.tables import Registry


class Registries:
    """The collection, and one registry by uuid or name."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._registries = services.registries
        self._conf = conf

    def on_get(self, req: Request, resp: falcon.Response) -> None:
        asked = registry_listing(parameters.query(req), self._conf.api.max_limit)
        rows = self._registries.list(req.caller, asked.query, asked.all_projects)
        hidden = self._registries.hidden_fields(req.caller)
        everywhere = [("all_projects", "1")] if asked.all_projects else []
        more = [*asked.filters, *everywhere]
        document = {
            "registries": [views.item(row, hidden) for row in rows],
            "next": next_page(req.host_url, "registries", asked.query, rows, more),
        }
        answer(resp, 200, document)

    def on_post(self, req: Request, resp: falcon.Response) -> None:
        parameters.require_json(req)
        values = fields(NewRegistry, parameters.body(req), Rules(req.version, self._conf))
        registry = self._registries.create(req.caller, values)
        location = self_link(req.host_url, "registries", registry.uuid)
        answer(resp, 201, self._view(req, registry), location)

    def on_get_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        answer(resp, 200, self._view(req, self._registries.get(req.caller, ident)))

    def on_patch_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        values = fields(ChangedRegistry, parameters.body(req), Rules(req.version, self._conf))
        answer(resp, 200, self._view(req, self._registries.update(req.caller, ident, values)))

    def on_delete_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        self._registries.delete(req.caller, ident)
        deleted(resp)

    def _view(self, req: Request, registry: Registry) -> dict[str, Any]:
        return views.whole(registry, self._registries.hidden_fields(req.caller), req.host_url)
