"""A bus inside one process: an oslo.messaging driver (`inprocess://[/name]`) without a broker.

Messages go from the sender's thread straight to the reader's callback, which hands them to its thread
pool; nobody polls. What crosses is JSON text, so that nothing works here that would not work over a
real bus; only long texts, such as archives, are handed over as they are. As there, a mailbox comes into
being with its first reader and keeps messages while nobody reads it; a message is delivered at most
once; a call that nobody took before its caller gave up is not delivered any more.

Drivers of one name in one process share one bus, which goes away with the last of them.
"""

import collections
import dataclasses
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final

import oslo_messaging
from oslo_messaging._drivers import base, common
from oslo_serialization import jsonutils

_LONG: Final = 64 * 1024
"""Characters from which on a text is too long to be copied."""

Address = tuple[str, str, str | None]
"""Exchange, topic, and server (None: whichever server comes next)."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Packed:
    """A head, and values by name: all of it JSON but long texts that are a value, or an item of one."""

    json: str
    long_texts: dict[tuple[str, int | None], str]
    """By the name of the value, and the place in it."""

    @classmethod
    def of(cls, head: Any, values: dict[str, Any]) -> "_Packed":
        long: dict[tuple[str, int | None], str] = {}
        rest = dict(values)
        for name, value in values.items():
            if _is_long(value):
                long[name, None], rest[name] = value, None
            elif isinstance(value, list | tuple):
                long |= {(name, place): item for place, item in enumerate(value) if _is_long(item)}
                rest[name] = [None if _is_long(item) else item for item in value]
        return cls(jsonutils.dumps([head, rest]), long)

    def opened(self) -> tuple[Any, dict[str, Any]]:
        head, values = jsonutils.loads(self.json)
        for (name, place), text in self.long_texts.items():
            if place is None:
                values[name] = text
            else:
                values[name][place] = text
        return head, values


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > _LONG


@dataclasses.dataclass(slots=True)
class _Letter:
    body: _Packed
    reply_to: queue.SimpleQueue[_Packed] | None = None
    deadline: float | None = None

    @property
    def expired(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


Reader = Callable[[_Letter], None]


class _Bus:
    """Mailboxes by address, each with its readers and the letters that wait for one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Address, collections.deque[_Letter]] = {}
        self._readers: dict[Address, collections.deque[Reader]] = collections.defaultdict(collections.deque)

    def open(self, addresses: Iterable[Address]) -> None:
        """Ensure that letters to these addresses are kept from now on."""
        with self._lock:
            for address in addresses:
                self._waiting.setdefault(address, collections.deque())

    def post(self, address: Address, letter: _Letter) -> bool:
        """Deliver to the next reader, or keep; False when there is no such mailbox.

        A reader is called under the lock: once `detach` has returned, it is not called any more.
        """
        with self._lock:
            if address not in self._waiting:
                return False
            readers = self._readers[address]
            if readers:
                readers[0](letter)
                readers.rotate(-1)
            else:
                self._waiting[address].append(letter)
            return True

    def attach(self, addresses: Iterable[Address], reader: Reader) -> None:
        """Deliver to `reader` from now on, beginning with what waited."""
        with self._lock:
            for address in addresses:
                self._readers[address].append(reader)
                waiting = self._waiting[address]
                while waiting:
                    letter = waiting.popleft()
                    if not letter.expired:
                        reader(letter)

    def detach(self, addresses: Iterable[Address], reader: Reader) -> None:
        with self._lock:
            for address in addresses:
                self._readers[address].remove(reader)


_buses: weakref.WeakValueDictionary[str, _Bus] = weakref.WeakValueDictionary()
_buses_lock = threading.Lock()


def _bus(name: str) -> _Bus:
    with _buses_lock:
        bus = _buses.get(name)
        if bus is None:
            bus = _buses[name] = _Bus()
        return bus


