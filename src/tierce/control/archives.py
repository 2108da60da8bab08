"""Files into and out of a container, as tar files."""

from typing import Any

from oslo_config import cfg

from tierce.control.node_calls import NodeCalls
from tierce.model.archive import content
from tierce.model.context import RequestContext
from tierce.model.errors import ArchiveTooLarge
from tierce.rpc.client import ComputeClient


class Archives:
    """Data is base64 when `encoded`, else text.

    Both methods raise, besides what `NodeCalls.to_node_of` does, what the node answers: PathNotFound,
    ArchiveTooLarge, RuntimeBadRequest, Conflict, RuntimeUnreachable, RpcTimeout.
    """

    def __init__(self, conf: cfg.ConfigOpts, calls: NodeCalls, compute: ComputeClient) -> None:
        self._limit = conf.max_archive_size
        self._calls = calls
        self._compute = compute

    def get(
        self, context: RequestContext, ident: str, path: str, *, encoded: bool
    ) -> tuple[str, dict[str, Any]]:
        """A tar file of what is at `path`, and its `stat`. Raises Invalid for text that is none."""
        with self._calls.to_node_of(context, ident, "get_archive") as (container, host):
            data, stat = self._compute.container_get_archive(
                context, host, container, path=path, encode_data=encoded
            )
        return data, stat

    def put(self, context: RequestContext, ident: str, path: str, data: str, *, encoded: bool) -> None:
        """Unpack `data`, a tar file, into the directory `path`.

        Nothing is sent of what is refused here. Raises Base64Invalid.
        """
        if len(content(data, encoded=encoded)) > self._limit:
            raise ArchiveTooLarge(self._limit)
        with self._calls.to_node_of(context, ident, "put_archive") as (container, host):
            self._compute.container_put_archive(
                context, host, container, path=path, data=data, decode_data=encoded
            )
