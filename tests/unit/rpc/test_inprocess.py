"""The bus inside one process, as the messaging library's own client and server see it."""

import concurrent.futures
import gc
import itertools
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oslo_messaging
import pytest

from tests.support.waiting import until
from tierce import config
from tierce.model.errors import RemoteFailure
from tierce.rpc.transport import build_transport

_names = itertools.count()
TOPIC = "topic"


def connect(name: str | None = None) -> Any:
    url = f"inprocess:///{name or f'driver-{next(_names)}'}"
    return build_transport(config.load(overrides=[("DEFAULT", "transport_url", url)]))


def server(transport: Any, name: str, *endpoints: object) -> Any:
    target = oslo_messaging.Target(topic=TOPIC, server=name)
    made = oslo_messaging.get_rpc_server(transport, target, list(endpoints))
    # The library's own pool takes a second to stop.
    made._executor_cls = concurrent.futures.ThreadPoolExecutor
    return made


def client(transport: Any, server_name: str | None = "one", timeout: float = 10) -> Any:
    target = oslo_messaging.Target(topic=TOPIC, server=server_name)
    return oslo_messaging.get_rpc_client(transport, target, timeout=timeout)


class Recorder:
    """An endpoint that keeps what it was told."""

    def __init__(self) -> None:
        self.told: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def tell(self, context: Any, what: Any) -> Any:
        self.told.put(what)
        return what


@pytest.fixture
def stopped() -> Any:
    """Servers added to this list are stopped at the end of the test."""
    servers: list[Any] = []
    yield servers
    for one in servers:
        one.stop()
        one.wait()


def test_a_call_returns_what_the_endpoint_returned(stopped: list[Any]) -> None:
    transport = connect()
    stopped.append(server(transport, "one", Recorder()))
    stopped[0].start()

    assert client(transport).call({}, "tell", what={"a": [1, None, "ü"]}) == {"a": [1, None, "ü"]}


@pytest.mark.parametrize(
    "wrap", [lambda text: text, lambda text: [text, {"a": 1}, text]], ids=["as a value", "as an item of one"]
)
def test_long_texts_are_handed_over_without_a_copy(stopped: list[Any], wrap: Callable[[str], Any]) -> None:
    transport, text = connect(), "x" * 100_000
    stopped.append(server(transport, "one", Recorder()))
    stopped[0].start()

    returned = client(transport).call({}, "tell", what=wrap(text))

    assert returned == wrap(text)
    assert (returned if isinstance(returned, str) else returned[2]) is text


def test_a_cast_reaches_the_server_that_it_names(stopped: list[Any]) -> None:
    transport, one, two = connect(), Recorder(), Recorder()
    stopped += [server(transport, "one", one), server(transport, "two", two)]
    for each in stopped:
        each.start()

    client(transport, "two").cast({}, "tell", what="hello")

    assert two.told.get(timeout=5) == "hello"
    assert one.told.empty()


def test_servers_of_a_topic_take_turns(stopped: list[Any]) -> None:
    transport, recorders = connect(), [Recorder(), Recorder()]
    stopped += [server(transport, f"s{n}", recorder) for n, recorder in enumerate(recorders)]
    for each in stopped:
        each.start()

    for number in range(4):
        client(transport, None).call({}, "tell", what=number)

    assert [recorder.told.qsize() for recorder in recorders] == [2, 2]


def test_only_json_crosses(stopped: list[Any]) -> None:
    transport, recorder = connect(), Recorder()
    stopped.append(server(transport, "one", recorder))
    stopped[0].start()
    original: dict[str, Any] = {"pair": (1, 2)}

    client(transport).cast({}, "tell", what=original)

    received = recorder.told.get(timeout=5)
    assert received == {"pair": [1, 2]}


def test_the_error_of_an_endpoint_is_raised_at_the_caller(stopped: list[Any]) -> None:
    class Failing:
        def tell(self, context: Any) -> None:
            raise KeyError("secret text")

    transport = connect()
    stopped.append(server(transport, "one", Failing()))
    stopped[0].start()

    with pytest.raises(RemoteFailure, match="KeyError") as caught:
        client(transport).call({}, "tell")
    assert "secret text" not in str(caught.value)


def test_a_call_that_is_not_answered_times_out(stopped: list[Any]) -> None:
    release = threading.Event()

    class Slow:
        def tell(self, context: Any) -> None:
            release.wait(10)

    transport = connect()
    stopped.append(server(transport, "one", Slow()))
    stopped[0].start()

    with pytest.raises(oslo_messaging.MessagingTimeout):
        client(transport, timeout=0.05).call({}, "tell")
    release.set()