class _Incoming(base.RpcIncomingMessage):  # type: ignore[misc]  # the library is untyped
    """A delivered letter, opened."""

    def __init__(self, letter: _Letter) -> None:
        (context, message), args = letter.body.opened()
        super().__init__(context, message | {"args": args})
        self._reply_to = letter.reply_to

    def reply(
        self,
        reply: Any = None,
        failure: tuple[type[BaseException], BaseException, TracebackType | None] | None = None,
    ) -> None:
        if self._reply_to is not None:
            text = common.serialize_remote_exception(failure) if failure else None
            self._reply_to.put(_Packed.of(text, {"result": reply}))

    def heartbeat(self) -> None:
        """Nothing to do: the caller is in the same process, and needs no sign that it lives."""

    def requeue(self) -> None:
        raise NotImplementedError


class _Listener(base.Listener):  # type: ignore[misc]  # the library is untyped
    """The reader of one server: its own mailbox, and the one that it shares."""

    def __init__(self, bus: _Bus, addresses: list[Address]) -> None:
        super().__init__(batch_size=1, batch_timeout=None)
        self._bus = bus
        self._addresses = addresses
        bus.open(addresses)

    def start(self, on_incoming_callback: Callable[[list[_Incoming]], None]) -> None:
        super().start(on_incoming_callback)
        self._bus.attach(self._addresses, self._read)

    def stop(self) -> None:
        self._bus.detach(self._addresses, self._read)

    def cleanup(self) -> None:
        """Nothing is held once reading has stopped."""

    def _read(self, letter: _Letter) -> None:
        self.on_incoming_callback([_Incoming(letter)])


class InProcessDriver(base.BaseDriver):  # type: ignore[misc]  # the library is untyped
    """The driver that the entry point `inprocess` names. RPC only: no notifications, no fanout."""

    def __init__(
        self,
        conf: Any,
        url: Any,
        default_exchange: str | None = None,
        allowed_remote_exmods: list[str] | None = None,
    ) -> None:
        super().__init__(conf, url, default_exchange, allowed_remote_exmods)
        self._bus = _bus(url.virtual_host or "")

    def send(
        self,
        target: Any,
        ctxt: dict[str, Any],
        message: dict[str, Any],
        wait_for_reply: bool | None = None,
        timeout: float | None = None,
        transport_options: Any = None,
        **_for_brokers: Any,
    ) -> Any:
        """Post a message and, when asked, wait up to `timeout` s for its reply.

        Raises MessagingTimeout; MessageUndeliverable when no server has ever read at the address and
        the options ask for delivery; what the node raised, as the failure codec rebuilds it.
        """
        if target.fanout:
            raise NotImplementedError("The bus inside a process has no fanout")
        head = {name: part for name, part in message.items() if name != "args"}
        letter = _Letter(_Packed.of((ctxt, head), message.get("args", {})))
        if wait_for_reply:
            letter.reply_to = queue.SimpleQueue()
            letter.deadline = None if timeout is None else time.monotonic() + timeout
        exchange, topic, server = address = self._address(target, target.server)
        if not self._bus.post(address, letter) and transport_options and transport_options.at_least_once:
            raise oslo_messaging.MessageUndeliverable(None, exchange, f"{topic}.{server}", None)
        if letter.reply_to is None:
            return None
        try:
            failure, reply = letter.reply_to.get(timeout=timeout).opened()
        except queue.Empty:
            raise oslo_messaging.MessagingTimeout(f"No reply on topic {topic}") from None
        if failure:
            raise common.deserialize_remote_exception(failure, self._allowed_remote_exmods)
        return reply["result"]

    def listen(self, target: Any, _batch_size: int, _batch_timeout: float | None) -> _Listener:
        """A listener to the mailbox of `target.server` and to the one of its topic."""
        return _Listener(self._bus, [self._address(target, target.server), self._address(target, None)])

    def _address(self, target: Any, server: str | None) -> Address:
        return (target.exchange or self._default_exchange, target.topic, server)

    def send_notification(self, *_args: Any, **_kwargs: Any) -> None:
        raise NotImplementedError("The bus inside a process carries no notifications")

    def listen_for_notifications(self, *_args: Any, **_kwargs: Any) -> None:
        raise NotImplementedError("The bus inside a process carries no notifications")

    def cleanup(self) -> None:
        """Nothing to release: the bus goes with its last driver."""
