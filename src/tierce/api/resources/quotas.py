"""`/v1/quotas/{project_id}` and `/v1/quota_classes/{name}`: limits, and how much of them is used."""

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer
from tierce.api.requests.quotas import SetLimits, wants_usages
from tierce.api.requests.schema import Rules, parse
from tierce.control import Services


class Quotas:
    """The limits of one project, and those it has without limits of its own."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._quotas = services.quotas
        self._conf = conf

    def on_get_one(self, req: Request, resp: falcon.Response, project_id: str) -> None:
        if wants_usages(parameters.query(req).get("usages", [])):
            usages = self._quotas.usages(req.caller, project_id)
            answer(resp, 200, {name: usage._asdict() for name, usage in usages.items()})
        else:
            answer(resp, 200, self._quotas.get(req.caller, project_id))

    def on_put_one(self, req: Request, resp: falcon.Response, project_id: str) -> None:
        limits = _limits(req, self._conf)
        answer(resp, 200, self._quotas.update(req.caller, project_id, limits))

    def on_delete_one(self, req: Request, resp: falcon.Response, project_id: str) -> None:
        self._quotas.delete(req.caller, project_id)
        answer(resp, 200, None)

    def on_get_defaults(self, req: Request, resp: falcon.Response, project_id: str) -> None:
        answer(resp, 200, self._quotas.defaults(req.caller, project_id))


class QuotaClasses:
    """The limits of one class."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._classes = services.quota_classes
        self._conf = conf

    def on_get_one(self, req: Request, resp: falcon.Response, name: str) -> None:
        answer(resp, 200, self._classes.get(req.caller, name))

    def on_put_one(self, req: Request, resp: falcon.Response, name: str) -> None:
        answer(resp, 200, self._classes.update(req.caller, name, _limits(req, self._conf)))


def _limits(req: Request, conf: cfg.ConfigOpts) -> dict[str, int]:
    return parse(SetLimits, parameters.merged(req), Rules(req.version, conf)).given()
