"""Looking inside a container: synchronous calls to its node."""

import shlex
from collections.abc import Sequence
from typing import Any

from tierce.control.node_calls import NodeCalls
from tierce.model.context import RequestContext
from tierce.model.spec import LogsRequest
from tierce.rpc.client import ComputeClient


class Inspection:
    """Every method raises, besides what `NodeCalls.to_node_of` does, what the node answers: Conflict
    when the runtime says that the container's real state forbids it, RuntimeUnreachable, RpcTimeout.
    """

    def __init__(self, calls: NodeCalls, compute: ComputeClient) -> None:
        self._calls = calls
        self._compute = compute

    def logs(self, context: RequestContext, ident: str, request: LogsRequest) -> str:
        """What it wrote; the newest part when there is more than `[agent] logs_limit`."""
        with self._calls.to_node_of(context, ident, "logs") as (container, host):
            return self._compute.container_logs(
                context,
                host,
                container,
                stdout=request.stdout,
                stderr=request.stderr,
                timestamps=request.timestamps,
                tail="all" if request.tail is None else str(request.tail),
                since=request.since,
            )

    def execute(
        self, context: RequestContext, ident: str, command: Sequence[str], interactive: bool
    ) -> dict[str, Any]:
        """Run a command to its end, with a terminal if `interactive`.

        Gives `output`, `exit_code`, and `exec_id`, `proxy_url` null. Raises ExecTimeout after
        `[docker] execute_timeout`.
        """
        with self._calls.to_node_of(context, ident, "execute") as (container, host):
            result = self._compute.container_exec(
                context, host, container, command=shlex.join(command), run=True, interactive=interactive
            )
        return {
            "output": result["output"],
            "exit_code": result["exit_code"],
            "exec_id": None,
            "proxy_url": None,
        }

    def top(self, context: RequestContext, ident: str, ps_args: str | None) -> dict[str, Any]:
        """Its processes: `Titles` and `Processes`."""
        with self._calls.to_node_of(context, ident, "top") as (container, host):
            return self._compute.container_top(context, host, container, ps_args=ps_args)

    def stats(self, context: RequestContext, ident: str) -> dict[str, Any]:
        """One sample of what it uses, under the documented keys."""
        with self._calls.to_node_of(context, ident, "stats") as (container, host):
            return self._compute.container_stats(context, host, container)
