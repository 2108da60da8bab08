"""One message to one node, with bounded waiting and Tierce's errors.

A broker can be down in ways that the library waits out for minutes or for ever. Here nothing waits more
than `SEND_SECONDS` for a message to be taken, and the first call (which is when the library makes its
reply queue, and would keep trying) is made only to a broker that answers.
"""

import concurrent.futures
import contextvars
import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import oslo_messaging
from oslo_config import cfg

from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import BusUnavailable, HostNotUp, RpcTimeout
from tierce.rpc.serializer import WireSerializer
from tierce.rpc.transport import broker_addresses, reachable, send_errors

SEND_SECONDS = 5.0
_PROBE_SECONDS = 2.0
_RETRIES = 1  # a pooled connection may have died unnoticed: try once more on a new one

_CALLERS = 32
_CASTERS = 8
"""Fewer than the library has connections (30): where casts wait for a silent bus, calls find one."""

_KEPT_CASTS = 256
"""Casts that are being sent, or wait to be; those beyond are dropped."""


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
        self._callers = concurrent.futures.ThreadPoolExecutor(_CALLERS, thread_name_prefix="bus-call")
        self._casters = concurrent.futures.ThreadPoolExecutor(_CASTERS, thread_name_prefix="bus-cast")
        self._room = threading.BoundedSemaphore(_KEPT_CASTS)
        self._takes_casts = True

    def close(self) -> None:
        """Give up what has not been sent yet; what is under way ends by itself."""
        for senders in (self._casters, self._callers):
            senders.shutdown(wait=False, cancel_futures=True)

    def cast(self, context: RequestContext, host: str | None, method: str, args: Mapping[str, Any]) -> None:
        """Send and forget.

        Raises BusUnavailable when the bus has not taken the message in `SEND_SECONDS` (it may still do
        so), and HostNotUp when no server of that name has ever listened. After a cast that was not taken
        none is waited for until one is: a cast is a hint, and those who give it have other things to do.
        """
        send = functools.partial(self._client.prepare(server=host).cast, context, method, **args)
        attempt = functools.partial(self._attempt, send, host, method)
        if not self._brokers:
            attempt()
            return
        if not self._room.acquire(blocking=False):
            raise BusUnavailable("The message bus does not take messages, and many wait for it.")
        seconds = SEND_SECONDS if self._takes_casts else 0
        sent = _submit(self._casters, attempt)
        sent.add_done_callback(self._learn)
        try:
            sent.result(seconds)
        except TimeoutError:
            self._takes_casts = False
            raise BusUnavailable("The message bus does not take messages.") from None

    def _learn(self, sent: "concurrent.futures.Future[Any]") -> None:
        """Note what an ended cast says of the bus: it is there too when it does not know the node."""
        self._room.release()
        self._takes_casts = not sent.cancelled() and not isinstance(sent.exception(), BusUnavailable)

    def call(self, context: RequestContext, host: str | None, method: str, args: Mapping[str, Any]) -> Any:
        """Send, and wait up to `[DEFAULT] rpc_response_timeout` s for the result, which is returned.

        Raises what the node raised; RpcTimeout, BusUnavailable, HostNotUp.
        """
        send = functools.partial(self._client.prepare(server=host).call, context, method, **args)
        attempt = functools.partial(self._attempt, send, host, method)
        if not self._brokers:
            return attempt()
        if not self._reply_queue_made:
            if not reachable(self._brokers, _PROBE_SECONDS):
                raise BusUnavailable("The message bus cannot be reached.")
            self._reply_queue_made = True
        answer = _submit(self._callers, attempt)
        try:
            return answer.result(SEND_SECONDS + self._timeout)
        except TimeoutError:
            answer.cancel()
            raise BusUnavailable("The message bus does not take messages.") from None

    def _attempt(self, send: Callable[[], Any], host: str | None, method: str) -> Any:
        """`send`, with Tierce's errors for the library's."""
        node = host or "any node"
        try:
            return send()
        except oslo_messaging.MessagingTimeout:
            rest = f"to {method} within {self._timeout} s; whether it was done is unknown."
            raise RpcTimeout(f"No reply from {node} {rest}", f"No reply from the node {rest}") from None
        except oslo_messaging.MessageUndeliverable:
            raise HostNotUp(node) from None
        except self._send_errors as error:
            raise BusUnavailable("The message bus cannot be reached.") from error


def _submit(
    senders: concurrent.futures.ThreadPoolExecutor, function: Callable[[], Any]
) -> "concurrent.futures.Future[Any]":
    """Have one of the senders run it as the caller would, so that its log lines say what they are about."""
    return senders.submit(contextvars.copy_context().run, function)
