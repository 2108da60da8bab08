"""Limits of a project: checked in the transaction that uses them, read and set by administrators."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control.policy import Policy
from tierce.db import images, quotas
from tierce.db.engine import Database
from tierce.images import committed
from tierce.images.reference import Reference
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import InvalidValue, OverQuota

RESOURCES: Final = ("containers", "memory", "disk", "cpu")
"""What is limited: a number, MiB, GiB, vCPUs."""

UNLIMITED: Final = -1

_NOOP: Final = "zun.common.quota.NoopQuotaDriver"
_TOLERANCE: Final = 1e-6
_LONGEST_NAME: Final = 255

Limits = dict[str, int]


class Usage(NamedTuple):
    """A limit and how much of it is taken; both -1 where nothing is counted."""

    limit: int
    in_use: float


class Quotas:
    """What is in force. Limits come from the project, else from the class `default`, else from `[quota]`.

    With the no-op driver nothing is limited and nothing is counted.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf.quota

    @property
    def _off(self) -> bool:
        return bool(self._conf.driver == _NOOP)

    def reserve(self, session: Session, project_id: str, wanted: dict[str, float]) -> None:
        """Refuse if usage plus `wanted` (containers, cpu, memory, disk) passes a limit.

        Holds the project's lock until the caller's transaction ends, so nobody else counts between
        this check and the caller's insert. Raises OverQuota naming resource, limit, use and request.
        """
        if self._off:
            return
        quotas.lock_project(session, project_id)
        limits, used = self._standing(session, project_id)
        over = {
            name: f"{name}: limit {limits[name]}, in use {used[name]:g}, asked {amount:g}"
            for name, amount in wanted.items()
            if amount > 0 and 0 <= limits[name] < used[name] + amount - _TOLERANCE * max(1, limits[name])
        }
        if over:
            raise OverQuota(f"Quota exceeded for resources: {sorted(over)} ({'; '.join(over.values())})")

    def reserve_image(self, session: Session, project_id: str, host: str, name: Reference) -> None:
        """Refuse if the project keeps as many images of its containers on the node as it may.

        Those being made count, and one that replaces another does not. Holds the project's lock as
        `reserve` does. Raises OverQuota.
        """
        limit = self._conf.committed_images
        if self._off or limit == UNLIMITED:
            return
        quotas.lock_project(session, project_id)
        kept = images.committed(session, project_id, host, committed.DOMAIN)
        if (name.name, name.tag) not in kept and len(kept) >= limit:
            raise OverQuota(
                f"Quota exceeded for resources: ['committed_images'] (limit {limit} on a node, in use "
                f"{len(kept)}). Commit under a name that you have used for one on this node, which replaces "
                "it, or have one of them deleted."
            )

    def limits(self, session: Session, project_id: str) -> Limits:
        return self._completed(quotas.limits(session, project_id))

    def of_class(self, session: Session, class_name: str) -> Limits:
        return self._completed(quotas.of_class(session, class_name))

    def usages(self, session: Session, project_id: str) -> dict[str, Usage]:
        if self._off:
            return {name: Usage(UNLIMITED, UNLIMITED) for name in RESOURCES}
        limits, used = self._standing(session, project_id)
        return {name: Usage(limit, used[name]) for name, limit in limits.items()}

    def _standing(self, session: Session, project_id: str) -> tuple[Limits, dict[str, float]]:
        given, used = quotas.standing(session, project_id)
        return self._completed(given), used

    def _completed(self, given: Mapping[str, int]) -> Limits:
        """The limits that were set, with those of the configuration for the rest."""
        if self._off:
            return dict.fromkeys(RESOURCES, UNLIMITED)
        return {name: given.get(name, self._conf[name]) for name in RESOURCES}


class ProjectQuotas:
    """The limits of one project, whose rules get it as their target. Any name is a project."""

    def __init__(self, quotas_in_force: Quotas, database: Database, policy: Policy, clock: Clock) -> None:
        self._quotas = quotas_in_force
        self._database = database
        self._policy = policy
        self._clock = clock

    def get(self, context: RequestContext, project_id: str) -> Limits:
        self._require(context, "get", project_id)
        return self._database.read(lambda session: self._quotas.limits(session, project_id))

    def usages(self, context: RequestContext, project_id: str) -> dict[str, Usage]:
        self._require(context, "get", project_id)
        return self._database.read(lambda session: self._quotas.usages(session, project_id))

    def defaults(self, context: RequestContext, project_id: str) -> Limits:
        """What the project has without limits of its own."""
        self._require(context, "get_default", project_id)
        return self._database.read(lambda session: self._quotas.of_class(session, quotas.DEFAULT_CLASS))

    def update(self, context: RequestContext, project_id: str, wanted: Mapping[str, int]) -> Limits:
        """Set some limits; all as they are then. One below what is used keeps what there is."""
        self._require(context, "update", project_id)
        _require_storable(project_id)
        now = self._clock.now()

        def work(session: Session) -> Limits:
            quotas.set_project(session, project_id, wanted, now)
            session.flush()
            return self._quotas.limits(session, project_id)

        return self._database.write(work)

    def delete(self, context: RequestContext, project_id: str) -> None:
        """Drop the project's own limits. Idempotent."""
        self._require(context, "delete", project_id)
        self._database.write(lambda session: quotas.forget_project(session, project_id))

    def _require(self, context: RequestContext, action: str, project_id: str) -> None:
        self._policy.require(context, f"quota:{action}", {"project_id": project_id})


class QuotaClasses:
    """Limits by class. Any name is a class, and only `default` has an effect."""

    def __init__(self, quotas_in_force: Quotas, database: Database, policy: Policy, clock: Clock) -> None:
        self._quotas = quotas_in_force
        self._database = database
        self._policy = policy
        self._clock = clock

    def get(self, context: RequestContext, name: str) -> Limits:
        self._policy.require(context, "quota_class:get")
        return self._database.read(lambda session: self._quotas.of_class(session, name))

    def update(self, context: RequestContext, name: str, wanted: Mapping[str, int]) -> Limits:
        """Set some limits; all as they are then."""
        self._policy.require(context, "quota_class:update")
        _require_storable(name)
        now = self._clock.now()

        def work(session: Session) -> Limits:
            quotas.set_class(session, name, wanted, now)
            session.flush()
            return self._quotas.of_class(session, name)

        return self._database.write(work)


def _require_storable(name: str) -> None:
    if len(name) > _LONGEST_NAME:
        raise InvalidValue(f"A project or class has a name of at most {_LONGEST_NAME} characters.")