def test_casts_wait_for_a_server_that_is_away_and_abandoned_calls_do_not(stopped: list[Any]) -> None:
    transport, recorder = connect(), Recorder()
    first = server(transport, "one", Recorder())
    first.start()
    first.stop()
    first.wait()

    client(transport).cast({}, "tell", what="cast")
    with pytest.raises(oslo_messaging.MessagingTimeout):
        client(transport, timeout=0.01).call({}, "tell", what="abandoned")
    client(transport).cast({}, "tell", what="last cast")
    stopped.append(server(transport, "one", recorder))
    stopped[0].start()

    assert {recorder.told.get(timeout=5) for _ in range(2)} == {"cast", "last cast"}
    assert recorder.told.empty()


def test_a_message_is_delivered_once(stopped: list[Any]) -> None:
    transport, recorder = connect(), Recorder()
    stopped += [server(transport, "one", recorder), server(transport, "one", recorder)]
    for each in stopped:
        each.start()

    client(transport).call({}, "tell", what=1)
    client(transport).call({}, "tell", what=2)

    assert [recorder.told.get(timeout=5) for _ in range(2)] == [1, 2]
    assert recorder.told.empty()


def test_nothing_is_delivered_after_stop() -> None:
    transport, recorder = connect(), Recorder()
    one = server(transport, "one", recorder)
    one.start()
    one.stop()
    client(transport).cast({}, "tell", what="late")
    one.wait()

    assert recorder.told.empty()


def test_sending_where_nobody_ever_listened_is_an_error_when_delivery_is_asked_for() -> None:
    options = oslo_messaging.TransportOptions(at_least_once=True)
    target = oslo_messaging.Target(topic=TOPIC, server="nobody")
    strict = oslo_messaging.get_rpc_client(connect(), target, transport_options=options)

    with pytest.raises(oslo_messaging.MessageUndeliverable):
        strict.cast({}, "tell", what="lost")


def test_two_buses_are_apart_and_one_name_is_one_bus(stopped: list[Any]) -> None:
    here, there = f"bus-{next(_names)}", f"bus-{next(_names)}"
    recorders = {here: Recorder(), there: Recorder()}
    for name, recorder in recorders.items():
        stopped.append(server(connect(name), "one", recorder))
        stopped[-1].start()

    client(connect(here)).call({}, "tell", what="x")

    assert recorders[here].told.get(timeout=5) == "x"
    assert recorders[there].told.empty()


def test_a_bus_goes_with_its_last_driver() -> None:
    name = f"bus-{next(_names)}"

    def use_and_drop(act: Callable[[Any], None]) -> None:
        transport = connect(name)
        act(transport)
        transport.cleanup()

    def listen(transport: Any) -> None:
        one = server(transport, "one", Recorder())
        one.start()
        one.stop()
        one.wait()

    use_and_drop(listen)
    gc.collect()

    options = oslo_messaging.TransportOptions(at_least_once=True)
    target = oslo_messaging.Target(topic=TOPIC, server="one")
    strict = oslo_messaging.get_rpc_client(connect(name), target, transport_options=options)
    with pytest.raises(oslo_messaging.MessageUndeliverable):
        strict.cast({}, "tell", what="x")


def test_fanout_is_refused() -> None:
    target = oslo_messaging.Target(topic=TOPIC, fanout=True)
    with pytest.raises(NotImplementedError):
        oslo_messaging.get_rpc_client(connect(), target).cast({}, "tell", what="x")


def voluntary_switches(thread_id: int) -> int:
    status = Path(f"/proc/self/task/{thread_id}/status").read_text()
    return int(status.split("voluntary_ctxt_switches:")[1].split()[0])


def test_an_idle_server_never_wakes_up(serve: Callable[[object], Any], context: Any, container: Any) -> None:
    class Endpoint:
        worker = 0

        def container_start(self, context: Any, container: Any) -> None:
            Endpoint.worker = threading.get_native_id()
            done.set()

    done = threading.Event()
    before = set(threading.enumerate())
    compute = serve(Endpoint())
    compute.container_start(context, "node1", container)
    assert done.wait(5)
    (worker,) = set(threading.enumerate()) - before
    assert worker.native_id == Endpoint.worker

    def does_nothing() -> bool:
        """For longer than any poll waits; it may first have to come to rest after its work."""
        before = voluntary_switches(Endpoint.worker)
        threading.Event().wait(1.3)
        return voluntary_switches(Endpoint.worker) == before

    until(does_nothing, timeout=20)
