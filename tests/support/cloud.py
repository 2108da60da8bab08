"""A whole cloud inside this process: API, node agents, bus and a SQLite file, on fake engines.

    cloud = Cloud(tmp_path, quota={"containers": 5})
    uuid = cloud.client.create(run=True)
    cloud.client.wait(uuid, "Running")
    cloud.engine.exit(f"zun-{uuid}", 3)

Options are groups of the configuration. Requests go through the WSGI application, from any thread. The
engines stay when agents and API go, as machines do; `close` at the end.
"""

import dataclasses
import datetime
import functools
import itertools
import pathlib
import random
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import oslo_messaging
from oslo_config import cfg
from sqlalchemy import select, update

from tests.support import soundness
from tests.support.client import IMAGE, Client
from tests.support.waiting import until
from tierce import config
from tierce.agent.agent import Agent
from tierce.agent.runner import Observer
from tierce.api.app import create_app
from tierce.api.front import put_before
from tierce.control.build import build_services
from tierce.db import actions, clouds, schema
from tierce.db.engine import Database, connect
from tierce.db.tables import Allocation, Container, ContainerAction, Service
from tierce.identity.accounts import Role
from tierce.identity.http_basic import HttpBasicIdentity
from tierce.identity.users import UserFiles
from tierce.model.clock import SystemClock
from tierce.model.container import NodeFacts
from tierce.networks.addresses import AddressPool
from tierce.networks.base import NetworkResolver
from tierce.networks.bridge import BridgeResolver
from tierce.placement.builtin import BuiltinPlacement
from tierce.rpc.client import ComputeClient
from tierce.rpc.server import ComputeServer
from tierce.rpc.transport import build_transport
from tierce.runtimes.fake import FakeEngine, FakeRuntime

ADMIN = "admin"

FACTS = NodeFacts(
    name="fake",
    cpus=64,
    memory_total=256 * 1024,
    memory_available=256 * 1024,
    disk_total=4096,
    runtimes=("runc",),
)

_buses = itertools.count()


