"""What the control plane may ask of nodes: one method for each message of the bus.

Rows go in as they are and come back as plain dicts of columns; the wire's forms are made here. Whether
the node is up is the caller's to check first.

Each method names its mode. A cast returns as soon as the bus has the message and raises BusUnavailable
or HostNotUp (no server of that name has ever listened). A call returns the node's result and raises
what the node raised, RpcTimeout, BusUnavailable or HostNotUp.

Source: reference, RPC 6 and 7.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oslo_config import cfg

from tierce.model.clock import Clock, SystemClock
from tierce.model.context import RequestContext
from tierce.model.moments import written
from tierce.rpc import convert
from tierce.rpc.caller import Caller

Columns = dict[str, Any]


class ComputeClient:
    """Messages to the node agents. Thread-safe; one serves a whole process.

    `host` is a node's name, `container` a row of the container table.
    """

    def __init__(self, transport: Any, conf: cfg.ConfigOpts, clock: Clock | None = None) -> None:
        self._caller = Caller(transport, conf, clock or SystemClock())

    def close(self) -> None:
        """Give up what has not been sent yet."""
        self._caller.close()

    def _cast(self, context: RequestContext, host: str, method: str, container: Any, **more: Any) -> None:
        sent = convert.container_to_wire(container)
        # Our row says already which action holds it. A node of Zun that reads so does not let go at the end.
        sent["zun_object.data"]["task_state"] = None
        args = {"container": sent} | more
        self._caller.cast(context.replace(resource_uuid=container.uuid), host, method, args)

    def _call(self, context: RequestContext, host: str, method: str, container: Any, **more: Any) -> Any:
        args = {"container": convert.container_to_wire(container)} | more
        return self._caller.call(context, host, method, args)

    # --- life cycle: casts, each of an action that is queued ----------------------------------------

    def container_create(
        self,
        context: RequestContext,
        host: str,
        container: Any,
        *,
        requested_networks: Sequence[Mapping[str, Any]],
        requested_volumes: Mapping[str, Sequence[Mapping[str, Any]]],
        limits: Mapping[str, Any] | None = None,
        run: bool = False,
        pci_requests: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Create on the node, and start when `run`.

        `requested_networks` are in wire form. `requested_volumes` has, by container uuid, the set
        fields of each mount; `pci_requests` the set fields of each request.
        """
        self._cast(
            context,
            host,
            "container_create",
            container,
            limits=limits,
            requested_networks=requested_networks,
            requested_volumes={
                uuid: [convert.volume_mapping_to_wire(mount) for mount in mounts]
                for uuid, mounts in requested_volumes.items()
            },
            run=run,
            pci_requests=None if pci_requests is None else convert.pci_requests_to_wire(pci_requests),
        )

    def container_delete(
        self, context: RequestContext, host: str, container: Any, *, force: bool = False
    ) -> None:
        self._cast(context, host, "container_delete", container, force=force)

    def container_rebuild(self, context: RequestContext, host: str, container: Any, *, run: bool) -> None:
        self._cast(context, host, "container_rebuild", container, run=run)

    def container_reboot(
        self, context: RequestContext, host: str, container: Any, *, timeout: int | None
    ) -> None:
        """`timeout`: seconds between the stop signal and the kill; None leaves it to the node."""
        self._cast(context, host, "container_reboot", container, timeout=_grace(timeout))

    def container_stop(
        self, context: RequestContext, host: str, container: Any, *, timeout: int | None
    ) -> None:
        """`timeout`: as for a reboot."""
        self._cast(context, host, "container_stop", container, timeout=_grace(timeout))

    def container_start(self, context: RequestContext, host: str, container: Any) -> None:
        self._cast(context, host, "container_start", container)

    def container_pause(self, context: RequestContext, host: str, container: Any) -> None:
        self._cast(context, host, "container_pause", container)

    def container_unpause(self, context: RequestContext, host: str, container: Any) -> None:
        self._cast(context, host, "container_unpause", container)

    def container_kill(
        self, context: RequestContext, host: str, container: Any, *, signal: str | None
    ) -> None:
        """`signal`: a name or number; None is KILL."""
        self._cast(context, host, "container_kill", container, signal=signal)

    def resize_container(
        self, context: RequestContext, host: str, container: Any, *, patch: Mapping[str, Any]
    ) -> None:
        """`patch`: `memory` (text, MiB) and `cpu` (vCPUs)."""
        self._cast(context, host, "resize_container", container, patch=patch)

    def add_security_group(
        self, context: RequestContext, host: str, container: Any, *, security_group: str
    ) -> None:
        self._cast(context, host, "add_security_group", container, security_group=security_group)

    def remove_security_group(
        self, context: RequestContext, host: str, container: Any, *, security_group: str
    ) -> None:
        self._cast(context, host, "remove_security_group", container, security_group=security_group)

    def network_attach(
        self, context: RequestContext, host: str, container: Any, *, requested_network: Mapping[str, Any]
    ) -> None:
        """`requested_network`: in wire form."""
        self._cast(context, host, "network_attach", container, requested_network=requested_network)

    def network_detach(self, context: RequestContext, host: str, container: Any, *, network: str) -> None:
        """`network`: the id of the (Neutron) network."""
        self._cast(context, host, "network_detach", container, network=network)

    # --- looking in and answering at once: calls ----------------------------------------------------

    def container_show(self, context: RequestContext, host: str, container: Any) -> Columns:
        """The container's columns, brought up to date by its node."""
        return convert.columns(self._call(context, host, "container_show", container))

    def container_update(
        self, context: RequestContext, host: str, container: Any, *, patch: Mapping[str, Any]
    ) -> Columns:
        """`patch`: `memory` (text, MiB), `cpu` (vCPUs), `name`. Returns the columns as they are now."""
        return convert.columns(self._call(context, host, "container_update", container, patch=patch))

    def container_logs(
        self,
        context: RequestContext,
        host: str,
        container: Any,
        *,
        stdout: bool,
        stderr: bool,
        timestamps: bool,
        tail: str,
        since: float | None,
    ) -> str:
        """`tail`: `all` or a number of lines; `since`: unix seconds."""
        more = {
            "stdout": stdout,
            "stderr": stderr,
            "timestamps": timestamps,
            "tail": tail,
            "since": None if since is None else written(since),
        }
        text: str = self._call(context, host, "container_logs", container, **more)
        return text

    def container_exec(
        self,
        context: RequestContext,
        host: str,
        container: Any,
        *,
        command: str,
        run: bool,
        interactive: bool,
    ) -> dict[str, Any]:
        """`output` and `exit_code` when `run`, else `exec_id` and `token` of a session to connect to."""
        more = {"command": command, "run": run, "interactive": interactive}
        result: dict[str, Any] = self._call(context, host, "container_exec", container, **more)
        return result

    def container_exec_resize(
        self, context: RequestContext, host: str, *, exec_id: str, height: str | None, width: str | None
    ) -> None:
        args = {"exec_id": exec_id, "height": height, "width": width}
        self._caller.call(context, host, "container_exec_resize", args)

    def container_attach(self, context: RequestContext, host: str, container: Any) -> str:
        """The token with which a client may connect."""
        token: str = self._call(context, host, "container_attach", container)
        return token

    def container_resize(
        self, context: RequestContext, host: str, container: Any, *, height: str | None, width: str | None
    ) -> None:
        """Set the size of the terminal, in characters."""
        self._call(context, host, "container_resize", container, height=height, width=width)

    def container_top(
        self, context: RequestContext, host: str, container: Any, *, ps_args: str | None
    ) -> dict[str, Any]:
        result: dict[str, Any] = self._call(context, host, "container_top", container, ps_args=ps_args)
        return result

    def container_stats(self, context: RequestContext, host: str, container: Any) -> dict[str, Any]:
        result: dict[str, Any] = self._call(context, host, "container_stats", container)
        return result

    def container_get_archive(
        self, context: RequestContext, host: str, container: Any, *, path: str, encode_data: bool
    ) -> tuple[str, dict[str, Any]]:
        """A tar file (base64 when `encode_data`) and the stat of what is at `path`."""
        more = {"path": path, "encode_data": encode_data}
        data, stat = self._call(context, host, "container_get_archive", container, **more)
        return data, stat

    def container_put_archive(
        self, context: RequestContext, host: str, container: Any, *, path: str, data: str, decode_data: bool
    ) -> None:
        """`data`: a tar file, base64 when `decode_data`."""
        more = {"path": path, "data": data, "decode_data": decode_data}
        self._call(context, host, "container_put_archive", container, **more)

    def container_commit(
        self, context: RequestContext, host: str, container: Any, *, repository: str, tag: str | None
    ) -> None:
        """Cast: the node finds the action queued. (Zun's API calls, and waits for the uuid of an image.)"""
        self._cast(context, host, "container_commit", container, repository=repository, tag=tag)

    # --- images and networks of a node --------------------------------------------------------------

    def image_pull(self, context: RequestContext, host: str, image: Any) -> None:
        """Cast. `image`: a row of the image table."""
        self._caller.cast(context, host, "image_pull", {"image": convert.image_to_wire(image)})

    def image_delete(self, context: RequestContext, host: str, image: Any) -> None:
        """Call, where Zun casts: so the caller hears why not. `image`: a row of the image table."""
        self._caller.call(context, host, "image_delete", {"image": convert.image_to_wire(image)})

    def image_search(
        self,
        context: RequestContext,
        host: str | None,
        *,
        image: str,
        image_driver_name: str,
        exact_match: bool,
    ) -> list[dict[str, Any]]:
        """Call; on any node when `host` is None. No registry is named: its password would travel along."""
        args = {
            "image": image,
            "image_driver_name": image_driver_name,
            "exact_match": exact_match,
            "registry": None,
        }
        found: list[dict[str, Any]] = self._caller.call(context, host, "image_search", args)
        return found

    def network_create(self, context: RequestContext, host: str, *, neutron_net_id: str) -> Columns:
        """Call. The columns of the network row that the node made."""
        args = {"neutron_net_id": neutron_net_id}
        return convert.columns(self._caller.call(context, host, "network_create", args))

    def network_delete(self, context: RequestContext, host: str, network: Any) -> None:
        """Call. `network`: a row of the network table, of this host."""
        args = {"network": convert.network_to_wire(network)}
        self._caller.call(context, host, "network_delete", args)


def _grace(seconds: int | None) -> str | None:
    """Seconds as text: Zun's nodes take the number 0 for nothing given."""
    return None if seconds is None else str(seconds)
