"""One message to one node, with bounded waiting and Tierce's errors.

A broker can be down in ways that the library waits out for minutes or for ever. Here nothing waits more
than `SEND_SECONDS` for a message to be taken, and the first call (which is when the library makes its
reply queue, and would keep trying) is made only to a broker that answers.
"""

import concurrent.futures
import contextvars
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import oslo_messaging
from oslo_config import cfg

from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import BusUnavailable, HostNotUp, RpcTimeout
from tierce.rpc.serializer import WireSerializer
from tierce.rpc.transport import broker_addresses, reachable, send_errors

SEND_SECONDS = 5.0
_PROBE_SECONDS = 2.0
_SENDERS = 32
_RETRIES = 1  # a pooled connection may have died unnoticed: try once more on a new one

_Result = TypeVar("_Result")


class Caller:
    """Casts and calls on one topic. Thread-safe; one serves a whole process.

    `host` is the node's server name, or None for whichever node takes the message next.
    """

    def __init__(self, transport: Any, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._timeout: int = conf.rpc_response_timeout
        self._client = oslo_messaging.get_rpc_client(
            transport,
            oslo_messaging.Target(topic=conf.compute.topic, version=conf.upgrade_levels.compute),
            serializer=WireSerializer(clock),
            timeout=self._timeout,
            retry=_RETRIES,
            transport_options=oslo_messaging.TransportOptions(at_least_once=True),
        )
        self._brokers = broker_addresses(transport, conf)
        self._reply_queue_made = False
        self._send_errors = send_errors()
        self._senders = concurrent.futures.ThreadPoolExecutor(_SENDERS, thread_name_prefix="bus")

    def close(self) -> None:
        """Give up what has not been sent yet; what is under way ends by itself."""
        self._senders.shutdown(wait=False, cancel_futures=True)

    def cast(self, context: RequestContext, host: str | None, method: str, args: Mapping[str, Any]) -> None:
        """Send and forget.

        Raises BusUnavailable when the bus has not taken the message in `SEND_SECONDS` (it may still do
        so), and HostNotUp when no server of that name has ever listened.
        """
        send = functools.partial(self._client.prepare(server=host).cast, context, method, **args)
        self._bounded(SEND_SECONDS, self._attempt, send, host, method)

    def call(self, context: RequestContext, host: str | None, method: str, args: Mapping[str, Any]) -> Any:
        """Send, and wait up to `[DEFAULT] rpc_response_timeout` s for the result, which is returned.

        Raises what the node raised; RpcTimeout, BusUnavailable, HostNotUp.
        """
        if self._brokers and not self._reply_queue_made:
            if not reachable(self._brokers, _PROBE_SECONDS):
                raise BusUnavailable("The message bus cannot be reached.")
            self._reply_queue_made = True
        send = functools.partial(self._client.prepare(server=host).call, context, method, **args)
        return self._bounded(SEND_SECONDS + self._timeout, self._attempt, send, host, method)

    def _bounded(self, seconds: float, function: Callable[..., _Result], *args: Any) -> _Result:
        """Run `function`, and stop waiting for it after `seconds`; at once when no broker is involved."""
        if not self._brokers:
            return function(*args)
        future = self._senders.submit(contextvars.copy_context().run, function, *args)
        try:
            return future.result(seconds)
        except TimeoutError:
            future.cancel()
            raise BusUnavailable("The message bus does not take messages.") from None

    def _attempt(self, send: Callable[[], Any], host: str | None, method: str) -> Any:
        """`send`, with Tierce's errors for the library's."""
        node = host or "any node"
        try:
            return send()
        except oslo_messaging.MessagingTimeout:
            raise RpcTimeout(
                f"No reply from {node} to {method} within {self._timeout} s; whether it was done is unknown."
            ) from None
        except oslo_messaging.MessageUndeliverable:
            raise HostNotUp(node) from None
        except self._send_errors as error:
            raise BusUnavailable("The message bus cannot be reached.") from error
