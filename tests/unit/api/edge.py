"""The application over stand-ins of control: what reaches them, and how what they answer is shown."""

import dataclasses
import datetime
import inspect
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import falcon.testing
from oslo_config import cfg

from tierce import config
from tierce.api.app import create_app
from tierce.control import (
    actions,
    archives,
    container_networks,
    containers,
    hosts,
    images,
    inspection,
    lifecycle,
    networks,
    policy,
    quotas,
    registries,
    remaking,
    resizing,
    terminals,
)
from tierce.control import services as node_services
from tierce.identity.base import Unauthenticated
from tierce.model.context import RequestContext

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00.123456")
UUID = "7c1e0f6e-54b7-4f7e-9b8e-7d8d1f5e0c22"


class StandIn:
    """Takes the calls that one class of control would take, by its signatures, and answers as told.

    An answer that is an exception is raised. Without an answer a call returns None.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        signature = inspect.signature(getattr(self._kind, name))

        def call(*args: Any, **kwargs: Any) -> Any:
            arguments = signature.bind(self, *args, **kwargs).arguments
            arguments.pop("self")
            self.calls.append((name, arguments))
            answer = self.answers.get(name)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    def only_call(self, name: str) -> dict[str, Any]:
        """The arguments of the one call of that method."""
        found = [arguments for called, arguments in self.calls if called == name]
        assert len(found) == 1, self.calls
        return found[0]


class PolicyStandIn(policy.Policy):
    """The rule that the policy ships: the role makes the administrator."""

    def __init__(self) -> None:
        pass

    def admit(self, context: RequestContext) -> RequestContext:
        return context.replace(is_admin="admin" in context.roles)

    def knows_nodes(self, context: RequestContext) -> bool:
        return "admin" in context.roles


class KnownCaller:
    """Everybody is alice, except who says nothing."""

    def authenticate(self, headers: Mapping[str, str]) -> RequestContext:
        if headers.get("authorization") != "alice":
            raise Unauthenticated('Basic realm="tierce"')
        return RequestContext(user_id="alice", project_id="p1", roles=("member", "reader"))


class FixedClock:
    def now(self) -> datetime.datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0


@dataclasses.dataclass
class Edge:
    """One application, with a client that is alice and speaks 1.40 unless told otherwise."""

    conf: cfg.ConfigOpts
    services: Any
    client: falcon.testing.TestClient

    def request(
        self,
        line: str,
        *,
        body: Any = None,
        raw: bytes | None = None,
        version: str | None = "1.40",
        headers: Mapping[str, str] | None = None,
    ) -> falcon.testing.Result:
        """Send `METHOD /path?query`; `body` goes as JSON, `raw` as it is."""
        method, _, target = line.partition(" ")
        path, _, query = target.partition("?")
        sent = {"authorization": "alice", "host": "api:9517"}
        if version is not None:
            sent["openstack-api-version"] = f"container {version}"
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            sent["content-type"] = "application/json"
        sent |= headers or {}
        return self.client.simulate_request(
            method, path, query_string=query, body=raw, headers={k: v for k, v in sent.items() if v}
        )

    def control_calls(self) -> list[tuple[str, dict[str, Any]]]:
        """What reached control."""
        return [call for stand_in in vars(self.services).values() for call in getattr(stand_in, "calls", [])]


def make_edge() -> Edge:
    conf = config.load()
    services = SimpleNamespace(
        policy=PolicyStandIn(),
        containers=StandIn(containers.Containers),
        lifecycle=StandIn(lifecycle.Lifecycle),
        resizing=StandIn(resizing.Resizing),
        remaking=StandIn(remaking.Remaking),
        inspection=StandIn(inspection.Inspection),
        terminals=StandIn(terminals.Terminals),
        archives=StandIn(archives.Archives),
        container_networks=StandIn(container_networks.ContainerNetworks),
        networks=StandIn(networks.Networks),
        actions=StandIn(actions.Actions),
        hosts=StandIn(hosts.Hosts),
        host_services=StandIn(node_services.HostServices),
        zones=StandIn(node_services.AvailabilityZones),
        quotas=StandIn(quotas.ProjectQuotas),
        quota_classes=StandIn(quotas.QuotaClasses),
        images=StandIn(images.Images),
        registries=StandIn(registries.Registries),
    )
    services.containers.answers["hidden_fields"] = frozenset(
        {"host", "image_pull_policy", "privileged", "runtime"}
    )
    services.containers.answers["down_hosts"] = frozenset()
    services.containers.answers["create"] = container_row(status="Creating", started_at=None)
    app = create_app(conf, services, KnownCaller(), FixedClock())
    return Edge(conf, services, falcon.testing.TestClient(app))


def container_row(**changes: Any) -> SimpleNamespace:
    """A running container as control hands it out."""
    values: dict[str, Any] = {
        "id": 1,
        "uuid": UUID,
        "name": "web",
        "project_id": "p1",
        "user_id": "alice",
        "image": "nginx:1.27",
        "image_driver": "docker",
        "image_pull_policy": "always",
        "cpu": 0.5,
        "cpu_policy": "shared",
        "memory": "256",
        "disk": 10,
        "command": ["nginx"],
        "entrypoint": [],
        "environment": {"A": "1"},
        "labels": {},
        "workdir": None,
        "hostname": "web",
        "interactive": False,
        "tty": False,
        "auto_remove": False,
        "auto_heal": False,
        "privileged": False,
        "runtime": "runc",
        "host": "node1",
        "restart_policy": {"Name": "on-failure", "MaximumRetryCount": "3"},
        "healthcheck": {"test": "true", "interval": 5},
        "security_groups": [],
        "addresses": {},
        "ports": [80],
        "registry_id": 7,
        "registry_uuid": "5f0a0000-0000-0000-0000-000000000000",
        "status": "Running",
        "status_reason": None,
        "status_detail": "Up",
        "task_state": None,
        "created_at": NOW - datetime.timedelta(minutes=6),
        "updated_at": None,
        "started_at": NOW - datetime.timedelta(minutes=5),
        "finished_at": None,
        "exit_code": None,
        "websocket_token": "secret",
    }
    return SimpleNamespace(**(values | changes))
