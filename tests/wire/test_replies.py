"""Our server understands what Zun's client was seen to send, and answers as Zun's server did."""

import json
import queue
from collections.abc import Callable
from typing import Any

import pytest

from tierce.model import errors
from tierce.rpc import convert, failures
from tierce.rpc.serializer import from_wire

Frame = Callable[[str], Any]
Serve = Callable[[object], None]


class Endpoint:
    def __init__(self) -> None:
        self.received: queue.SimpleQueue[tuple[Any, dict[str, Any]]] = queue.SimpleQueue()

    def container_create(self, context: Any, **args: Any) -> None:
        self.received.put((context, args))

    def container_start(self, context: Any, **args: Any) -> None:
        self.received.put((context, args))

    def container_exec(self, context: Any, **args: Any) -> dict[str, Any]:
        return {"output": "root\n", "exit_code": 0, "exec_id": None, "token": None}

    def container_show(self, context: Any, container: Any) -> Any:
        raise errors.ExecTimeout("Timeout on executing command: sleep")


def of_host(message: dict[str, Any], host: str) -> dict[str, Any]:
    """A captured request for the node under test."""
    data = message["args"]["container"]["zun_object.data"]
    if data["host"] is not None:
        data["host"] = host
    return message


def failure(reply: dict[str, Any]) -> dict[str, Any]:
    """The failure of a reply, as far as Zun looks at it."""
    assert reply["result"] is None
    decoded: dict[str, Any] = json.loads(reply["failure"])
    decoded.pop("tierce", None)
    return decoded


def test_a_captured_create_is_understood(broker: Any, serve: Serve, frame: Frame) -> None:
    endpoint, captured = Endpoint(), frame("container_create")
    serve(endpoint)

    broker.publish({"oslo.version": "2.0", "oslo.message": json.dumps(captured)})

    context, args = endpoint.received.get(timeout=10)
    assert (context.user_id, context.request_id) == (
        "8e1f4c0f4c1f4d2aa2f1f6a0c1c7b111",
        "req-7d0d7f2a-3b54-4bb4-9d57-0a7d0d5b7f10",
    )
    assert context.roles == ("member", "reader")
    container = args["container"]
    assert (container.name, container.command, container.ports) == ("alpha-22-container", ["sh"], None)
    assert container.healthcheck == {"test": "true", "interval": 3, "retries": 2, "timeout": 5}
    assert container.created_at.isoformat() == "2026-11-29T16:13:55"
    assert convert.changes(container) == {}
    (mount,) = args["requested_volumes"][container.uuid]
    assert (mount.container_path, mount.volume_id, mount.uuid) == ("/data", 1, None)
    assert convert.changes(mount)["cinder_volume_id"] == "5a8f2c3e-6a1d-4f0e-8f39-1f0c7b2a9e01"
    assert args["limits"] == {"cpu": 64.0, "memory": 6000.0, "disk": 50}


@pytest.mark.parametrize(
    "variation",
    [
        {"namespace": None},
        {"version": "1.0"},
        {"version": "1.0", "namespace": None, "_unique_id": "x"},
    ],
)
@pytest.mark.parametrize("with_context", [True, False])
def test_a_bare_message_and_optional_keys_are_understood(
    broker: Any, serve: Serve, frame: Frame, variation: dict[str, Any], with_context: bool
) -> None:
    endpoint, captured = Endpoint(), of_host(frame("container_start"), broker.host)
    serve(endpoint)
    message = {key: value for key, value in captured.items() if with_context or not key.startswith("_")}

    broker.publish(message | variation)

    context, args = endpoint.received.get(timeout=10)
    assert args["container"].addresses["6a1c0f6e-54b7-4f7e-9b8e-7d8d1f5e0c22"][0]["addr"] == "10.0.0.5"
    assert (context.user_id is not None) == with_context


def test_a_result_is_framed_as_captured(broker: Any, serve: Serve, frame: Frame) -> None:
    serve(Endpoint())
    captured = frame("container_exec_run_reply")

    reply = broker.ask(of_host(frame("container_exec"), broker.host))

    assert reply.keys() == captured.keys()
    assert (reply["result"], reply["failure"], reply["ending"]) == (captured["result"], None, True)
    assert reply["_msg_id"] == "1"


def test_a_refusal_is_framed_as_captured(broker: Any, serve: Serve, frame: Frame) -> None:
    serve(Endpoint())
    request = of_host(frame("container_start"), broker.host) | {"method": "container_show"}

    assert failure(broker.ask(request)) == frame("failures")[0] | {"tb": []}


def test_a_fault_is_framed_as_captured(broker: Any, serve: Serve, frame: Frame) -> None:
    serve(Endpoint())
    request = of_host(frame("container_start"), broker.host) | {"method": "container_exec_resize"}
    captured = frame("failures")[1]

    told = failure(broker.ask(request | {"method": "container_show", "args": {}}))

    assert {key: told[key] for key in ("class", "module", "kwargs")} == {
        key: captured[key] for key in ("class", "module", "kwargs")
    }
    assert told["message"].startswith("Unexpected error: ")
    assert told["tb"] == []


def test_a_method_that_does_not_exist_is_framed_as_captured(broker: Any, serve: Serve, frame: Frame) -> None:
    serve(Endpoint())

    told = failure(broker.ask({"method": "capsule_create", "args": {}}))

    assert told == frame("failures")[2] | {"tb": []}


def test_a_newer_object_is_refused_as_captured(broker: Any, serve: Serve, frame: Frame) -> None:
    serve(Endpoint())
    request = of_host(frame("container_start"), broker.host)
    request["args"]["container"]["zun_object.version"] = "1.45"

    assert failure(broker.ask(request)) == frame("failures")[3] | {"tb": []}


def test_every_captured_failure_is_an_error_of_ours(frame: Frame) -> None:
    received = [failures.decode(json.dumps(one)) for one in frame("failures")]

    assert [type(error) for error in received] == [errors.Conflict, *[errors.RemoteFailure] * 3]
    assert [str(error) for error in received] == [one["message"] for one in frame("failures")]


def test_a_captured_registry_is_understood(frame: Frame) -> None:
    registry = from_wire(frame("registry"))

    assert (registry.domain, registry.username, registry.password) == (
        "registry.example.com",
        "bob",
        "hunter2",
    )


def test_a_node_serves_what_was_sent_while_it_was_away(broker: Any, frame: Frame, serve: Serve) -> None:
    endpoint = Endpoint()
    broker.spy()  # declares the queue that Zun's server had

    broker.publish(of_host(frame("container_start"), broker.host))
    serve(endpoint)

    assert endpoint.received.get(timeout=10)[1]["container"].name == "beta-7-container"
