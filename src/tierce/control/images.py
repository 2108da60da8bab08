"""Image records: pulls on nodes that an administrator asked for."""

from collections.abc import Sequence

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control import liveness
from tierce.control.lookup import canonical_uuid
from tierce.control.policy import Policy
from tierce.db import images, nodes
from tierce.db.engine import Database
from tierce.db.tables import Image
from tierce.images.reference import parse
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import ComputeNodeNotFound, HostNotUp, ImageRecordNotFound, InvalidValue
from tierce.model.spec import ListQuery
from tierce.rpc.client import ComputeClient


class Images:
    def __init__(
        self, conf: cfg.ConfigOpts, database: Database, policy: Policy, compute: ComputeClient, clock: Clock
    ) -> None:
        self._conf = conf
        self._database = database
        self._policy = policy
        self._compute = compute
        self._clock = clock

    def list(self, context: RequestContext, query: ListQuery) -> Sequence[Image]:
        """One page of the project's image records."""
        self._policy.require(context, "image:get_all")
        return self._database.read(lambda session: images.page(session, context, query))

    def get(self, context: RequestContext, ident: str) -> Image:
        """One image record by uuid. Raises ImageRecordNotFound."""
        self._policy.require(context, "image:get_one")
        as_uuid = canonical_uuid(ident)
        if as_uuid is None:
            raise ImageRecordNotFound(ident)
        scope = context.spanning() if context.is_admin else context
        return self._database.read(lambda session: images.get(session, scope, as_uuid))

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
            now = self._clock.now()
            if not liveness.is_up(session, hostname, now, self._conf.service_down_time):
                raise HostNotUp(hostname)
            return images.request(session, context, reference.name, tag, hostname, now)

        image = self._database.write(work)
        self._compute.image_pull(context, image.host or "", image)
        return image

    def _resolve_host(self, session: Session, host: str) -> str:
        as_uuid = canonical_uuid(host)
        try:
            if as_uuid is not None:
                return nodes.get(session, as_uuid, by_uuid=True).hostname
            return nodes.get(session, host, by_uuid=False).hostname
        except ComputeNodeNotFound as exc:
            raise InvalidValue(f"Invalid input for field 'host'. {exc}") from exc
