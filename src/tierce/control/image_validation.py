"""Whether an image exists, asked before a container of it is accepted (`[api] enable_image_validation`).

Without it a container whose image does not exist is accepted, and ends in Error.
"""

import logging

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control.liveness import Liveness
from tierce.control.places import Places
from tierce.db import images
from tierce.db.engine import Database
from tierce.images import committed
from tierce.images.reference import parse
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, ImageNotFound, InvalidValue, TierceError
from tierce.model.spec import ContainerSpec
from tierce.rpc.client import ComputeClient

LOG = logging.getLogger(__name__)


class ImageValidation:
    """One object serves a whole process, as its places are the process's."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        liveness: Liveness,
        compute: ComputeClient,
        places: Places,
    ) -> None:
        self._conf = conf
        self._database = database
        self._liveness = liveness
        self._compute = compute
        self._places = places

    def require_found(self, context: RequestContext, spec: ContainerSpec) -> None:
        """Raises ImageNotFound, and Conflict for a name that several images have.

        What nobody can be asked about passes: the node that pulls it will see.
        """
        if not self._conf.api.enable_image_validation or self._may_be_elsewhere(spec):
            return
        if not self._database.read(lambda session: self._is_to_be_asked(session, context, spec)):
            return
        try:
            found = self._search(context, spec)
        except TierceError as exc:
            LOG.warning("Image %s is accepted as it is, since it cannot be searched for: %s", spec.image, exc)
            return
        if not found:
            raise ImageNotFound(f"Image {spec.image} could not be found.")
        if found > 1:
            raise Conflict(f"There are {found} images called {spec.image}. Please use the uuid instead.")

    def _search(self, context: RequestContext, spec: ContainerSpec) -> int:
        """How many images of exactly that name any node finds."""
        with self._places.one(context):
            found = self._compute.image_search(
                context,
                None,
                image=spec.image,
                image_driver_name=self._driver(spec),
                exact_match=True,
            )
        return len(found)

    def _may_be_elsewhere(self, spec: ContainerSpec) -> bool:
        """Whether the image need not be where a search would look for it."""
        policy = spec.image_pull_policy or self._conf.default_image_pull_policy
        other = policy != "always" or spec.registry is not None or self._conf.docker.default_registry
        return self._driver(spec) == "docker" and bool(other)

    def _is_to_be_asked(self, session: Session, context: RequestContext, spec: ContainerSpec) -> bool:
        """Whether there is a node to ask, and the image is not one that the project made of a container."""
        return self._liveness.any_up(session) and not _made_of_a_container(session, context, spec.image)

    def _driver(self, spec: ContainerSpec) -> str:
        driver: str = spec.image_driver or self._conf.default_image_driver
        return driver


def _made_of_a_container(session: Session, context: RequestContext, image: str) -> bool:
    try:
        name = committed.name_for(context.project_id or "", parse(image))
    except InvalidValue:
        return False
    return images.is_recorded(session, name.name, name.tag or "")
