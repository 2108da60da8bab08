"""Reading nodes and their services."""

import dataclasses
import datetime
from collections.abc import Sequence

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control.lookup import canonical_uuid
from tierce.control.policy import Policy
from tierce.db import nodes, services
from tierce.db.engine import Database
from tierce.db.tables import ComputeNode
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import ComputeNodeNotFound
from tierce.model.spec import ListQuery


class Hosts:
    def __init__(self, database: Database, policy: Policy) -> None:
        self._database = database
        self._policy = policy

    def list(self, context: RequestContext, query: ListQuery) -> Sequence[ComputeNode]:
        """One page of nodes. Raises ComputeNodeNotFound for a bad marker."""
        self._policy.require(context, "host:get_all")
        return self._database.read(lambda session: nodes.page(session, query))

    def get(self, context: RequestContext, ident: str) -> ComputeNode:
        """One node by uuid or host name. Raises ComputeNodeNotFound, Conflict."""
        self._policy.require(context, "host:get")
        as_uuid = canonical_uuid(ident)

        def work(session: Session) -> ComputeNode:
            if as_uuid is not None:
                try:
                    return nodes.get(session, as_uuid, by_uuid=True)
                except ComputeNodeNotFound:
                    pass
            return nodes.get(session, ident, by_uuid=False)

        return self._database.read(work)


@dataclasses.dataclass(frozen=True, slots=True)
class ServiceReport:
    """A service and whether it is up."""

    id: int
    host: str | None
    binary: str | None
    state: str
    disabled: bool | None
    disabled_reason: str | None
    forced_down: bool | None
    report_count: int
    last_seen_up: datetime.datetime | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None
    availability_zone: str


class HostServices:
    def __init__(self, conf: cfg.ConfigOpts, database: Database, policy: Policy, clock: Clock) -> None:
        self._conf = conf
        self._database = database
        self._policy = policy
        self._clock = clock

    def list(self, context: RequestContext) -> Sequence[ServiceReport]:
        """Every service, oldest first."""
        self._policy.require(context, "zun-service:get_all")
        now = self._clock.now()
        down_time, zone = self._conf.service_down_time, self._conf.default_availability_zone
        return [
            ServiceReport(
                id=service.id,
                host=service.host,
                binary=service.binary,
                state="up" if services.is_up(service, now, down_time) else "down",
                disabled=service.disabled,
                disabled_reason=service.disabled_reason,
                forced_down=service.forced_down,
                report_count=service.report_count,
                last_seen_up=service.last_seen_up,
                created_at=service.created_at,
                updated_at=service.updated_at,
                availability_zone=service.availability_zone or zone,
            )
            for service in self._database.read(services.every)
        ]
