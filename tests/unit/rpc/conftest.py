"""Rows as the database hands them out, and buses inside the process."""

import datetime
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tierce import config
from tierce.model.context import RequestContext
from tierce.rpc.client import ComputeClient
from tierce.rpc.server import ComputeServer
from tierce.rpc.transport import build_transport

_names = itertools.count()


@pytest.fixture
def container() -> types.SimpleNamespace:
    """A row of the container table with every column filled."""
    moment = datetime.datetime.fromisoformat("2026-11-29T16:13:55")
    return types.SimpleNamespace(
        id=1, container_id="4f" * 32, uuid="b7455548-eac2-4c1b-a086-3fabe67cc88c", name="alpha",
        project_id="p", user_id="u", image="nginx", cpu=1.5, cpu_policy="dedicated",
        cpuset={"cpuset_cpus": [1, 3], "cpuset_mems": [0]}, memory="512", command=["sh", "-c", "true"],
        status="Running", status_reason="why", task_state="container_stopping", environment={"A": "1"},
        workdir="/srv", auto_remove=False, ports=[80, 443], hostname="h", labels={"k": "v"},
        addresses={"net": [{"addr": "10.0.0.5", "version": 4}]}, image_pull_policy="always", host="node1",
        restart_policy={"Name": "on-failure", "MaximumRetryCount": "3"}, status_detail="Up 3 hours",
        interactive=True, tty=True, image_driver="docker", websocket_url="ws://n/c", websocket_token="t",
        security_groups=["sg"], runtime="runc", disk=10, auto_heal=True, started_at=moment,
        exposed_ports={"80/tcp": {}}, privileged=True, healthcheck={"test": "true", "interval": 3},
        registry_id=7, annotations={"a": "b"}, cni_metadata={"pid": 4242}, entrypoint=["/bin/tini"],
        created_at=moment, updated_at=moment + datetime.timedelta(seconds=1),
        container_type=0, capsule_id=None,
    )  # fmt: skip


@pytest.fixture
def context() -> RequestContext:
    return RequestContext(user_id="u", project_id="p", roles=("member",), request_id="req-1")


@pytest.fixture
def new_conf() -> Callable[..., Any]:
    """Configuration of a service with a bus of its own, unless it is given a name."""

    def conf(bus: str | None = None, response_timeout: int = 10) -> Any:
        url = f"inprocess:///{bus or f'bus-{next(_names)}'}"
        return config.load(
            overrides=[
                ("DEFAULT", "transport_url", url),
                ("DEFAULT", "rpc_response_timeout", response_timeout),
            ]
        )

    return conf


class Node:
    """A served endpoint and a client of it."""

    def __init__(self, conf: Any, endpoint: object, host: str = "node1") -> None:
        self.transport = build_transport(conf)
        self.client = ComputeClient(self.transport, conf)
        self.server = ComputeServer(self.transport, conf, host, endpoint)


@pytest.fixture
def serve(new_conf: Callable[..., Any]) -> Iterator[Callable[[object], ComputeClient]]:
    """Serve an endpoint as `node1` on a bus of its own; the client is returned."""
    nodes: list[Node] = []

    def start(endpoint: object) -> ComputeClient:
        node = Node(new_conf(), endpoint)
        nodes.append(node)
        node.server.start()
        return node.client

    yield start
    for node in nodes:
        node.server.stop()
        node.client.close()