class ShiftedClock:
    """The machine's clock, some seconds ahead."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._ahead = 0.0

    def advance(self, seconds: float) -> None:
        self._ahead += seconds

    def now(self) -> datetime.datetime:
        return self._clock.now() + datetime.timedelta(seconds=self._ahead)

    def monotonic(self) -> float:
        return self._clock.monotonic() + self._ahead


class Killed(BaseException):
    """Raised by an observer: the process dies here, and nothing of it tidies up."""


class Death:
    """An observer for whom the process dies at one boundary, so many times."""

    def __init__(self, action: str, step: str, moment: str, times: int = 1) -> None:
        self._where = (action, step, moment)
        self._times = times
        self.count = 0

    def __call__(self, action: str, step: str, moment: str) -> None:
        if (action, step, moment) == self._where and self.count < self._times:
            self.count += 1
            raise Killed


def silent(action: str, step: str, moment: str) -> None:
    """An observer that does nothing."""


@dataclasses.dataclass
class Node:
    """One machine. `agent` is None while none runs on it."""

    host: str
    engine: FakeEngine
    agent: Agent | None = None


class Cloud:
    def __init__(
        self,
        directory: pathlib.Path,
        *,
        hosts: Sequence[str] = ("node1",),
        facts: NodeFacts = FACTS,
        registry: Collection[str] | None = None,
        observer: Observer = silent,
        **options: Mapping[str, object],
    ) -> None:
        """`hosts` are its nodes, each with `facts`; `registry` has what can be pulled (None: everything).

        `observer` is told of every boundary of an action's steps, and may raise Killed.
        """
        self._directory = directory
        self._options = options
        self._bus = f"inprocess:///cloud-{next(_buses)}"
        self._held: list[threading.Event] = []
        self.observer = observer
        self.clock = ShiftedClock()
        self.nodes = {
            host: Node(host, FakeEngine(self.clock, facts=facts, images=[IMAGE], registry=registry))
            for host in hosts
        }
        self.database_file.write_bytes(_empty_database())
        self.policy_file.write_text("")  # or one of this machine's own would count
        self._users = UserFiles(directory / "htpasswd", directory / "projects", rounds=4)
        self.client = self.user(ADMIN, project=ADMIN, role=Role.ADMIN)
        self.start()

    # --- life -----------------------------------------------------------------------------------

    def start(self) -> None:
        """The API, and an agent on every node."""
        conf = self._conf(next(iter(self.nodes)))
        self.database: Database = connect(conf)
        self._placement = BuiltinPlacement(conf)
        self._transport = build_transport(conf)
        self.compute = ComputeClient(self._transport, conf, self.clock)
        for host in self.nodes:
            self.start_node(host)
        services = build_services(
            conf,
            self.database,
            self._placement,
            self._networks(conf),
            self.compute,
            self.clock,
            random.Random(),
        )
        self.app = create_app(conf, services, HttpBasicIdentity.from_conf(conf), self.clock)
        self.served = put_before(self.app, conf)

    def configure(self, **options: Mapping[str, object]) -> None:
        """Other options, by group, for whatever is started from now on."""
        self._options = {**self._options, **options}

    def stop(self) -> None:
        """Everything but the engines, in good order. Idempotent."""
        for host in self.nodes:
            self.stop_node(host)
        self.compute.close()
        self.database.close()

    def restart(self) -> None:
        self.stop()
        self.start()

    def start_node(self, host: str) -> None:
        """A new agent on the node, as after a reboot of its machine."""
        node, conf = self.nodes[host], self._conf(host)
        node.agent = Agent(
            conf,
            self.database,
            FakeRuntime(node.engine),
            self._placement,
            build_transport(conf),
            self.clock,
            random.Random(),
            installation=host,
            displaced=lambda: None,
            observer=lambda action, step, moment: self.observer(action, step, moment),
        )
        node.agent.start()

    def stop_node(self, host: str) -> None:
        """No agent on the node, of which the API knows nothing yet. Idempotent."""
        node = self.nodes[host]
        if node.agent is not None:
            node.agent.stop()
            node.agent = None

    def lose_node(self, host: str) -> None:
        """No agent on the node, and its last heartbeat is long ago."""
        self.stop_node(host)
        long_ago = self.clock.now() - datetime.timedelta(hours=1)
        self.database.write(
            lambda session: session.execute(
                update(Service).where(Service.host == host).values(last_seen_up=long_ago)
            )
        )

    def close(self) -> None:
        """Stop, letting go of what still hangs."""
        self.let_go()
        self.stop()

    def compare(self, host: str) -> None:
        """Have the node compare all that it has with the database, which ends with claims of nobody."""
        claim = Allocation(consumer_uuid="nobody", host=host, vcpus=1, memory_mb=1, disk_gb=0)
        self.stop_node(host)
        self.database.write(lambda session: session.add(claim))
        self.start_node(host)
        until(lambda: "nobody" not in self.claims())

    def serve(self, host: str, endpoint: object) -> ComputeServer:
        """Have `endpoint` take the node's messages, as another program's agent there would; it is to be
        stopped.
        """
        conf = self._conf(host)
        server = ComputeServer(build_transport(conf), conf, host, endpoint, self.clock)
        server.start()
        return server

    def send(self, host: str, frame: Mapping[str, Any]) -> None:
        """Put a message without an answer on the bus for a node, as it was captured."""
        context = {
            name.removeprefix("_context_"): value
            for name, value in frame.items()
            if name.startswith("_context_")
        }
        target = oslo_messaging.Target(topic="zun-compute", server=host)
        bus = oslo_messaging.get_rpc_client(self._transport, target)
        bus.cast(context, frame["method"], **frame["args"])

    # --- faults ---------------------------------------------------------------------------------

    def hold(self, call: str, error: Exception | None = None) -> threading.Event:
        """Have the next such call of the first node's engine hang until the event is set, and then fail."""
        release = threading.Event()
        self._held.append(release)
        self.engine.script(call, until=release, error=error)
        return release

    def let_go(self) -> None:
        """Set every event of `hold`."""
        for release in self._held:
            release.set()

    # --- looking at it --------------------------------------------------------------------------

    @property
    def engine(self) -> FakeEngine:
        """That of the first node."""
        return next(iter(self.nodes.values())).engine

    @property
    def database_file(self) -> pathlib.Path:
        return self._directory / "tierce.sqlite"

    @property
    def policy_file(self) -> pathlib.Path:
        """Where an operator's rules would be."""
        return self._directory / "policy.yaml"

    def user(self, name: str, *, project: str, role: str = "member") -> Client:
        """A new user with a client of its own."""
        self._users.add(name, project, Role(role), f"password of {name}")
        # An operator's rules may hide what the document says is there.
        return Client(lambda: self.served, name, documented=lambda: not self.policy_file.read_text())

    def wait_idle(self) -> None:
        """Wait until no action is unfinished on any node that has an agent, and these rest: they have also
        dealt with all that their engines have told.
        """
        nodes = {name: node for name, node in self.nodes.items() if node.agent}

        def told() -> Mapping[str, int]:
            return {name: node.engine.event_log.count for name, node in nodes.items()}

        def busy() -> Sequence[object]:
            before = told()
            return (
                [name for name, node in nodes.items() if not node.engine.event_log.is_heard()]
                or self.unfinished()
                or [name for name, node in nodes.items() if node.agent and not node.agent.wait_idle(0)]
                # What ended a moment ago may have been told only now.
                or [name for name, count in told().items() if count != before[name]]
            )

        until(busy, lambda found: not found)

    def unfinished(self) -> list[tuple[str, str | None, str | None]]:
        """Container, action and state of what nodes with an agent have yet to end."""
        hosts = [node.host for node in self.nodes.values() if node.agent]
        statement = select(
            ContainerAction.container_uuid, ContainerAction.action, ContainerAction.state
        ).where(
            ContainerAction.host.in_(hosts),
            ContainerAction.state.in_([actions.State.QUEUED, actions.State.RUNNING]),
        )
        return self.database.read(lambda session: [(*row,) for row in session.execute(statement)])

    def rows(self) -> list[Container]:
        """Every container row of the database."""
        return self.database.read(lambda session: list(session.scalars(select(Container))))

    def row(self, uuid: str) -> Container:
        return next(row for row in self.rows() if row.uuid == uuid)

    def claims(self) -> dict[str, Allocation]:
        """What is claimed, by container."""
        return self.database.read(
            lambda session: {claim.consumer_uuid: claim for claim in session.scalars(select(Allocation))}
        )

    def has_container(self, uuid: str) -> bool:
        """Whether any engine has it."""
        return any(f"zun-{uuid}" in node.engine.containers for node in self.nodes.values())

    def broken(self) -> list[str]:
        """Sentences about what is not as it must be, in a cloud that rests."""
        seen = {host: soundness.seen_in(node.engine) for host, node in self.nodes.items() if node.agent}
        return soundness.broken(self.database, seen)

    def wait_sound(self) -> None:
        """Wait until the cloud rests, and nothing in it is broken."""
        self.wait_idle()
        until(self.broken, lambda found: not found)

    def _networks(self, conf: cfg.ConfigOpts) -> NetworkResolver:
        return BridgeResolver(self.database.read(clouds.ident), AddressPool.from_conf(conf))

    def _conf(self, host: str) -> cfg.ConfigOpts:
        """The configuration of a node's programs, read from a file of its own beside the policy."""
        groups: dict[str, dict[str, object]] = {
            "DEFAULT": {
                "host": host,
                "state_path": self._directory,
                "transport_url": self._bus,
                "default_image_pull_policy": "ifnotpresent",
                "auth_encryption_key": "32 characters that a test knows.",
            },
            "agent": {"retry_interval": 1, "unreachable_retries": 0, "graceful_stop": 10},
            # However slow the machine, no request is refused for those that wait for the node beside it.
            "api": {"threads": 64},
            "database": {"connection": f"sqlite:///{self.database_file}"},
            "quota": dict.fromkeys(("containers", "cpu", "memory", "disk"), -1),
        }
        for group, values in self._options.items():
            groups.setdefault(group, {}).update(values)
        lines = []
        for group, values in groups.items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in values.items())]
        file = self._directory / f"{host}.conf"
        file.write_text("\n".join(lines))
        return config.load([str(file)])


@functools.cache
def _empty_database() -> bytes:
    """A database file with the schema in it, made once: every cloud begins with a copy."""
    with tempfile.TemporaryDirectory(prefix="tierce-schema-") as directory:
        file = pathlib.Path(directory) / "empty.sqlite"
        database = connect(config.load(overrides=[("database", "connection", f"sqlite:///{file}")]))
        schema.upgrade(database)
        database.close()
        return file.read_bytes()
