"""A node's end of the bus: serves an endpoint object that it is given.

Only the methods of the contract can be reached by name. The endpoint gets a RequestContext and the
arguments by name, with versioned objects as attribute bags (`convert.columns` and `convert.changes`
take them apart), and returns rows and plain values. What it raises goes back to the caller of a call;
a cast has nobody to tell, so it is logged.

Source: reference, RPC 3, 6 and 9.
"""

import concurrent.futures
import functools
import logging
import threading
from collections.abc import Callable
from typing import Any

import oslo_messaging
from oslo_config import cfg
from oslo_messaging._drivers import amqpdriver
from oslo_messaging.rpc import dispatcher
from oslo_messaging.rpc import server as library

from tierce.model.clock import Clock, SystemClock
from tierce.model.context import RequestContext
from tierce.model.errors import Conflict, TierceError
from tierce.observability import logs
from tierce.rpc import convert
from tierce.rpc.serializer import WireSerializer
from tierce.rpc.transport import BusRefused, send_errors

LOG = logging.getLogger(__name__)

_RESULTS: dict[str, Callable[[Any], Any]] = {
    "container_show": convert.container_to_wire,
    "container_update": convert.container_to_wire,
    "container_resize": convert.container_to_wire,
    "network_create": convert.network_to_wire,
}
"""Methods whose result is a row."""

METHODS = frozenset(_RESULTS) | {
    "container_create",
    "container_delete",
    "container_rebuild",
    "container_reboot",
    "container_stop",
    "container_start",
    "container_pause",
    "container_unpause",
    "container_logs",
    "container_exec",
    "container_exec_resize",
    "container_kill",
    "resize_container",
    "container_attach",
    "container_top",
    "container_get_archive",
    "container_put_archive",
    "container_stats",
    "container_commit",
    "add_security_group",
    "remove_security_group",
    "image_delete",
    "image_pull",
    "image_search",
    "network_detach",
    "network_attach",
    "network_delete",
}
"""Everything that a message may name."""

_START_SECONDS = 5.0
"""That a start waits for the bus."""

_STOP_SECONDS = 10.0
"""That a stop waits for messages in work and for the bus, of which idle readers take up to six to leave."""

_PING = cfg.BoolOpt("rpc_ping_enabled", default=False, help="Answer `oslo_rpc_server_ping` calls.")


def _ignore() -> None:
    """What a server does about a bus that is back when nobody wants to know."""


class ComputeServer:
    """Serves `endpoint` as the node `host` until it is stopped."""

    def __init__(
        self,
        transport: Any,
        conf: cfg.ConfigOpts,
        host: str,
        endpoint: object,
        clock: Clock | None = None,
        connected: Callable[[], None] = _ignore,
    ) -> None:
        """`connected` is called when the bus is back after it was away; messages may be lost then."""
        endpoints = [_Exposed(endpoint, host)]
        transport.conf.register_opt(_PING)
        if transport.conf.rpc_ping_enabled:
            endpoints.append(dispatcher.PingEndpoint())
        serializer = WireSerializer(clock or SystemClock())
        target = oslo_messaging.Target(topic=conf.compute.topic, server=host)
        self._connected = connected
        self._server = _Server(transport, target, _Dispatcher(endpoints, serializer), connected)
        self._running = False

    def start(self) -> None:
        """Begin to take messages, those first that waited for this node.

        A bus that does not answer soon is waited for without limit, in the background. Raises BusRefused.
        """
        starting = concurrent.futures.Future[None]()
        # An executor's thread would hold the end of a process that the bus never answers.
        threading.Thread(target=self._listen, args=[starting], name="bus-start", daemon=True).start()
        try:
            starting.result(_START_SECONDS)
        except TimeoutError:
            LOG.warning("The message bus does not answer; queued actions are found without it, but later")
            starting.add_done_callback(self._late)

    def _late(self, starting: "concurrent.futures.Future[None]") -> None:
        if (error := starting.exception()) is not None:
            LOG.error("Messages are not listened for until the next start: %s", error)
        else:
            self._connected()

    def _listen(self, starting: "concurrent.futures.Future[None]") -> None:
        try:
            self._server.start()
        except send_errors() as exc:
            # The broker's words name the account or the virtual host, and no password.
            starting.set_exception(
                BusRefused(f"The message bus refuses this node (see `[DEFAULT] transport_url`): {exc}")
            )
        except Exception as exc:
            LOG.exception("Messages cannot be listened for")
            starting.set_exception(exc)
        else:
            self._running = True
            starting.set_result(None)

    def stop(self) -> None:
        """Take no more messages, and wait up to `_STOP_SECONDS` for those in work. Idempotent.

        What takes longer, such as leaving a bus that is silent, ends with the process at the latest.
        """
        if self._running:
            self._running = False
            leaving = threading.Thread(target=self._leave, name="bus-stop", daemon=True)
            leaving.start()
            leaving.join(_STOP_SECONDS)
            if leaving.is_alive():
                LOG.warning("The message bus is not left in order: it, or a question in work, takes too long")

    def _leave(self) -> None:
        self._server.stop()
        self._server.wait()


