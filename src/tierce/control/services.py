"""Node agents as operators see them: who is up, who gets work, and in which zones they are."""

import dataclasses
import datetime
from collections.abc import Callable, Sequence
from typing import Any, Final

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control.liveness import Liveness
from tierce.control.policy import Policy
from tierce.db import services
from tierce.db.engine import Database
from tierce.db.paging import require_sortable
from tierce.db.tables import Service
from tierce.model.context import RequestContext
from tierce.model.errors import InvalidValue
from tierce.model.spec import ListQuery

_ZONES_SORTABLE: Final = frozenset("availability_zone id host binary created_at updated_at".split())


@dataclasses.dataclass(frozen=True, slots=True)
class ServiceReport:
    """A service and whether it is up."""

    id: int
    host: str | None
    binary: str | None
    state: str
    disabled: bool
    disabled_reason: str | None
    forced_down: bool
    report_count: int
    last_seen_up: datetime.datetime | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None
    availability_zone: str


class HostServices:
    """Changes of flags are successes also when nothing changes, and tell nobody that the node lives.

    Raises PolicyNotAuthorized, and ServiceNotFound where a host and a binary are given.
    """

    def __init__(self, conf: cfg.ConfigOpts, database: Database, policy: Policy, liveness: Liveness) -> None:
        self._conf = conf
        self._database = database
        self._policy = policy
        self._liveness = liveness

    def list(self, context: RequestContext) -> Sequence[ServiceReport]:
        """Every service, oldest first."""
        self._policy.require(context, "zun-service:get_all")
        return [self._report(row) for row in self._database.read(services.every)]

    def enable(self, context: RequestContext, host: str, binary: str) -> ServiceReport:
        """Let the scheduler give it new containers again."""
        self._policy.require(context, "zun-service:enable")
        return self._set(host, binary, disabled=False, disabled_reason=None)

    def disable(self, context: RequestContext, host: str, binary: str, reason: str | None) -> ServiceReport:
        """Give it no new containers from now on; those that it has stay, and can be worked with."""
        self._policy.require(context, "zun-service:disable")
        return self._set(host, binary, disabled=True, disabled_reason=reason)

    def force_down(self, context: RequestContext, host: str, binary: str, forced: bool) -> ServiceReport:
        """Count it as down, whatever its heartbeats say, until this is taken back."""
        self._policy.require(context, "zun-service:force_down")
        return self._set(host, binary, forced_down=forced)

    def delete(self, context: RequestContext, host: str, binary: str) -> None:
        """Remove the record. A running agent makes a new one, with no flags, at its next heartbeat."""
        self._policy.require(context, "zun-service:delete")
        self._change(host, binary, lambda session, service: session.delete(service))

    def _set(self, host: str, binary: str, **flags: Any) -> ServiceReport:
        def work(_session: Session, service: Service) -> None:
            for name, value in flags.items():
                setattr(service, name, value)

        return self._report(self._change(host, binary, work))

    def _change(self, host: str, binary: str, work: Callable[[Session, Service], None]) -> Service:
        def change(session: Session) -> Service:
            service = services.get_one(session, host, binary)
            work(session, service)
            return service

        return self._database.write(change)

    def _report(self, service: Service) -> ServiceReport:
        return ServiceReport(
            id=service.id,
            host=service.host,
            binary=service.binary,
            state="up" if self._liveness.of(service) else "down",
            disabled=bool(service.disabled),
            disabled_reason=service.disabled_reason,
            forced_down=bool(service.forced_down),
            report_count=service.report_count,
            last_seen_up=service.last_seen_up,
            created_at=service.created_at,
            updated_at=service.updated_at,
            availability_zone=service.availability_zone or self._conf.default_availability_zone,
        )


class AvailabilityZones:
    def __init__(self, conf: cfg.ConfigOpts, database: Database, policy: Policy) -> None:
        self._conf = conf
        self._database = database
        self._policy = policy

    def list(self, context: RequestContext, query: ListQuery) -> Sequence[str]:
        """Zones of all services, also of those that are down or disabled, each where its last service is.

        `query` counts zones, and its marker is a zone. Raises InvalidValue for a marker that is none,
        InvalidParameterValue for a sort key that services do not have.
        """
        self._policy.require(context, "availability_zones:get_all")
        require_sortable(query, _ZONES_SORTABLE)
        zones: dict[str, None] = {}
        for service in self._sorted(self._database.read(services.every), query):
            zone = service.availability_zone or self._conf.default_availability_zone
            zones.pop(zone, None)
            zones[zone] = None
        found = [*zones]
        if query.marker is not None:
            if query.marker not in zones:
                raise InvalidValue(f"The marker '{query.marker}' is not an availability zone.")
            found = found[found.index(query.marker) + 1 :]
        return found[: query.limit]

    def _sorted(self, rows: Sequence[Service], query: ListQuery) -> Sequence[Service]:
        default = self._conf.default_availability_zone if query.sort_key == "availability_zone" else None

        def key(service: Service) -> tuple[bool, Any, int]:
            value = getattr(service, query.sort_key) or default
            return value is not None, value, service.id

        return sorted(rows, key=key, reverse=query.sort_dir == "desc")
