"""Reading and naming containers."""

from collections.abc import Hashable, Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy import Row
from sqlalchemy.orm import Session

from tierce.control import lookup
from tierce.control.creation import Creation
from tierce.control.intake import Intake
from tierce.control.liveness import Liveness
from tierce.control.policies.container import ADMIN_FIELDS
from tierce.control.policy import Policy
from tierce.db import containers
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict
from tierce.model.lifecycle import require_allowed
from tierce.model.spec import ContainerSpec, ListQuery


class Containers:
    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        intake: Intake,
        policy: Policy,
        liveness: Liveness,
        creation: Creation,
        clock: Clock,
    ) -> None:
        self._scope = conf.compute.unique_container_name_scope
        self._database = database
        self._intake = intake
        self._policy = policy
        self._liveness = liveness
        self._creation = creation
        self._clock = clock

    def create(self, context: RequestContext, spec: ContainerSpec, run: bool) -> Container:
        """Accept a container; see `Creation.create`."""
        return self._creation.create(context, spec, run)

    def list(self, context: RequestContext, query: ListQuery, all_projects: bool) -> Sequence[Row[Any]]:
        """One page of containers, newest data that the runtime's events brought.

        Raises PolicyNotAuthorized (also for a filter or an order by a hidden field), ContainerNotFound
        for a bad marker, InvalidParameterValue for a bad sort key.
        """
        context = self._require_listing(context, query, all_projects)
        return self._database.read(lambda session: containers.page(session, context, query))

    def fingerprint(self, context: RequestContext, query: ListQuery, all_projects: bool) -> Hashable:
        """What changes whenever a page of `list` does; raises as it does but for a bad marker or key."""
        context = self._require_listing(context, query, all_projects)
        return self._database.read(lambda session: containers.fingerprint(session, context))

    def _require_listing(
        self, context: RequestContext, query: ListQuery, all_projects: bool
    ) -> RequestContext:
        self._policy.require(context, "container:get_all")
        if all_projects:
            self._policy.require(context, "container:get_all_all_projects")
        for field in (*query.filters, query.sort_key):
            self._policy.require(context, f"container:get_one:{field}")
        return context.spanning() if all_projects else context

    def get(self, context: RequestContext, ident: str, all_projects: bool = False) -> Container:
        """One container by uuid or name. Raises ContainerNotFound, Conflict, PolicyNotAuthorized."""
        if all_projects:
            self._policy.require(context, "container:get_one_all_projects")
        return self._database.read(
            lambda session: lookup.permitted(session, self._policy, context, ident, "container:get_one")
        )

    def down_hosts(self) -> frozenset[str]:
        """The nodes that nothing new is heard from: what is known of their containers may be old."""
        return self._database.read(self._liveness.down_hosts)

    def hidden_fields(self, context: RequestContext, fields: Sequence[str]) -> frozenset[str]:
        """Those of `fields` that the caller may not see in a container."""
        ruled = set(ADMIN_FIELDS) | self._policy.written("container:get_one:")
        return frozenset(
            field
            for field in fields
            if field in ruled and not self._policy.allows(context, f"container:get_one:{field}")
        )

    def rename(self, context: RequestContext, ident: str, name: str) -> Container:
        """Give a container another name. Raises Conflict, ContainerAlreadyExists."""

        def work(session: Session) -> Container:
            container = lookup.permitted(session, self._policy, context, ident, "container:rename")
            require_allowed("rename", container.uuid, container.status, container.task_state)
            if container.name == name:
                raise Conflict("The new name for the container is the same as the old name.")
            return containers.rename(session, container, name, self._scope, self._clock.now())

        return self._intake.decide(work)
