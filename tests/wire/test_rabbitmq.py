"""Our frames on a real broker, as a stranger on the bus finds them: where they are, and in which form."""

import json
import pathlib
import re
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import kombu
import pytest
from kombu.simple import SimpleQueue

from tests.support.certificates import Certificates
from tests.support.rabbitmq import RabbitMQ
from tests.support.waiting import until
from tierce import config
from tierce.model.errors import BusUnavailable, Conflict, ExecTimeout
from tierce.rpc import caller
from tierce.rpc.client import ComputeClient
from tierce.rpc.server import ComputeServer
from tierce.rpc.transport import build_transport

Frame = Callable[[str], Any]
Make = Callable[..., Any]

HOST = "node1"


@pytest.fixture(scope="module")
def rabbitmq() -> Iterator[RabbitMQ]:
    broker = RabbitMQ()
    yield broker
    broker.close()


@pytest.fixture
def url(rabbitmq: RabbitMQ) -> str:
    return rabbitmq.url()


class Program:
    """One process's end of the bus."""

    def __init__(self, url: str, file: str | None = None, **options: object) -> None:
        groups = {"rpc_response_timeout": "DEFAULT", "compute": "upgrade_levels"}
        overrides = [(groups[name], name, value) for name, value in options.items()]
        self.conf = config.load([file] if file else [], [("DEFAULT", "transport_url", url), *overrides])
        self.transport = build_transport(self.conf)

        self.client = ComputeClient(self.transport, self.conf)
        self._servers: list[ComputeServer] = []

    def serve(self, endpoint: object) -> None:
        self._servers.append(ComputeServer(self.transport, self.conf, HOST, endpoint))
        self._servers[-1].start()

    def close(self) -> None:
        for server in self._servers:
            server.stop()
        self.client.close()
        self.transport.cleanup()


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    """Makes programs, which end with the test and before their broker."""
    made: list[Program] = []

    def make(*arguments: Any, **options: object) -> Program:
        made.append(Program(*arguments, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


class Stranger:
    """Plain kombu on the same vhost."""

    def __init__(self, url: str) -> None:
        self._connection = kombu.Connection(url.replace("rabbit://", "amqp://"))
        self._channel = self._connection.channel()

    def take_over(self, queue: str) -> SimpleQueue:
        """What a server of that name would get, declared as Zun's servers declare it."""
        exchange = kombu.Exchange("zun", "topic", durable=False)
        declared = kombu.Queue(queue, exchange, routing_key=queue, durable=False, auto_delete=False)
        return SimpleQueue(self._connection, declared)

    def publish(self, message: dict[str, Any], **more: Any) -> None:
        exchange = kombu.Exchange("zun", "topic", durable=False)
        envelope = {"oslo.version": "2.0", "oslo.message": json.dumps(message)}
        kombu.Producer(self._channel, exchange).publish(envelope, routing_key=f"zun-compute.{HOST}", **more)

    def reply_queue(self) -> SimpleQueue:
        """A queue as a caller declares it for replies."""
        name = f"reply_{uuid.uuid4().hex}"
        declared = kombu.Queue(name, durable=False, queue_arguments={"x-expires": 1800000})
        return SimpleQueue(self._connection, declared)

    def answer(self, request: dict[str, Any], result: object) -> None:
        reply = {"result": result, "failure": None, "ending": True, "_msg_id": request["_msg_id"]}
        envelope = {"oslo.version": "2.0", "oslo.message": json.dumps(reply)}
        kombu.Producer(self._channel).publish(envelope, routing_key=request["_reply_q"])

    def close(self) -> None:
        self._connection.release()


@pytest.fixture
def stranger(url: str) -> Iterator[Stranger]:
    made = Stranger(url)
    yield made
    made.close()


def read(queue: SimpleQueue) -> tuple[Any, dict[str, Any]]:
    """The next message, and what its envelope holds."""
    message = queue.get(timeout=10)
    message.ack()
    envelope = json.loads(message.body)
    assert envelope.keys() == {"oslo.version", "oslo.message"}
    assert envelope["oslo.version"] == "2.0"
    return message, json.loads(envelope["oslo.message"])


def test_a_cast_lies_in_its_nodes_queue_as_captured(
    url: str, program: Make, stranger: Stranger, frame: Frame, structure: Any, row: Any, context: Any
) -> None:
    captured = frame("container_start")
    queue = stranger.take_over(f"zun-compute.{HOST}")

    program(url).client.container_start(context, HOST, row(captured["args"]["container"]))

    message, sent = read(queue)
    assert sent.keys() == captured.keys()
    assert sent["method"] == "container_start"
    assert structure(sent["args"]) == structure(captured["args"])
    info = message.delivery_info
    assert (info["exchange"], info["routing_key"]) == ("zun", f"zun-compute.{HOST}")
    assert (message.content_type, message.content_encoding) == ("application/json", "utf-8")
    assert (message.properties["delivery_mode"], message.properties["priority"]) == (2, 0)
    assert "expiration" not in message.properties


def test_a_call_names_a_queue_for_its_reply_and_takes_it_from_there(
    url: str, program: Make, stranger: Stranger, frame: Frame, structure: Any, row: Any, context: Any
) -> None:
    captured = frame("container_exec")
    args = captured["args"]
    queue = stranger.take_over(f"zun-compute.{HOST}")
    client = program(url, rpc_response_timeout=10).client
    told = {"output": "root\n", "exit_code": 0, "exec_id": None, "token": None}

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(
            client.container_exec,
            context,
            HOST,
            row(args["container"]),
            **{name: args[name] for name in ("command", "run", "interactive")},
        )
        message, sent = read(queue)
        stranger.answer(sent, told)
        result = waiting.result(10)

    assert sent.keys() == captured.keys()
    assert structure(sent["args"]) == structure(args)
    assert re.fullmatch("reply_[0-9a-f]{32}", sent["_reply_q"])
    assert message.properties["expiration"] == "10000"
    assert result == told


def test_a_message_to_any_node_goes_to_the_topic(
    url: str, program: Make, stranger: Stranger, context: Any
) -> None:
    queue = stranger.take_over("zun-compute")
    client = program(url, rpc_response_timeout=10).client

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(
            client.image_search, context, None, image="x", image_driver_name="docker", exact_match=False
        )
        message, sent = read(queue)
        stranger.answer(sent, [])
        assert waiting.result(10) == []

    assert message.delivery_info["routing_key"] == "zun-compute"
    assert sent["method"] == "image_search"


@pytest.mark.parametrize(("pinned", "named"), [(None, "absent"), ("1.0", "1.0")])
def test_a_message_names_the_version_that_is_pinned(
    url: str,
    program: Make,
    stranger: Stranger,
    frame: Frame,
    row: Any,
    context: Any,
    pinned: str | None,
    named: str,
) -> None:
    queue = stranger.take_over(f"zun-compute.{HOST}")
    container = row(frame("container_start")["args"]["container"])

    program(url, **({"compute": pinned} if pinned else {})).client.container_start(context, HOST, container)

    assert read(queue)[1].get("version", "absent") == named


class Endpoint:
    def container_exec(self, context: Any, **args: Any) -> dict[str, Any]:
        if args["command"] == "sleep":
            raise ExecTimeout("Timeout on executing command: sleep")
        return {"output": "root\n", "exit_code": 0, "exec_id": None, "token": None}


@pytest.fixture
def served(url: str, program: Make) -> None:
    program(url).serve(Endpoint())


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("version", [{}, {"version": "1.0"}])
def test_a_node_replies_as_captured(stranger: Stranger, frame: Frame, version: dict[str, str]) -> None:
    captured = frame("container_exec_run_reply")
    replies = stranger.reply_queue()
    request = frame("container_exec") | version
    request["args"]["container"]["zun_object.data"]["host"] = HOST

    stranger.publish(request | {"_reply_q": replies.queue.name})

    message, reply = read(replies)
    assert reply.keys() == captured.keys()
    assert (reply["result"], reply["failure"], reply["ending"]) == (captured["result"], None, True)
    assert reply["_msg_id"] == request["_msg_id"]
    info = message.delivery_info
    assert (info["exchange"], info["routing_key"]) == ("", replies.queue.name)


@pytest.mark.usefixtures("served")
def test_a_node_refuses_as_captured(stranger: Stranger, frame: Frame) -> None:
    replies = stranger.reply_queue()
    request = frame("container_exec")
    request["args"]["container"]["zun_object.data"]["host"] = HOST
    request["args"]["command"] = "sleep"

    stranger.publish(request | {"_reply_q": replies.queue.name})

    _, reply = read(replies)
    assert reply["result"] is None
    failure = json.loads(reply["failure"])
    assert failure.pop("tierce") == "ExecTimeout"
    assert failure == frame("failures")[0] | {"tb": []}


@pytest.mark.usefixtures("served")
def test_what_a_node_refuses_is_raised_at_the_caller(
    url: str, program: Make, frame: Frame, row: Any, context: Any
) -> None:
    container = row(frame("container_exec")["args"]["container"])
    with pytest.raises(Conflict, match="Timeout on executing command: sleep"):
        program(url).client.container_exec(
            context, HOST, container, command="sleep", run=True, interactive=False
        )


class Listener:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def container_start(self, context: Any, container: Any) -> None:
        self.heard.append(context.request_id)


def test_when_a_silent_bus_speaks_again_what_was_told_meanwhile_arrives_and_casts_are_waited_for(
    rabbitmq: RabbitMQ,
    url: str,
    program: Make,
    frame: Frame,
    row: Any,
    context: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    container = row(frame("container_start")["args"]["container"])
    listener = Listener()
    api = program(url)
    api.serve(listener)

    def tell(what: str) -> bool:
        try:
            api.client.container_start(context.replace(request_id=what), HOST, container)
        except BusUnavailable:
            return False
        return True

    assert tell("before")
    monkeypatch.setattr(caller, "SEND_SECONDS", 0.2)
    with rabbitmq.silent():
        assert not any(tell(f"meanwhile {number}") for number in range(20))
    until(lambda: set(listener.heard), lambda heard: heard >= {f"meanwhile {number}" for number in range(20)})
    monkeypatch.undo()
    until(lambda: tell("after"))


@pytest.fixture
def secure() -> Iterator[RabbitMQ]:
    broker = RabbitMQ(tls=True)
    yield broker
    broker.close()


def test_with_tls_the_broker_is_checked_against_an_authority(
    secure: RabbitMQ, program: Make, frame: Frame, row: Any, context: Any, tmp_path: pathlib.Path
) -> None:
    assert secure.certificates is not None
    container = row(frame("container_exec")["args"]["container"])
    url = secure.url()

    def who_trusts(authority: pathlib.Path) -> Program:
        file = tmp_path / f"{uuid.uuid4()}.conf"
        file.write_text(f"[oslo_messaging_rabbit]\nssl = true\nssl_ca_file = {authority}\n")
        made: Program = program(url, str(file), rpc_response_timeout=10)
        return made

    trusting = who_trusts(secure.certificates.authority)
    trusting.serve(Endpoint())
    answer = trusting.client.container_exec(
        context, HOST, container, command="whoami", run=True, interactive=False
    )
    assert answer["output"] == "root\n"

    other = who_trusts(Certificates(tmp_path / "other").authority)
    with pytest.raises(BusUnavailable):
        other.client.container_start(context, HOST, container)
