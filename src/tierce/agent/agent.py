"""The node agent as one object: its parts wired together, started and stopped in order."""

import contextlib
import logging
import random
import uuid
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.agent import inventory
from tierce.agent.events import EventFollower
from tierce.agent.executor import Executor
from tierce.agent.operations import waits
from tierce.agent.operations.base import Plugs, unix_ns
from tierce.agent.periodic import Periodic
from tierce.agent.pulls import Pulls
from tierce.agent.reconcile import Reconciler
from tierce.agent.resizing import Resizing
from tierce.agent.runner import Observer, Runner
from tierce.agent.service import ComputeEndpoint
from tierce.agent.terminals import Terminals
from tierce.agent.workers import Workers
from tierce.config.default import sync_interval
from tierce.db import actions, clouds, services
from tierce.db.engine import DATABASE_TROUBLE, Database
from tierce.db.secrets import Keyring
from tierce.images.committed import EngineCommits
from tierce.images.registry import RegistryImages
from tierce.model.clock import Clock
from tierce.networks.addresses import AddressPool
from tierce.networks.bridge import BridgeNetworks
from tierce.placement.base import Placement
from tierce.rpc.server import ComputeServer
from tierce.runtimes.base import Runtime
from tierce.volumes.local import LocalVolumes

LOG = logging.getLogger(__name__)

NODE_LABEL = "tierce.node"
"""Label of everything that a node makes in its runtime; the value is the node's uuid."""

_BUS_SETTLES = 1.0
"""Seconds after which what was sent while the bus was away is looked for."""


def _ignore(action: str, step: str, moment: str) -> None:
    """The observer of a service in production."""


