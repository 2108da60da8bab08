"""Limits of a project, checked in the transaction that uses them."""

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.db import containers, quotas
from tierce.model.errors import OverQuota

_TOLERANCE = 1e-6


class Quotas:
    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf.quota

    def reserve(self, session: Session, project_id: str, wanted: dict[str, float]) -> None:
        """Refuse if usage plus `wanted` (containers, cpu, memory, disk) passes a limit.

        Holds the project's lock until the caller's transaction ends, so nobody else counts between
        this check and the caller's insert. Raises OverQuota naming resource, limit, use and request.
        """
        quotas.lock_project(session, project_id)
        limits = {name: self._conf[name] for name in wanted} | quotas.limits(session, project_id)
        used = containers.usage(session, project_id)
        over = {
            name: f"{name}: limit {limits[name]}, in use {used[name]:g}, asked {amount:g}"
            for name, amount in wanted.items()
            if amount > 0 and 0 <= limits[name] < used[name] + amount - _TOLERANCE * max(1, limits[name])
        }
        if over:
            raise OverQuota(f"Quota exceeded for resources: {sorted(over)} ({'; '.join(over.values())})")
