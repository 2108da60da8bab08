"""Reading nodes."""

import functools
from collections.abc import Sequence

from tierce.control.lookup import by_uuid_or_name
from tierce.control.policy import Policy
from tierce.db import nodes
from tierce.db.engine import Database
from tierce.db.tables import ComputeNode
from tierce.model.context import RequestContext
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
        return self._database.read(
            lambda session: by_uuid_or_name(ident, functools.partial(nodes.get, session))
        )
