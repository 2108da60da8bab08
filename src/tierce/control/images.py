"""Image records: pulls on nodes that an administrator asked for; and searching for images."""

import functools
import logging
from collections.abc import Sequence
from typing import Any, Final

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control.liveness import Liveness
from tierce.control.lookup import by_uuid_or_name, canonical_uuid
from tierce.control.places import Places
from tierce.control.policy import Policy
from tierce.db import images, nodes
from tierce.db.engine import Database
from tierce.db.tables import Image
from tierce.images.reference import parse
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import (
    BusUnavailable,
    ComputeNodeNotFound,
    HostNotUp,
    ImageRecordNotFound,
    InvalidValue,
    NoNodeUp,
)
from tierce.model.spec import ListQuery
from tierce.rpc.client import ComputeClient

LOG = logging.getLogger(__name__)

_RULED: Final = ("uuid", "repo", "tag", "image_id", "size", "host", "project_id", "user_id")
"""Fields of a record that rules may look at."""


class Images:
    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        policy: Policy,
        liveness: Liveness,
        compute: ComputeClient,
        clock: Clock,
        places: Places,
    ) -> None:
        self._conf = conf
        self._database = database
        self._policy = policy
        self._liveness = liveness
        self._compute = compute
        self._clock = clock
        self._places = places

    def list(self, context: RequestContext, query: ListQuery) -> Sequence[Image]:
        """One page of the project's image records."""
        self._policy.require(context, "image:get_all")
        return self._database.read(lambda session: images.page(session, context, query))

    def get(self, context: RequestContext, ident: str) -> Image:
        """One image record by uuid. Raises ImageRecordNotFound."""
        return self._database.read(lambda session: self._permitted(session, context, ident, "get_one"))

    def pull(self, context: RequestContext, repo: str, host: str) -> Image:
        """Record a pull and tell the node; `image_id` is set when the node has the image.

        Raises InvalidValue for a bad name or an unknown host, HostNotUp, ImageAlreadyExists.
        """
        self._policy.require(context, "image:pull")
        reference = parse(repo)
        if reference.domain is None and self._conf.docker.default_registry:
            reference = reference.within(self._conf.docker.default_registry)
        tag = f"@{reference.digest}" if reference.digest else reference.tag or "latest"

        def work(session: Session) -> Image:
            hostname = self._resolve_host(session, host)
            self._liveness.require_up(session, hostname)
            return images.request(session, context, reference.name, tag, hostname, self._clock.now())

        image = self._database.write(work)
        try:
            self._compute.image_pull(context, image.host or "", image)
        except (BusUnavailable, HostNotUp) as exc:
            LOG.warning("The pull %s waits for its node's next look: %s", image.uuid, exc)
        return image

    def delete(self, context: RequestContext, ident: str) -> None:
        """Have the node remove the image and its record.

        Raises ImageRecordNotFound, HostNotUp; Conflict while the image is being pulled or a container
        has it; and what a node that is called may raise: RuntimeUnreachable, RpcTimeout, ServiceBusy.
        """

        def work(session: Session) -> Image:
            image = self._permitted(session, context, ident, "delete")
            self._liveness.require_up(session, image.host or "")
            return image

        image = self._database.read(work)
        with self._places.one(context):
            self._compute.image_delete(context, image.host or "", image)

    def search(
        self, context: RequestContext, name: str, driver: str | None, exact: bool
    ) -> Sequence[dict[str, Any]]:
        """Images of that name, or with it in their names, where the driver takes them from.

        Any node that is up is asked. Raises InvalidValue for a bad name, OperationNotSupported for a
        registry that cannot be searched, NoNodeUp, ImageSearchFailed, RpcTimeout,
        ServiceBusy.
        """
        self._policy.require(context, "image:search")
        parse(name)
        self._database.read(self._require_a_node)
        with self._places.one(context):
            return self._compute.image_search(
                context,
                None,
                image=name,
                image_driver_name=driver or self._conf.default_image_driver,
                exact_match=exact,
            )

    def _permitted(self, session: Session, context: RequestContext, ident: str, rule: str) -> Image:
        """The record, if the rule lets the caller do that with this very one."""
        image = _find(session, context, ident)
        self._policy.require(context, f"image:{rule}", {name: getattr(image, name) for name in _RULED})
        return image

    def _resolve_host(self, session: Session, host: str) -> str:
        try:
            return by_uuid_or_name(host, functools.partial(nodes.get, session)).hostname
        except ComputeNodeNotFound as exc:
            raise InvalidValue(f"Invalid input for field 'host'. {exc}") from exc

    def _require_a_node(self, session: Session) -> None:
        if not self._liveness.any_up(session):
            raise NoNodeUp()


def _find(session: Session, context: RequestContext, ident: str) -> Image:
    """An image record by uuid: an administrator finds those of every project."""
    as_uuid = canonical_uuid(ident)
    if as_uuid is None:
        raise ImageRecordNotFound(ident)
    return images.get(session, context.finding(), as_uuid)
