"""Wake-up messages to nodes: sent after the action is committed, and never more than a hint.

A message that cannot be sent is logged and forgotten. The node finds the action at its next look.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import BusUnavailable, HostNotUp
from tierce.networks.base import RequestedNetwork
from tierce.observability import logs
from tierce.rpc.client import ComputeClient

LOG = logging.getLogger(__name__)


class Messages:
    def __init__(self, compute: ComputeClient) -> None:
        self._compute = compute

    def create(
        self, context: RequestContext, container: Container, requested: Sequence[RequestedNetwork], run: bool
    ) -> None:
        networks = [network.to_wire() for network in requested]
        self._send(
            container,
            lambda host: self._compute.container_create(
                context,
                host,
                container,
                limits={},
                requested_networks=networks,
                requested_volumes={container.uuid: []},
                run=run,
                pci_requests=None,
            ),
        )

    def start(self, context: RequestContext, container: Container) -> None:
        self._send(container, lambda host: self._compute.container_start(context, host, container))

    def stop(self, context: RequestContext, container: Container, timeout: int | None) -> None:
        self._send(
            container, lambda host: self._compute.container_stop(context, host, container, timeout=timeout)
        )

    def reboot(self, context: RequestContext, container: Container, timeout: int | None) -> None:
        self._send(
            container, lambda host: self._compute.container_reboot(context, host, container, timeout=timeout)
        )

    def pause(self, context: RequestContext, container: Container) -> None:
        self._send(container, lambda host: self._compute.container_pause(context, host, container))

    def unpause(self, context: RequestContext, container: Container) -> None:
        self._send(container, lambda host: self._compute.container_unpause(context, host, container))

    def kill(self, context: RequestContext, container: Container, signal: str | None) -> None:
        self._send(
            container, lambda host: self._compute.container_kill(context, host, container, signal=signal)
        )

    def rebuild(self, context: RequestContext, container: Container, run: bool) -> None:
        self._send(container, lambda host: self._compute.container_rebuild(context, host, container, run=run))

    def resize(self, context: RequestContext, container: Container, patch: Mapping[str, Any]) -> None:
        self._send(
            container, lambda host: self._compute.resize_container(context, host, container, patch=patch)
        )

    def commit(self, context: RequestContext, container: Container, repository: str, tag: str) -> None:
        self._send(
            container,
            lambda host: self._compute.container_commit(
                context, host, container, repository=repository, tag=tag
            ),
        )

    def network_attach(
        self, context: RequestContext, container: Container, requested: RequestedNetwork
    ) -> None:
        network = requested.to_wire()
        self._send(
            container,
            lambda host: self._compute.network_attach(context, host, container, requested_network=network),
        )

    def network_detach(self, context: RequestContext, container: Container, network: str) -> None:
        self._send(
            container,
            lambda host: self._compute.network_detach(context, host, container, network=network),
        )

    def add_security_group(self, context: RequestContext, container: Container, group: str) -> None:
        self._send(
            container,
            lambda host: self._compute.add_security_group(context, host, container, security_group=group),
        )

    def remove_security_group(self, context: RequestContext, container: Container, group: str) -> None:
        self._send(
            container,
            lambda host: self._compute.remove_security_group(context, host, container, security_group=group),
        )

    def delete(self, context: RequestContext, container: Container, force: bool) -> None:
        self._send(
            container, lambda host: self._compute.container_delete(context, host, container, force=force)
        )

    def _send(self, container: Container, send: Callable[[str], None]) -> None:
        if container.host is None:
            return
        with logs.about(container=container.uuid):
            try:
                send(container.host)
            except (BusUnavailable, HostNotUp) as exc:
                LOG.warning("Container %s waits for its node's next look: %s", container.uuid, exc)
