"""`/v1/containers/{ident}/get_archive` and `put_archive`."""

from typing import Final

import falcon
from oslo_config import cfg

from tierce.api import parameters
from tierce.api.http import Request, answer, answer_with_base64
from tierce.api.middleware.body_limit import narrow
from tierce.api.requests.archives import GetArchive, PutArchive
from tierce.api.requests.schema import Rules, known, parse
from tierce.api.versions import Version
from tierce.control import Services
from tierce.model.errors import ArchiveTooLarge

_ENCODED_SINCE: Final = Version(1, 25)
"""Archives are base64 from here on, and text before."""

_BESIDE: Final = 64 * 1024
"""Bytes of a body that are not the archive."""


class Archives:
    """Both actions wait for the node's reply."""

    def __init__(self, services: Services, conf: cfg.ConfigOpts) -> None:
        self._archives = services.archives
        self._conf = conf

    def on_get_get_archive(self, req: Request, resp: falcon.Response, ident: str) -> None:
        given = parameters.single(parameters.query(req))
        asked = parse(GetArchive, known(GetArchive, given), Rules(req.version, self._conf))
        encoded = req.version >= _ENCODED_SINCE
        data, stat = self._archives.get(req.caller, ident, asked.path, encoded=encoded)
        if encoded:
            answer_with_base64(resp, "data", data, {"stat": stat})
        else:
            answer(resp, 200, {"data": data, "stat": stat})

    def on_post_put_archive(self, req: Request, resp: falcon.Response, ident: str) -> None:
        limit = self._conf.max_archive_size
        narrow(req, limit * 4 // 3 + _BESIDE, ArchiveTooLarge(limit))
        given = parameters.merged(req, opaque="data")
        asked = parse(PutArchive, known(PutArchive, given), Rules(req.version, self._conf))
        encoded = req.version >= _ENCODED_SINCE
        self._archives.put(req.caller, ident, asked.path, asked.data, encoded=encoded)
        answer(resp, 200, None)
