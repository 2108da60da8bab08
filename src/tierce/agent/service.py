"""The RPC endpoint of the node: casts wake the queue, calls look inside a container."""

import contextlib
import logging
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from tierce.agent import archives, received
from tierce.agent.adoption import adopt
from tierce.agent.executor import Executor
from tierce.agent.networks import KeptNetworks, WireNetwork
from tierce.agent.operations import waits
from tierce.agent.operations.base import Plugs, checked_arguments, refused_arguments, runtime_name
from tierce.agent.pulls import PulledImage, Pulls
from tierce.agent.resizing import Resizing
from tierce.agent.terminals import Terminals
from tierce.db import actions, containers
from tierce.db.tables import Container, Network
from tierce.model.archive import content
from tierce.model.context import RequestContext
from tierce.model.errors import (
    Conflict,
    Invalid,
    OperationNotSupported,
    RuntimeConflict,
    RuntimeNotFound,
    RuntimeUnreachable,
)
from tierce.rpc import convert

LOG = logging.getLogger(__name__)

T = TypeVar("T")


class WireContainer(Protocol):
    """What a message says of a container: enough to find it."""

    uuid: str


class WireRequests(Protocol):
    """What a message says of devices that a container's networks ask for."""

    requests: Sequence[object] | None


class ComputeEndpoint:
    """One method per message, by its name on the wire.

    A cast is a wake-up: the work is the queued action that its sender committed before. A Zun API
    process commits a row without our columns, which is queued here on arrival.
    """

    def __init__(
        self,
        plugs: Plugs,
        pulls: Pulls,
        executor: Executor,
        refresh_now: Callable[[str], None],
        resizing: Resizing,
        terminals: Terminals,
    ) -> None:
        self._plugs = plugs
        self._pulls = pulls
        self._kept = KeptNetworks(plugs)
        self._terminals = terminals
        self._executor = executor
        self._refresh_now = refresh_now
        self._resizing = resizing

    # --- casts ----------------------------------------------------------------------------------

    def container_create(
        self,
        context: RequestContext,
        limits: Mapping[str, Any] | None,
        requested_networks: object,
        requested_volumes: Mapping[str, Any],
        container: WireContainer,
        run: bool,
        pci_requests: WireRequests | None = None,
    ) -> None:
        def read() -> dict[str, Any]:
            if pci_requests is not None and pci_requests.requests:
                raise Invalid("The container's node hands out no devices, and a network asks for one.")
            return {"run": run, "requested_networks": received.networks(requested_networks)}

        mounts = [convert.columns(mount) for mount in requested_volumes.get(container.uuid, ())]
        self._queue(context, container, "create", checked_arguments(read), mounts)

    def container_delete(
        self, context: RequestContext, container: WireContainer, force: bool = False
    ) -> None:
        self._queue_at_once(context, container, "delete", {"force": force, "stop_timeout": None})

    def container_start(self, context: RequestContext, container: WireContainer) -> None:
        self._queue(context, container, "start", {})

    def container_stop(
        self, context: RequestContext, container: WireContainer, timeout: str | int | None
    ) -> None:
        self._queue(
            context, container, "stop", checked_arguments(lambda: {"timeout": received.seconds(timeout)})
        )

    def container_reboot(
        self, context: RequestContext, container: WireContainer, timeout: str | int | None
    ) -> None:
        self._queue(
            context, container, "reboot", checked_arguments(lambda: {"timeout": received.seconds(timeout)})
        )

    def container_pause(self, context: RequestContext, container: WireContainer) -> None:
        self._queue(context, container, "pause", {})

    def container_unpause(self, context: RequestContext, container: WireContainer) -> None:
        self._queue(context, container, "unpause", {})

    def container_kill(self, context: RequestContext, container: WireContainer, signal: str | None) -> None:
        self._queue_at_once(context, container, "kill", {"signal": received.text(signal)})

    def network_attach(
        self, context: RequestContext, container: WireContainer, requested_network: object
    ) -> None:
        arguments = checked_arguments(lambda: {"requested_networks": received.networks([requested_network])})
        self._queue(context, container, "network_attach", arguments)

    def network_detach(self, context: RequestContext, container: WireContainer, network: str) -> None:
        self._queue(context, container, "network_detach", {"left_network": network})

    def add_security_group(
        self, context: RequestContext, container: WireContainer, security_group: str
    ) -> None:
        self._queue(context, container, "add_security_group", {"security_group": security_group})

    def remove_security_group(
        self, context: RequestContext, container: WireContainer, security_group: str
    ) -> None:
        self._queue(context, container, "remove_security_group", {"security_group": security_group})

    def container_rebuild(self, context: RequestContext, container: WireContainer, run: bool) -> None:
        self._queue(context, container, "rebuild", {"run": run})

    def resize_container(
        self, context: RequestContext, container: WireContainer, patch: Mapping[str, Any]
    ) -> None:
        self._resizing.begin(context, container.uuid, patch)

    def container_commit(
        self, context: RequestContext, container: WireContainer, repository: str, tag: str | None
    ) -> None:
        """A Zun API process wants a Glance image: OperationNotSupported."""
        if self._is_queued(context, container, "commit"):
            self._executor.wake(container.uuid)
            return
        refusal = OperationNotSupported("This node keeps the images of containers itself, and not in Glance.")
        self._queue(context, container, "commit", refused_arguments(refusal))
        raise refusal

    def _queue(
        self,
        context: RequestContext,
        container: WireContainer,
        action: str,
        arguments: dict[str, Any],
        mounts: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        if not self._is_queued(context, container, action):
            self._plugs.database.write(
                lambda session: adopt(
                    session, self._plugs, context, container.uuid, action, arguments, mounts
                )
            )
        self._executor.wake(container.uuid)

    def _queue_at_once(
        self, context: RequestContext, container: WireContainer, action: str, arguments: dict[str, Any]
    ) -> None:
        """The same for an action that need not wait for what the container's turn waits for."""
        busy = self._executor.is_busy(container.uuid)  # before a wake makes it so
        self._queue(context, container, action, arguments)
        if busy:
            waits.cut_short(self._plugs, container.uuid)

    def _is_queued(self, context: RequestContext, container: WireContainer, action: str) -> bool:
        """Whether the sender has queued the action itself.

        Tierce's API says so in the message; where that says nothing, the database tells.
        """
        return context.resource_uuid == container.uuid or self._plugs.database.read(
            lambda session: actions.is_ours(session, container.uuid, context.request_id, action)
        )

    def image_pull(self, context: RequestContext, image: PulledImage) -> None:
        self._pulls.begin(image)

    # --- calls ----------------------------------------------------------------------------------

    def network_create(self, context: RequestContext, neutron_net_id: str) -> Network:
        return self._kept.create(context, neutron_net_id)

    def network_delete(self, context: RequestContext, network: WireNetwork) -> None:
        self._kept.delete(network)

    def image_delete(self, context: RequestContext, image: PulledImage) -> None:
        """Remove the image and its record. A Zun API process sends this as a cast."""
        self._pulls.remove(image)

    def image_search(
        self,
        context: RequestContext,
        image: str,
        image_driver_name: str,
        exact_match: bool,
        registry: object | None = None,
    ) -> list[dict[str, Any]]:
        if image_driver_name != "docker":
            raise OperationNotSupported(
                f"This node cannot search with the image driver {image_driver_name}. Use docker."
            )
        return [
            {
                "name": found.name,
                "description": found.description,
                "is_automated": found.is_automated,
                "metadata": {"is_official": found.is_official, "star_count": found.star_count},
            }
            for found in self._plugs.images.search(image, exact_match)
        ]

    def container_show(self, context: RequestContext, container: WireContainer) -> Container:
        """The container, brought up to date with the runtime, or as it was last seen while that is away.

        For a Zun API process, which asks this of every container that it shows. Raises ContainerNotFound.
        """
        with contextlib.suppress(RuntimeUnreachable):
            self._refresh_now(container.uuid)
        return self._plugs.database.read(lambda session: containers.require(session, container.uuid))

    def container_update(
        self, context: RequestContext, container: WireContainer, patch: Mapping[str, Any]
    ) -> Container:
        return self._resizing.finish(context, container.uuid, patch)

    def container_logs(
        self,
        context: RequestContext,
        container: WireContainer,
        stdout: bool,
        stderr: bool,
        timestamps: bool,
        tail: str | int | None,
        since: str | None,
    ) -> str:
        output = self._ask(
            container,
            lambda name: self._plugs.runtime.containers.logs(
                name,
                stdout=stdout,
                stderr=stderr,
                timestamps=timestamps,
                tail=int(tail) if tail is not None and str(tail).isdecimal() else None,
                since=received.since(since),
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
        """Run a command to its end, or have it ready for a client to start by connecting.

        Raises ExecTimeout, Invalid for unbalanced quotes.
        """
        try:
            words = shlex.split(command)
        except ValueError as exc:
            raise Invalid(f"The command cannot be split into words: {exc}.") from exc
        if not run:
            exec_id, token = self._ask(
                container, lambda name: self._terminals.prepare(container.uuid, name, words, interactive)
            )
            return {"output": None, "exit_code": None, "exec_id": exec_id, "token": token}
        result = self._ask(
            container,
            lambda name: self._plugs.runtime.containers.execute(
                name, words, self._plugs.conf.docker.execute_timeout, tty=interactive
            ),
        )
        return {
            "output": result.output.decode("utf-8", "replace"),
            "exit_code": result.exit_code,
            "exec_id": None,
            "token": None,
        }

    def container_exec_resize(
        self, context: RequestContext, exec_id: str, height: str | int | None, width: str | int | None
    ) -> None:
        self._terminals.resize_exec(exec_id, received.characters(height), received.characters(width))

    def container_attach(self, context: RequestContext, container: WireContainer) -> str:
        """A token to connect with. Zun's API process lets nobody attach who may not."""
        return self._ask(container, lambda name: self._terminals.attach(container.uuid, name))

    def container_resize(
        self,
        context: RequestContext,
        container: WireContainer,
        height: str | int | None,
        width: str | int | None,
    ) -> Container | None:
        size = received.characters(height), received.characters(width)
        self._ask(container, lambda name: self._terminals.resize(name, *size))
        return self._plugs.database.read(lambda session: containers.find(session, container.uuid))

    def container_get_archive(
        self, context: RequestContext, container: WireContainer, path: str, encode_data: bool
    ) -> tuple[str, dict[str, Any]]:
        limit = self._plugs.conf.max_archive_size
        return self._ask(
            container,
            lambda name: archives.read(
                self._plugs.runtime.archives, name, path, encode=encode_data, limit=limit
            ),
        )

    def container_put_archive(
        self, context: RequestContext, container: WireContainer, path: str, data: str, decode_data: bool
    ) -> None:
        tar = content(data, encoded=decode_data)
        self._ask(container, lambda name: self._plugs.runtime.archives.put(name, path, tar))

    def container_top(
        self,
        context: RequestContext,
        container: WireContainer,
        ps_args: str | None,
    ) -> dict[str, Any]:
        wanted = received.text(ps_args)
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