class Agent:
    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        runtime: Runtime,
        placement: Placement,
        transport: Any,
        clock: Clock,
        rng: random.Random,
        installation: str,
        displaced: Callable[[], None],
        observer: Observer = _ignore,
    ) -> None:
        """Nothing runs before `start`; the node's row is made here, as its uuid is needed at once.

        Of the processes of one `installation` the caller lets one run at a time. `displaced` is called,
        perhaps repeatedly, when another agent has taken the node over: the caller stops this one.
        """
        host = conf.host
        node = inventory.ensure_node(database, host, clock)
        labels = {NODE_LABEL: node.uuid}
        self._conf = conf
        self._writer = services.Writer(installation, str(uuid.UUID(int=rng.getrandbits(128))))
        self._displaced = displaced
        workers = Workers(conf.agent.workers)
        self._plugs = Plugs(
            conf=conf,
            database=database,
            runtime=runtime,
            images=RegistryImages.from_config(runtime.images, conf, workers.waiting),
            keyring=Keyring.from_conf(conf),
            commits=EngineCommits(runtime.containers, runtime.images),
            networks=BridgeNetworks(
                runtime.networks, labels, database.read(clouds.ident), AddressPool.from_conf(conf)
            ),
            volumes=LocalVolumes(conf.volume.volume_dir),
            placement=placement,
            workers=workers,
            clock=clock,
            host=host,
            owner_labels=labels,
        )
        self._periodic = Periodic(clock, rng)
        # On a thread of its own: a runtime that hangs must not make the node look dead.
        self._heart = Periodic(clock, rng)
        self._inventory = inventory.Inventory(conf, database, runtime, host, clock)
        self._reconciler = Reconciler(self._plugs, self._wake, self._look)
        self._executor = Executor(
            Runner(self._plugs, observer), self._reconciler.refresh, self._postpone, workers
        )
        self._events = EventFollower(self._plugs, self._executor.refresh, self._connected)
        self._pulls = Pulls(self._plugs)
        self.terminals = Terminals(self._plugs)
        resizing = Resizing(self._plugs, self._wake, self._executor.wait_for)
        endpoint = ComputeEndpoint(
            self._plugs, self._pulls, self._executor, self._reconciler.refresh_now, resizing, self.terminals
        )
        self._server = ComputeServer(transport, conf, host, endpoint, clock, self._bus_is_back)

    def start(self) -> None:
        """Take up what an earlier run left, begin to listen, and report the node.

        Raises NodeTaken while an agent of another installation serves the node, BusRefused. The node does
        not count as up then.
        """
        self._register()
        with contextlib.ExitStack() as undo:
            undo.callback(self.stop)
            self._begin()
            undo.pop_all()

    def _begin(self) -> None:
        conf, host = self._conf, self._plugs.host
        left_over = self._plugs.database.write(lambda session: actions.recover(session, host))
        if left_over:
            LOG.info("Taking up the queued actions of %d containers", len(left_over))
        self._events.start()
        for container in left_over:
            self._wake(container)
        self._server.start()
        # A bus that refuses the agent has raised by now: its node is not up, however often it starts.
        self._inventory.begin(self._write_beat)
        self._heart.every(conf.periodic_interval_max, self._beat)
        self._heart.start()
        # What was accepted before this node could be told is not among what was left over.
        self._catch_up()
        # One statement a minute from each of ten thousand nodes is 170 a second for the database. So these
        # tasks ask it little, and not at all while there is nothing to write.
        self._periodic.every(conf.periodic_interval_max, self._inventory.report_changes)
        self._periodic.every(conf.periodic_interval_max, self.terminals.tidy)
        self._periodic.every(conf.agent.poll_interval, self._poll)
        self._periodic.every(conf.agent.upkeep_interval, self._inventory.report)
        self._periodic.every(conf.agent.upkeep_interval, self._pulls.resume)
        self._periodic.every(conf.agent.upkeep_interval, self._plugs.images.tidy)
        if (seconds := sync_interval(conf)) is not None:
            self._periodic.every(seconds, self._reconciler.compare_all)
        self._periodic.start()

    def stop(self) -> bool:
        """Take nothing more, finish what runs; False when some of it did not end in `graceful_stop` s."""
        self._server.stop()
        self._periodic.stop(timeout=5)
        self._heart.stop(timeout=5)
        drained = self._executor.stop(self._conf.agent.graceful_stop)
        self._events.stop(timeout=5)
        with contextlib.suppress(*DATABASE_TROUBLE):
            self._plugs.database.write(
                lambda session: services.release(session, self._plugs.host, self._writer)
            )
        return drained

    def wait_idle(self, timeout: float) -> bool:
        """Wait until no action runs or is about to; False when `timeout` s were not enough."""
        return self._executor.wait_idle(timeout)

    # --- periodic work --------------------------------------------------------------------------

    def _register(self) -> None:
        plugs, now, down_time = self._plugs, self._plugs.clock.now(), self._conf.service_down_time
        plugs.database.write(
            lambda session: services.register(session, plugs.host, now, self._writer, down_time)
        )

    def _write_beat(self, session: Session) -> None:
        zone, plugs = self._conf.default_availability_zone, self._plugs
        services.beat(session, plugs.host, zone, plugs.clock.now(), self._writer)

    def _beat(self) -> None:
        try:
            self._plugs.database.write(self._write_beat)
        except services.NodeTaken as exc:
            LOG.error("This agent ends: %s", exc)
            self._displaced()

    def _poll(self) -> None:
        """The safety net under the messages: find what is queued and nobody told us of."""
        plugs, lease = self._plugs, self._conf.agent.lease
        mine, now = self._executor.working_on(), plugs.clock.now()
        for container in plugs.database.write(
            lambda session: actions.tend(session, plugs.host, mine, now, lease)
        ):
            self._wake(container)
            if container in mine:
                waits.cut_short(plugs, container)

    def _catch_up(self) -> None:
        """Find everything that messages may have told of, and we did not hear."""
        self._poll()
        self._pulls.resume()

    def _bus_is_back(self) -> None:
        """What was sent meanwhile is lost, and so may be what is sent until our queue is there again."""
        self._periodic.after(_BUS_SETTLES, self._catch_up)

    def _connected(self) -> None:
        """The runtime answers, at start or again: what it has may be anything by now."""
        self._inventory.report_changes()
        self._reconciler.compare_all()

    # --- wiring ---------------------------------------------------------------------------------

    def _wake(self, uuid: str) -> None:
        self._executor.wake(uuid)

    def _look(self, uuid: str) -> None:
        self._executor.refresh(uuid, unix_ns(self._plugs.clock))

    def _postpone(self, uuid: str) -> None:
        def again() -> None:
            self._wake(uuid)
            self._look(uuid)

        self._periodic.after(self._conf.agent.retry_interval, again)
