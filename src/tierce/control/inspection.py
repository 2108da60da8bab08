"""Looking inside a container: synchronous calls to its node."""

import contextlib
import shlex
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control import liveness, lookup
from tierce.control.policy import Policy
from tierce.db.engine import Database
from tierce.db.tables import Container
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import ServiceBusy
from tierce.model.lifecycle import require_allowed
from tierce.model.spec import LogsRequest
from tierce.rpc.client import ComputeClient

_WAIT_FOR_A_PLACE = 1.0
"""Seconds; enough for a burst of short calls, too short for one that hangs to be noticed by others."""


class Inspection:
    """Every method raises, besides what `Lifecycle.start` does, what the node answers: Conflict when
    the runtime says that the container's real state forbids it, RuntimeUnreachable, RpcTimeout; and
    ServiceBusy when too many wait for nodes already.
    """

    def __init__(
        self, conf: cfg.ConfigOpts, database: Database, policy: Policy, compute: ComputeClient, clock: Clock
    ) -> None:
        self._down_time = conf.service_down_time
        self._database = database
        self._policy = policy
        self._compute = compute
        self._clock = clock
        # A node that hangs must not take every thread that serves requests.
        self._places = threading.BoundedSemaphore(max(1, conf.api.threads // 2))

    def logs(self, context: RequestContext, ident: str, request: LogsRequest) -> str:
        """What it wrote; the newest part when there is more than `[agent] logs_limit`."""
        container, host = self._reach(context, ident, "logs")
        with self._place():
            return self._compute.container_logs(
                context,
                host,
                container,
                stdout=request.stdout,
                stderr=request.stderr,
                timestamps=request.timestamps,
                tail="all" if request.tail is None else str(request.tail),
                since=None if request.since is None else str(request.since),
            )

    def execute(self, context: RequestContext, ident: str, command: Sequence[str]) -> dict[str, Any]:
        """Run a command to its end: `output`, `exit_code`, and `exec_id`, `proxy_url` null.

        Raises ExecTimeout after `[docker] execute_timeout`.
        """
        container, host = self._reach(context, ident, "execute")
        with self._place():
            result = self._compute.container_exec(
                context, host, container, command=shlex.join(command), run=True, interactive=False
            )
        return {
            "output": result["output"],
            "exit_code": result["exit_code"],
            "exec_id": None,
            "proxy_url": None,
        }

    def top(self, context: RequestContext, ident: str, ps_args: str | None) -> dict[str, Any]:
        """Its processes: `Titles` and `Processes`."""
        container, host = self._reach(context, ident, "top")
        with self._place():
            return self._compute.container_top(context, host, container, ps_args=ps_args)

    def stats(self, context: RequestContext, ident: str) -> dict[str, Any]:
        """One sample of what it uses, under the documented keys."""
        container, host = self._reach(context, ident, "stats")
        with self._place():
            return self._compute.container_stats(context, host, container)

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        """One of the places for requests that wait for a node; half of all may do that at once."""
        if not self._places.acquire(timeout=_WAIT_FOR_A_PLACE):
            raise ServiceBusy("Too many requests wait for nodes already. Try again later.")
        try:
            yield
        finally:
            self._places.release()

    def _reach(self, context: RequestContext, ident: str, action: str) -> tuple[Container, str]:
        def work(session: Session) -> tuple[Container, str]:
            container = lookup.permitted(session, self._policy, context, ident, f"container:{action}")
            require_allowed(action, container.uuid, container.status, container.task_state)
            host = liveness.require_up(session, container, self._clock.now(), self._down_time)
            return container, host

        return self._database.read(work)
