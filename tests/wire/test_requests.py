"""What our client sends is what Zun's client was seen to send."""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tierce.model.errors import RuntimeFailure
from tierce.rpc import convert

Frame = Callable[[str], Any]


def inner(message: Any) -> dict[str, Any]:
    envelope = json.loads(message.body)
    assert envelope.keys() == {"oslo.version", "oslo.message"}
    assert envelope["oslo.version"] == "2.0"
    decoded: dict[str, Any] = json.loads(envelope["oslo.message"])
    return decoded


def mount_fields(primitive: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = primitive["zun_object.data"]
    return fields


def test_container_create(broker: Any, frame: Frame, structure: Any, row: Any, context: Any) -> None:
    captured = frame("container_create")
    args = captured["args"]
    broker.spy()

    broker.client.container_create(
        context,
        broker.host,
        row(args["container"]),
        limits=args["limits"],
        requested_networks=args["requested_networks"],
        requested_volumes={
            uuid: [mount_fields(mount) for mount in mounts]
            for uuid, mounts in args["requested_volumes"].items()
        },
        run=True,
        pci_requests=None,
    )

    message = broker.take()
    sent = inner(message)
    assert structure(sent["args"]) == structure(args)
    assert sent.keys() == captured.keys()
    assert re.fullmatch("[0-9a-f]{32}", sent["_unique_id"])
    assert (message.content_type, message.content_encoding) == ("application/json", "utf-8")
    assert message.properties["delivery_mode"] == 2
    assert message.properties["priority"] == 0
    assert "expiration" not in message.properties


def test_the_context_differs_from_the_captured_one_only_where_it_means_to(
    broker: Any, frame: Frame, row: Any, context: Any
) -> None:
    captured = frame("container_start")
    broker.spy()

    broker.client.container_start(context, broker.host, row(captured["args"]["container"]))

    sent = inner(broker.take())
    different = {
        key for key in captured if key.startswith("_context_") and sent.get(key, "absent") != captured[key]
    }
    assert different == {
        "_context_timestamp",
        # The identity service's token body is not sent.
        "_context_auth_token_info",
        # That the action is queued already is told where Zun tells and reads nothing.
        "_context_resource_uuid",
        # The user's domain is told under its right names too.
        "_context_user_domain",
        "_context_user_domain_id",
        "_context_user_identity",
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", sent["_context_timestamp"])


def test_container_start(broker: Any, frame: Frame, structure: Any, row: Any, context: Any) -> None:
    captured = frame("container_start")
    broker.spy()

    broker.client.container_start(context, broker.host, row(captured["args"]["container"]))

    sent = inner(broker.take())
    assert structure(sent["args"]) == structure(captured["args"])
    assert sent.keys() == captured.keys()


def test_container_exec_and_its_reply(
    broker: Any, frame: Frame, structure: Any, row: Any, context: Any
) -> None:
    captured = frame("container_exec")
    envelope = frame("container_exec_reply_envelope")
    args = captured["args"]
    broker.spy()

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(
            broker.client.container_exec,
            context,
            broker.host,
            row(args["container"]),
            command=args["command"],
            run=args["run"],
            interactive=args["interactive"],
        )
        message = broker.take()
        sent = inner(message)
        broker.reply(sent, json.loads(envelope["oslo.message"]))
        result = waiting.result(10)

    assert structure(sent["args"]) == structure(args)
    assert sent.keys() == captured.keys()
    assert sent["_timeout"] is None
    assert re.fullmatch("reply_[0-9a-f]{32}", sent["_reply_q"])
    assert message.properties["expiration"] == "10000"
    assert result == {
        "output": None,
        "exit_code": None,
        "exec_id": "e90e34656806",
        "token": "816b7943-ea1f-4182-a10d-c17d8a08988f",
    }


def test_a_captured_failure_is_raised_as_ours(broker: Any, frame: Frame, row: Any, context: Any) -> None:
    container = row(frame("container_start")["args"]["container"])
    broker.spy()

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(broker.client.container_stats, context, broker.host, container)
        broker.reply(inner(broker.take()), frame("failure_reply"))
        error = waiting.exception(10)

    assert type(error) is RuntimeFailure
    assert str(error) == 'Docker internal error: 409 Client Error: Conflict ("Container is not running").'


def test_pci_requests(frame: Frame, structure: Any) -> None:
    captured = frame("pci_requests")
    requests = [one["zun_object.data"] for one in captured["zun_object.data"]["requests"]]

    assert structure(convert.pci_requests_to_wire(requests)) == structure(captured)


def test_networks_and_images(frame: Frame, row: Any) -> None:
    assert convert.network_to_wire(row(frame("zunnetwork"))) == frame("zunnetwork")
    assert convert.image_to_wire(row(frame("image"))) == frame("image")
