"""Frames captured between Zun 18's processes, and the real AMQP driver on a broker in memory.

The frames are those of the reference, RPC 13: tracebacks and blocks of context that it abridges are
filled in. Structure is compared: JSON text in JSON is parsed, and lists that have no order are sorted.
"""

import itertools
import json
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kombu
import pytest

from tierce import config
from tierce.model.clock import SystemClock
from tierce.model.context import RequestContext
from tierce.rpc import convert
from tierce.rpc.client import ComputeClient
from tierce.rpc.serializer import from_wire
from tierce.rpc.server import ComputeServer
from tierce.rpc.transport import build_transport

_FRAMES = Path(__file__).parent / "frames"
_JSON_TEXT = {"addresses", "exposed_ports", "healthcheck", "annotations", "cni_metadata"}
_hosts = itertools.count()


@pytest.fixture
def frame() -> Callable[[str], Any]:
    """A captured frame by its file name, without envelope."""
    return lambda name: json.loads((_FRAMES / f"{name}.json").read_text())


def _structure(value: Any) -> Any:
    if isinstance(value, list):
        return [_structure(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _structure(item) for key, item in value.items()}
    for key in _JSON_TEXT & made.keys():
        made[key] = json.loads(made[key]) if isinstance(made[key], str) else made[key]
    if "zun_object.changes" in made:
        made["zun_object.changes"] = sorted(made["zun_object.changes"])
    return made


@pytest.fixture
def structure() -> Callable[[Any], Any]:
    """A frame or a part of one, in a form in which equal means the same to a receiver."""
    return _structure


@pytest.fixture
def row() -> Callable[[Any], types.SimpleNamespace]:
    """The row behind a captured object."""
    return lambda primitive: types.SimpleNamespace(
        **convert.columns(from_wire(primitive)), container_type=0, capsule_id=None
    )


@pytest.fixture
def context() -> RequestContext:
    """The caller of the captured frames."""
    return RequestContext(
        user_id="8e1f4c0f4c1f4d2aa2f1f6a0c1c7b111",
        user_name="demo",
        project_id="0d9f6f6a8b2c4a0f9f0c5b7a3e2d1c00",
        project_name="demo",
        domain_id="default",
        roles=("member", "reader"),
        request_id="req-7d0d7f2a-3b54-4bb4-9d57-0a7d0d5b7f10",
        auth_token="gAAAAA…",
    )


class Broker:
    """The bus as a stranger on it sees it: raw messages in and out of queues, by plain kombu."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.conf = config.load(
            overrides=[
                ("DEFAULT", "transport_url", "kombu+memory:////"),
                ("DEFAULT", "rpc_response_timeout", 10),
            ]
        )
        self.transport = build_transport(self.conf)
        self.client = ComputeClient(self.transport, self.conf, SystemClock())
        self._connection = kombu.Connection("memory://localhost")
        self._channel = self._connection.channel()
        self._connection.transport.polling_interval = 0.01
        self._exchange = kombu.Exchange("zun", "topic", durable=False)
        self._queues: dict[str, Any] = {}

    def spy(self) -> None:
        """Take the messages to this host into a queue of the same name as a server's."""
        name = f"zun-compute.{self.host}"
        queue = kombu.Queue(name, self._exchange, routing_key=name, durable=False, channel=self._channel)
        queue.declare()
        self._queues[name] = self._connection.SimpleQueue(queue)

    def take(self) -> Any:
        """The next message to this host, as kombu delivers it."""
        return self._take(f"zun-compute.{self.host}")

    def publish(self, body: Any, **properties: Any) -> None:
        """Put a message on the exchange for this host."""
        kombu.Producer(self._channel, self._exchange).publish(
            body, routing_key=f"zun-compute.{self.host}", **properties
        )

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Publish a bare message as a call, and return the reply without its envelope."""
        reply_queue = f"reply_{self.host}"
        if reply_queue not in self._queues:
            queue = kombu.Queue(reply_queue, durable=False, channel=self._channel)
            queue.declare()
            self._queues[reply_queue] = self._connection.SimpleQueue(queue)
        self.publish(message | {"_msg_id": "1", "_reply_q": reply_queue})
        reply: dict[str, Any] = json.loads(json.loads(self._take(reply_queue).body)["oslo.message"])
        return reply

    def reply(self, request: dict[str, Any], reply: dict[str, Any]) -> None:
        """Answer a request that was taken."""
        envelope = {
            "oslo.version": "2.0",
            "oslo.message": json.dumps(reply | {"_msg_id": request["_msg_id"]}),
        }
        kombu.Producer(self._channel).publish(envelope, routing_key=request["_reply_q"])

    def _take(self, name: str) -> Any:
        message = self._queues[name].get(timeout=10)
        message.ack()
        return message

    def close(self) -> None:
        self.client.close()
        self.transport.cleanup()
        self._connection.release()


@pytest.fixture
def broker() -> Iterator[Broker]:
    made = Broker(f"node{next(_hosts)}")
    yield made
    made.close()


@pytest.fixture
def serve(broker: Broker) -> Iterator[Callable[[object], None]]:
    """Serve an endpoint as the broker's host."""
    servers: list[ComputeServer] = []

    def start(endpoint: object) -> None:
        servers.append(ComputeServer(broker.transport, broker.conf, broker.host, endpoint))
        servers[-1].start()

    yield start
    for server in servers:
        server.stop()
