"""Client and server together: names, refusals, results."""

import inspect
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import oslo_messaging
import pytest

from tierce import config
from tierce.model import errors
from tierce.rpc.client import ComputeClient
from tierce.rpc.context import context_from_wire
from tierce.rpc.server import METHODS, ComputeServer
from tierce.rpc.transport import build_transport

Serve = Callable[[object], ComputeClient]


class Echo:
    """Every method of the contract; remembers what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, dict[str, Any]]] = []
        self.called = threading.Event()

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(name)

        def method(context: Any, **args: Any) -> Any:
            self.calls.append((name, context, args))
            self.called.set()
            return None

        return method


def test_there_are_31_methods_and_the_client_has_each() -> None:
    public = {name for name, _ in inspect.getmembers(ComputeClient, inspect.isfunction) if name[0] != "_"}

    assert len(METHODS) == 31
    assert public - {"close"} == METHODS


def test_arguments_arrive_by_their_names(serve: Serve, context: Any, container: Any) -> None:
    endpoint = Echo()
    client = serve(endpoint)
    mount = {"project_id": "p", "container_path": "/data", "volume_id": 1}

    client.container_create(
        context,
        "node1",
        container,
        limits={"cpu": 1.0},
        requested_networks=[{"network": "n", "port": ""}],
        requested_volumes={container.uuid: [mount]},
        run=True,
        pci_requests=[{"count": 1, "spec": [{"dev_type": "PF"}]}],
    )
    assert endpoint.called.wait(5)

    ((name, received, args),) = endpoint.calls
    assert name == "container_create"
    assert received == context.replace(resource_uuid=container.uuid)
    assert args["container"].name == "alpha"
    assert (args["limits"], args["run"]) == ({"cpu": 1.0}, True)
    assert args["requested_networks"] == [{"network": "n", "port": ""}]
    assert [one.container_path for one in args["requested_volumes"][container.uuid]] == ["/data"]
    assert args["pci_requests"].requests[0].spec == [{"dev_type": "PF"}]
    assert args["pci_requests"].requests[0].alias_name is None


def test_an_action_finds_the_container_idle_or_a_node_of_zun_would_leave_it_held_for_ever(
    serve: Serve, context: Any, container: Any
) -> None:
    """It lets go at the end of what it has taken hold of itself alone."""
    endpoint = Echo()
    assert container.task_state is not None
    serve(endpoint).container_start(context, "node1", container)
    assert endpoint.called.wait(5)
    ((_, _, args),) = endpoint.calls
    assert args["container"].task_state is None


def test_times_travel_in_words_that_nodes_of_zun_understand(
    serve: Serve, context: Any, container: Any
) -> None:
    """They take the number 0 for no time at all, and read no fractions of seconds but in dates."""
    endpoint = Echo()
    client = serve(endpoint)
    how: dict[str, Any] = {"stdout": True, "stderr": True, "timestamps": False, "tail": "all"}
    for since in (None, 1514764800.0, 1514764800.123):
        client.container_logs(context, "node1", container, since=since, **how)
    sent = [args["since"] for _, _, args in endpoint.calls]
    assert sent == [None, "1514764800", "2018-01-01 00:00:00,123000"]

    for timeout, text in ((0, "0"), (None, None)):
        endpoint.called.clear()
        client.container_stop(context, "node1", container, timeout=timeout)
        assert endpoint.called.wait(5)
        assert endpoint.calls[-1][2]["timeout"] == text


def test_rows_come_back_as_columns(serve: Serve, context: Any, container: Any) -> None:
    class Endpoint:
        def container_show(self, context: Any, container: Any) -> Any:
            return types.SimpleNamespace(**vars(row) | {"status": "Stopped"})

    row = container

    shown = serve(Endpoint()).container_show(context, "node1", container)

    assert shown["status"] == "Stopped"
    assert shown["addresses"] == container.addresses


def test_binary_output_does_not_block_the_reply(serve: Serve, context: Any, container: Any) -> None:
    class Endpoint:
        def container_logs(self, context: Any, container: Any, **how: Any) -> bytes:
            return b"\xff\xfe log"

    logs = serve(Endpoint()).container_logs(
        context, "node1", container, stdout=True, stderr=True, timestamps=False, tail="all", since=None
    )

    assert logs == "�� log"


def test_a_result_without_wire_form_is_an_error_and_not_a_silence(
    serve: Serve, context: Any, container: Any
) -> None:
    class Endpoint:
        def container_stats(self, context: Any, container: Any) -> Any:
            return {"value": object()}

    with pytest.raises(errors.RemoteFailure):
        serve(Endpoint()).container_stats(context, "node1", container)


def test_the_error_of_a_node_is_raised_here_without_its_traceback(
    serve: Serve, context: Any, container: Any
) -> None:
    class Endpoint:
        def container_top(self, context: Any, container: Any, ps_args: Any) -> Any:
            raise errors.RuntimeConflict("Container is 100% paused: date +%d")

    with pytest.raises(errors.RuntimeConflict) as caught:
        serve(Endpoint()).container_top(context, "node1", container, ps_args=None)
    assert str(caught.value) == "Container is 100% paused: date +%d"


def test_a_node_that_does_not_reply_in_time(
    new_conf: Callable[..., Any], context: Any, container: Any
) -> None:
    class Endpoint:
        def container_stats(self, context: Any, container: Any) -> Any:
            release.wait(10)

    release = threading.Event()
    conf = new_conf(response_timeout=1)
    transport = build_transport(conf)
    server = ComputeServer(transport, conf, "node1", Endpoint())
    server.start()
    try:
        with pytest.raises(errors.RpcTimeout, match=r"node1 to container_stats within 1 s; .* is unknown"):
            ComputeClient(transport, conf).container_stats(context, "node1", container)
    finally:
        release.set()
        server.stop()


def test_a_node_that_never_listened_is_not_up(serve: Serve, context: Any, container: Any) -> None:
    client = serve(Echo())

    with pytest.raises(errors.HostNotUp):
        client.container_start(context, "elsewhere", container)
    with pytest.raises(errors.HostNotUp):
        client.container_stats(context, "elsewhere", container)


@pytest.mark.parametrize("host", ["elsewhere", None])
def test_a_container_of_another_node_is_refused(
    serve: Serve, context: Any, container: Any, host: str | None
) -> None:
    endpoint = Echo()
    client = serve(endpoint)
    container.host = host

    with pytest.raises(errors.Conflict, match="not on host node1"):
        client.container_stats(context, "node1", container)
    assert not endpoint.calls


def test_a_new_container_has_no_host_yet(serve: Serve, context: Any, container: Any) -> None:
    endpoint = Echo()
    container.host = None

    serve(endpoint).container_create(context, "node1", container, requested_networks=[], requested_volumes={})

    assert endpoint.called.wait(5)


@pytest.mark.parametrize("method", ["run_periodic_tasks", "capsule_create", "_wake", "__init__", "wake"])
def test_methods_outside_the_contract_do_not_exist(new_conf: Callable[..., Any], method: str) -> None:
    class Endpoint:
        def __getattr__(self, name: str) -> Any:
            return lambda *args, **kwargs: "reached"

    conf = new_conf()
    transport = build_transport(conf)
    server = ComputeServer(transport, conf, "node1", Endpoint())
    server.start()
    target = oslo_messaging.Target(topic="zun-compute", server="node1")
    raw = oslo_messaging.get_rpc_client(transport, target, timeout=5)
    try:
        with pytest.raises(errors.RemoteFailure, match=f"does not support RPC method {method}"):
            raw.call({}, method)
    finally:
        server.stop()


def test_unknown_and_missing_arguments_are_errors(new_conf: Callable[..., Any]) -> None:
    class Endpoint:
        def container_exec_resize(self, context: Any, exec_id: str, height: str, width: str) -> None:
            """Nothing."""

    conf = new_conf()
    transport = build_transport(conf)
    server = ComputeServer(transport, conf, "node1", Endpoint())
    server.start()
    target = oslo_messaging.Target(topic="zun-compute", server="node1")
    raw = oslo_messaging.get_rpc_client(transport, target, timeout=5)
    whole = {"exec_id": "e", "height": "1", "width": "2"}
    try:
        assert raw.call({}, "container_exec_resize", **whole) is None
        for args in (whole | {"more": 1}, {"exec_id": "e"}):
            with pytest.raises(errors.RemoteFailure, match="TypeError"):
                raw.call({}, "container_exec_resize", **args)
    finally:
        server.stop()


def test_stop_waits_for_the_work_in_hand(new_conf: Callable[..., Any], context: Any, container: Any) -> None:
    class Endpoint:
        def container_start(self, context: Any, container: Any) -> None:
            begun.set()
            release.wait(10)
            finished.append(container.name)

    begun, release, finished = threading.Event(), threading.Event(), list[str]()
    conf = new_conf()
    transport = build_transport(conf)
    server = ComputeServer(transport, conf, "node1", Endpoint())
    server.start()
    ComputeClient(transport, conf).container_start(context, "node1", container)
    assert begun.wait(5)

    stopping = threading.Thread(target=server.stop)
    stopping.start()
    release.set()
    stopping.join(5)

    assert finished == ["alpha"]
    assert not stopping.is_alive()


def test_stop_before_start_and_twice_is_nothing(new_conf: Callable[..., Any]) -> None:
    conf = new_conf()
    server = ComputeServer(build_transport(conf), conf, "node1", Echo())

    server.stop()
    server.start()
    server.stop()
    server.stop()


def test_an_image_search_can_go_to_any_node(serve: Serve, context: Any) -> None:
    class Endpoint:
        def image_search(self, context: Any, **args: Any) -> Any:
            return [args]

    found = serve(Endpoint()).image_search(
        context, None, image="nginx", image_driver_name="docker", exact_match=False
    )

    assert found == [
        {"image": "nginx", "image_driver_name": "docker", "exact_match": False, "registry": None}
    ]


def test_the_exchange_is_zun_unless_the_configuration_names_another(tmp_path: Any) -> None:

    def exchange(text: str) -> str:
        path = tmp_path / "tierce.conf"
        path.write_text(f"[DEFAULT]\n{text}\n")
        name: str = build_transport(config.load([str(path)])).conf.control_exchange
        return name

    assert exchange("") == "zun"
    assert exchange("control_exchange = other") == "other"


def test_pings_are_answered_where_the_configuration_says_so(tmp_path: Any) -> None:

    path = tmp_path / "tierce.conf"
    path.write_text("[DEFAULT]\ntransport_url = inprocess:///ping\nrpc_ping_enabled = true\n")
    conf = config.load([str(path)])
    transport = build_transport(conf)
    server = ComputeServer(transport, conf, "node1", Echo())
    server.start()
    target = oslo_messaging.Target(topic="zun-compute", server="node1")
    try:
        raw = oslo_messaging.get_rpc_client(transport, target, timeout=5)
        assert raw.call({}, "oslo_rpc_server_ping") == "pong"
    finally:
        server.stop()


def test_no_eventlet_no_broker_library_and_no_warning() -> None:
    program = """
import sys
from tierce import config
from tierce.rpc.client import ComputeClient
from tierce.rpc.server import ComputeServer
from tierce.rpc.transport import build_transport
conf = config.load(overrides=[("DEFAULT", "transport_url", "inprocess://")])
transport = build_transport(conf)
ComputeServer(transport, conf, "node1", object()).start()
ComputeClient(transport, conf)
loaded = {"eventlet", "greenlet", "kombu", "amqp"} & set(sys.modules)
assert not loaded, loaded
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_context_reaches_the_endpoint_as_ours(serve: Serve, container: Any) -> None:
    endpoint = Echo()
    context = context_from_wire({"user_id": "u", "is_admin": True, "roles": ["admin"]})

    serve(endpoint).container_stats(context, "node1", container)

    assert endpoint.calls[0][1] == context
