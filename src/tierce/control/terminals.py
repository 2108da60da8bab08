"""Terminals: where a client connects to one, and what size it has."""

import shlex
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.config.addresses import in_url
from tierce.control.node_calls import NodeCalls
from tierce.db import terminals
from tierce.db.tables import Container
from tierce.model.context import RequestContext
from tierce.model.errors import ExecNotFound, InvalidValue, NoInteractiveFlag
from tierce.rpc.client import ComputeClient

_SCHEMES: Final = ("ws", "wss")
"""Clients refuse to connect by any other."""


class Terminals:
    """Every method raises, besides what `NodeCalls.to_node_of` does, what the node answers: Conflict
    when the runtime says that the container's real state forbids it, RuntimeUnreachable, RpcTimeout.
    """

    def __init__(self, conf: cfg.ConfigOpts, calls: NodeCalls, compute: ComputeClient) -> None:
        """Raises InvalidValue for a public address of the proxy that no client could use."""
        self._base_url = _base_url(conf)
        self._calls = calls
        self._compute = compute

    def attach(self, context: RequestContext, ident: str) -> str:
        """The URL at which a client may connect to the first process, for a while.

        URLs that were given before stay good. Raises NoInteractiveFlag.
        """
        with self._calls.to_node_of(context, ident, "attach", _require_interactive) as (container, host):
            token = self._compute.container_attach(context, host, container)
        return self._url(token=token, uuid=container.uuid)

    def prepare(
        self, context: RequestContext, ident: str, command: Sequence[str], interactive: bool
    ) -> dict[str, Any]:
        """Have a command ready, which runs once a client connects: `exec_id` and `proxy_url`.

        `output` and `exit_code` are null. With `interactive` it gets a terminal and input.
        """
        with self._calls.to_node_of(context, ident, "execute") as (container, host):
            result = self._compute.container_exec(
                context, host, container, command=shlex.join(command), run=False, interactive=interactive
            )
        exec_id = result["exec_id"]
        url = self._url(token=result["token"], uuid=container.uuid, exec_id=exec_id)
        return {"output": None, "exit_code": None, "exec_id": exec_id, "proxy_url": url}

    def resize(self, context: RequestContext, ident: str, height: int, width: int) -> None:
        """Set the size of the container's terminal, in characters."""
        with self._calls.to_node_of(context, ident, "resize") as (container, host):
            self._compute.container_resize(context, host, container, height=str(height), width=str(width))

    def resize_exec(self, context: RequestContext, ident: str, exec_id: str, height: int, width: int) -> None:
        """Set the size of the terminal of one of the container's execs, begun or not.

        Raises ExecNotFound, and Conflict when it has ended.
        """

        def require_its_own(session: Session, container: Container) -> None:
            if not terminals.has_exec(session, container, exec_id):
                raise ExecNotFound(exec_id)

        with self._calls.to_node_of(context, ident, "execute_resize", require_its_own) as (_, host):
            self._compute.container_exec_resize(
                context, host, exec_id=exec_id, height=str(height), width=str(width)
            )

    def _url(self, **parameters: str) -> str:
        """All of them are tokens and ids, in which nothing needs an escape."""
        joint = "&" if urlsplit(self._base_url).query else "?"
        return self._base_url + joint + "&".join(f"{name}={value}" for name, value in parameters.items())


def _require_interactive(_session: Session, container: Container) -> None:
    if not container.interactive:
        raise NoInteractiveFlag(
            "Container doesn't support to be attached, please check the interactive set properly"
        )


def _base_url(conf: cfg.ConfigOpts) -> str:
    proxy = conf.websocket_proxy
    url: str = proxy.base_url or f"ws://{in_url(proxy.wsproxy_host)}:{proxy.wsproxy_port}/"
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in _SCHEMES or not parts.hostname:
        raise InvalidValue(f"[websocket_proxy] base_url must be ws://... or wss://..., not {url}.")
    return url
