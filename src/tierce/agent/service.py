"""The RPC endpoint of the node: casts wake the queue, calls look inside a container."""

import logging
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy.orm import Session

from tierce.agent.operations.base import Plugs, runtime_name
from tierce.agent.pulls import PulledImage, Pulls
from tierce.db import actions
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, Invalid, RuntimeConflict, RuntimeNotFound

LOG = logging.getLogger(__name__)

T = TypeVar("T")


class WireContainer(Protocol):
    """What a message says of a container: enough to find it."""

    uuid: str


class ComputeEndpoint:
    """One method per message, by its name on the wire.

    A cast is a wake-up: the work is the queued action that its sender committed before. A Zun API
    process commits a row without our columns, which is queued here on arrival.
    """

    def __init__(
        self,
        plugs: Plugs,
        pulls: Pulls,
        wake: Callable[[str], None],
        refresh_now: Callable[[str], None],
    ) -> None:
        self._plugs = plugs
        self._pulls = pulls
        self._wake = wake
        self._refresh_now = refresh_now

    # --- casts ----------------------------------------------------------------------------------

    def container_create(
        self,
        context: RequestContext,
        limits: Mapping[str, Any] | None,
        requested_networks: Sequence[Mapping[str, Any]],
        requested_volumes: Mapping[str, Any],
        container: WireContainer,
        run: bool,
        pci_requests: object | None = None,
    ) -> None:
        self._queue(
            context, container, "create", {"run": run, "requested_networks": list(requested_networks)}
        )

    def container_delete(
        self, context: RequestContext, container: WireContainer, force: bool = False
    ) -> None:
        self._queue(context, container, "delete", {"force": force, "stop_timeout": None})

    def container_start(self, context: RequestContext, container: WireContainer) -> None:
        self._queue(context, container, "start", {})

    def container_stop(
        self, context: RequestContext, container: WireContainer, timeout: str | int | None
    ) -> None:
        self._queue(context, container, "stop", {"timeout": _seconds(timeout)})

    def container_reboot(
        self, context: RequestContext, container: WireContainer, timeout: str | int | None
    ) -> None:
        self._queue(context, container, "reboot", {"timeout": _seconds(timeout)})

    def container_pause(self, context: RequestContext, container: WireContainer) -> None:
        self._queue(context, container, "pause", {})

    def container_unpause(self, context: RequestContext, container: WireContainer) -> None:
        self._queue(context, container, "unpause", {})

    def container_kill(self, context: RequestContext, container: WireContainer, signal: str | None) -> None:
        self._queue(context, container, "kill", {"signal": None if signal == "None" else signal})

    def _queue(
        self, context: RequestContext, container: WireContainer, action: str, arguments: dict[str, Any]
    ) -> None:
        def adopt(session: Session) -> None:
            actions.adopt(
                session,
                action=action,
                container_uuid=container.uuid,
                request_id=context.request_id,
                host=self._plugs.host,
                arguments=arguments,
            )

        if not self._plugs.database.read(
            lambda session: actions.is_ours(session, container.uuid, context.request_id)
        ):
            self._plugs.database.write(adopt)
        self._wake(container.uuid)

    def image_pull(self, context: RequestContext, image: PulledImage) -> None:
        self._pulls.begin(image)

    # --- calls ----------------------------------------------------------------------------------

    def container_logs(
        self,
        context: RequestContext,
        container: WireContainer,
        stdout: bool,
        stderr: bool,
        timestamps: bool,
        tail: str | int | None,
        since: str | float | None,
    ) -> str:
        output = self._ask(
            container,
            lambda name: self._plugs.runtime.containers.logs(
                name,
                stdout=stdout,
                stderr=stderr,
                timestamps=timestamps,
                tail=int(tail) if tail is not None and str(tail).isdecimal() else None,
                since=None if since in (None, "None") else float(since or 0),
                limit=self._plugs.conf.agent.logs_limit,
            ),
        )
        return output.decode("utf-8", "replace")

    def container_exec(
        self,
        context: RequestContext,
        container: WireContainer,
        command: str,
        run: bool,
        interactive: bool,
    ) -> dict[str, Any]:
        """Run a command to its end. Raises ExecTimeout, Invalid for unbalanced quotes."""
        if not run:
            raise Invalid("This node has no interactive sessions.")
        try:
            words = shlex.split(command)
        except ValueError as exc:
            raise Invalid(f"The command cannot be split into words: {exc}.") from exc
        result = self._ask(
            container,
            lambda name: self._plugs.runtime.containers.execute(
                name, words, self._plugs.conf.docker.execute_timeout
            ),
        )
        return {
            "output": result.output.decode("utf-8", "replace"),
            "exit_code": result.exit_code,
            "exec_id": None,
            "token": None,
        }

    def container_top(
        self,
        context: RequestContext,
        container: WireContainer,
        ps_args: str | None,
    ) -> dict[str, Any]:
        wanted = None if ps_args in (None, "None") else ps_args
        return self._ask(container, lambda name: self._plugs.runtime.containers.top(name, wanted))

    def container_stats(self, context: RequestContext, container: WireContainer) -> dict[str, Any]:
        sample = self._ask(container, self._plugs.runtime.containers.stats)
        mebibyte = 1024 * 1024
        limit = sample.memory_limit
        return {
            "CONTAINER": getattr(container, "name", None) or container.uuid,
            "CPU %": sample.cpu_percent,
            "MEM USAGE(MiB)": sample.memory_usage / mebibyte,
            "MEM LIMIT(MiB)": limit / mebibyte,
            "MEM %": sample.memory_usage / limit * 100 if limit else 0.0,
            "BLOCK I/O(B)": f"{sample.block_read}/{sample.block_write}",
            "NET I/O(B)": f"{sample.network_rx}/{sample.network_tx}",
        }

    def _ask(self, container: WireContainer, ask: Callable[[str], T]) -> T:
        """Ask the runtime; where it finds another state than the caller assumed, the row is corrected
        before the caller is told.
        """
        try:
            return ask(runtime_name(container.uuid))
        except (RuntimeConflict, RuntimeNotFound) as exc:
            self._refresh_now(container.uuid)
            raise Conflict(exc.message) from exc


def _seconds(timeout: str | int | None) -> int | None:
    return None if timeout in (None, "", "None") else int(timeout or 0)
