"""`/v1/images`: records of images pulled to nodes, and the search for images."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer
from tierce.api.middleware.paths import ENCODED_SLASH
from tierce.api.requests.images import PullImage, SearchImages
from tierce.api.requests.listing import paging
from tierce.api.requests.schema import Rules, parse
from tierce.api.views.images import image
from tierce.api.views.links import next_page, self_link
from tierce.control import Services


class Images:
    """The collection, and one record by uuid."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._images = services.images
        self._conf = conf

    def on_get(self, req: Request, resp: falcon.Response) -> None:
        query = paging(parameters.query(req), self._conf.api.max_limit, "id")
        rows = self._images.list(req.caller, query)
        document = {
            "images": [image(row, req.host_url) for row in rows],
            "next": next_page(req.host_url, "images", query, rows),
        }
        answer(resp, 200, document)

    def on_post(self, req: Request, resp: falcon.Response) -> None:
        parameters.require_json(req)
        asked = parse(PullImage, parameters.body(req), Rules(req.version, self._conf))
        row = self._images.pull(req.caller, asked.repo, asked.host)
        location = self_link(req.host_url, "images", row.uuid)
        answer(resp, 202, image(row, req.host_url), location)

    def on_get_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        answer(resp, 200, image(self._images.get(req.caller, ident), req.host_url))

    def on_delete_one(self, req: Request, resp: falcon.Response, ident: str) -> None:
        self._images.delete(req.caller, ident)
        answer(resp, 200, None)

    def on_get_search(self, req: Request, resp: falcon.Response, ident: str) -> None:
        query = parameters.single(parameters.query(req))
        asked = parse(SearchImages, query, Rules(req.version, self._conf))
        name = ident.replace(ENCODED_SLASH, "/")
        answer(resp, 200, self._images.search(req.caller, name, asked.image_driver, asked.exact_match))