class _Exposed:
    """The endpoint as the bus sees it: the contract's methods alone, their results in wire form."""

    def __init__(self, endpoint: object, host: str) -> None:
        for name in METHODS:
            method = getattr(endpoint, name, None)
            if method is not None:
                setattr(self, name, functools.partial(_invoke, method, name, host))


def _invoke(method: Callable[..., Any], name: str, host: str, context: RequestContext, **args: Any) -> Any:
    container = args.get("container")
    if container is not None and name != "container_create" and container.host != host:
        # Zun's API sends what has no host to any node, where it must not run.
        raise Conflict(f"Container {container.uuid} is not on host {host}.")
    result = method(context, **args)
    return _RESULTS[name](result) if name in _RESULTS and result is not None else result


class _Dispatcher(dispatcher.RPCDispatcher):  # type: ignore[misc]  # the library is untyped
    """The library's dispatcher, with a refusal logged in a line and only faults with a traceback."""

    def dispatch(self, incoming: Any) -> Any:
        with logs.about(**_subject(incoming)):
            return self._dispatch_marked(incoming)

    def _dispatch_marked(self, incoming: Any) -> Any:
        try:
            return super().dispatch(incoming)
        except (TierceError, dispatcher.RPCDispatcherError) as error:
            # The text may repeat what the user sent: it goes back to the caller, and nowhere else.
            LOG.warning("%s failed: %s", incoming.message.get("method"), type(error).__name__)
            raise dispatcher.ExpectedException from None
        except Exception:
            LOG.exception("%s failed", incoming.message.get("method"))
            raise dispatcher.ExpectedException from None


def _subject(incoming: Any) -> dict[str, str | None]:
    """What a message is about, for the log; it need not be well-formed."""
    method = incoming.message.get("method")
    container = incoming.message.get("args", {}).get("container")
    data = container.get("zun_object.data") if isinstance(container, dict) else None
    uuid = data.get("uuid") if isinstance(data, dict) else None
    return {"request_id": incoming.ctxt.get("request_id"), "container": uuid, "action": method}


class _Server(library.RPCServer):  # type: ignore[misc]  # the library is untyped
    """The library's server on Python's thread pool: the library's own wakes every idle thread each second."""

    def __init__(
        self, transport: Any, target: Any, message_dispatcher: _Dispatcher, connected: Callable[[], None]
    ) -> None:
        super().__init__(transport, target, message_dispatcher)
        self._executor_cls = concurrent.futures.ThreadPoolExecutor
        self._connected = connected

    def _create_listener(self) -> Any:
        listener = super()._create_listener()
        reader = getattr(listener, "_poll_style_listener", None)
        if isinstance(reader, amqpdriver.AMQPListener):
            # The library tells nobody that it has connected again. What it connects with, kombu, hands
            # these options to each new connection, whose own callback this is.
            reader.conn.connection.connection.transport_options["on_open"] = lambda _: self._connected()
        return listener
