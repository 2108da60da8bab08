"""A broker that does not answer costs its callers a bounded time."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tierce import config
from tierce.model.errors import BusUnavailable
from tierce.rpc import caller
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_transport


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Something that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def client(port: int) -> ComputeClient:
    url = f"rabbit://user:hunter2@127.0.0.1:{port}/"
    conf = config.load(overrides=[("DEFAULT", "transport_url", url)])
    return ComputeClient(build_transport(conf), conf)


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def test_where_nothing_listens_casts_and_calls_fail_soon(
    frame: Any, row: Any, context: Any, caplog: Any
) -> None:
    container = row(frame("container_start")["args"]["container"])
    compute = client(closed_port())
    begun = time.monotonic()

    with pytest.raises(BusUnavailable):
        compute.container_start(context, "node1", container)
    with pytest.raises(BusUnavailable):
        compute.container_show(context, "node1", container)

    assert time.monotonic() - begun < caller.SEND_SECONDS
    assert "hunter2" not in caplog.text
    compute.close()


def test_where_nothing_answers_a_cast_is_given_up(
    frame: Any, row: Any, context: Any, silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = row(frame("container_start")["args"]["container"])
    monkeypatch.setattr(caller, "SEND_SECONDS", 0.2)
    compute = client(silent.getsockname()[1])
    begun = time.monotonic()

    with pytest.raises(BusUnavailable):
        compute.container_start(context, "node1", container)

    assert time.monotonic() - begun < 2
    compute.close()


def refusal(compute: ComputeClient, context: Any, container: Any) -> str:
    with pytest.raises(BusUnavailable) as caught:
        compute.container_start(context, "node1", container)
    return str(caught.value)


def test_after_a_cast_that_was_not_taken_none_is_waited_for(
    frame: Any, row: Any, context: Any, silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = row(frame("container_start")["args"]["container"])
    monkeypatch.setattr(caller, "SEND_SECONDS", 1.0)
    compute = client(silent.getsockname()[1])
    refusal(compute, context, container)
    begun = time.monotonic()

    for _ in range(20):
        refusal(compute, context, container)

    assert time.monotonic() - begun < 1
    compute.close()


def test_of_casts_that_are_not_taken_not_too_many_are_kept(
    frame: Any, row: Any, context: Any, silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = row(frame("container_start")["args"]["container"])
    monkeypatch.setattr(caller, "SEND_SECONDS", 0.2)
    monkeypatch.setattr(caller, "_KEPT_CASTS", 10)
    compute = client(silent.getsockname()[1])

    kept, dropped = ({refusal(compute, context, container) for _ in range(10)} for _ in range(2))

    assert kept == {"The message bus does not take messages."}
    assert dropped == {"The message bus does not take messages, and many wait for it."}
    compute.close()
