"""Refuse bodies larger than the operator allows, before anything reads them."""

import falcon
from oslo_config import cfg

from tierce.api.http import Request


class BodyLimit:
    """Answers 413 to a declared length above `[api]/max_request_body_size`.

    A body of undeclared length is measured as it is read (`api/received.py`).
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf

    def process_request(self, req: Request, _resp: falcon.Response) -> None:
        req.body_limit = self._conf.api.max_request_body_size
        if (req.content_length or 0) > req.body_limit:
            raise too_large(req.body_limit)


def narrow(req: Request, limit: int, error: Exception) -> None:
    """Have a smaller limit for this request, before its body is read.

    Raises `error` when the declared length is above it; a body without one is measured as it is read.
    """
    req.body_limit = min(req.body_limit, limit)
    if (req.content_length or 0) > req.body_limit:
        raise error


def too_large(limit: int) -> falcon.HTTPError:
    return falcon.HTTPContentTooLarge(description=f"A request body may have at most {limit} bytes.")
