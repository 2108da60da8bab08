"""`tierce standalone`: API, node agent, bus and database in one process."""

import argparse
import contextlib
import fcntl
import logging
import os
import random
import secrets
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oslo_config import cfg
from sqlalchemy import make_url
from stevedore import driver

from tierce.agent.agent import Agent
from tierce.agent.runner import Observer
from tierce.api.app import create_app
from tierce.api.front import put_before
from tierce.api.server import ApiServer
from tierce.control import Services
from tierce.control.build import build_services
from tierce.db import engine, schema
from tierce.db.secrets import ensure_key
from tierce.identity.base import Identity
from tierce.model.clock import Clock, SystemClock
from tierce.model.errors import TierceError
from tierce.networks.addresses import AddressPool
from tierce.networks.bridge import BridgeResolver
from tierce.observability import logs
from tierce.placement.builtin import BuiltinPlacement
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_transport
from tierce.runtimes.base import Runtime

LOG = logging.getLogger(__name__)


class AlreadyRunning(TierceError):
    """Another process serves the same node with the same state."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    subparsers.add_parser("standalone", help="serve the API and run containers, all in this process")


def run(_args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    logs.setup(conf)
    # Database and volumes hold what users injected: nobody else on the machine reads them.
    os.umask(0o077)
    return serve(conf)


def serve(conf: cfg.ConfigOpts, observer: Observer | None = None) -> int:
    """Serve until SIGTERM or SIGINT; 0 when everything under way was finished or is safe in the queue."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with only_one(conf):
        service = Standalone(conf, observer=observer)
        host, port = service.start()
        LOG.info("Serving on http://%s:%d", host, port)
        stop.wait()
        LOG.info("Stopping")
        if service.stop():
            return 0
    LOG.warning("Some actions did not finish in time; the next start takes them up again")
    logging.shutdown()
    # The threads that still work would hold an ordinary exit.
    os._exit(0)


@contextlib.contextmanager
def only_one(conf: cfg.ConfigOpts) -> Iterator[None]:
    """Hold the node's lock. Raises AlreadyRunning when another process has it."""
    state = _state_directory(conf)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(state / f"{conf.host}.lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise AlreadyRunning(
                f"Another process runs the node {conf.host} with its state in {state}. Stop it first."
            ) from exc
        yield


def _state_directory(conf: cfg.ConfigOpts) -> Path:
    """Where the state is: two processes on one SQLite database are two on one state, whatever their paths."""
    url = make_url(conf.database.connection)
    in_file = url.get_backend_name() == "sqlite" and url.database
    return Path(url.database or "").resolve().parent if in_file else Path(conf.state_path)


class Standalone:
    """The whole service as one object."""

    def __init__(
        self, conf: cfg.ConfigOpts, clock: Clock | None = None, observer: Observer | None = None
    ) -> None:
        """Connect to the database, bringing its schema up to date.

        Raises SchemaMismatch, InvalidEncryptionKey.
        """
        clock = clock or SystemClock()
        rng = random.Random()  # noqa: S311 (names and jitter, no secrets)
        self._database = engine.connect(conf)
        schema.upgrade(self._database)
        ensure_key(conf, lambda: secrets.token_urlsafe(24))
        self._runtime: Runtime = _plug("tierce.runtimes", conf.container_driver).from_conf(conf)
        placement = BuiltinPlacement(conf)
        transport = build_transport(conf)
        self._compute = ComputeClient(transport, conf, clock)
        extra: dict[str, Any] = {} if observer is None else {"observer": observer}
        self.agent = Agent(conf, self._database, self._runtime, placement, transport, clock, rng, **extra)
        networks = BridgeResolver(self.agent.node_uuid, AddressPool.from_conf(conf))
        self.services: Services = build_services(
            conf, self._database, placement, networks, self._compute, clock, rng
        )
        identity: Identity = _plug("tierce.identity", conf.api.auth_strategy).from_conf(conf)
        self.application = put_before(create_app(conf, self.services, identity, clock), conf)
        self._api = ApiServer(self.application, conf.api.host_ip, conf.api.port, conf.api.threads)

    def start(self) -> tuple[str, int]:
        """Start the agent, then the API; the API's address. Raises AddressInUse."""
        self.agent.start()
        return self._api.start()

    def stop(self) -> bool:
        """Stop in reverse order; False when some action did not finish in time."""
        self._api.stop()
        drained = self.agent.stop()
        self._compute.close()
        if drained:
            self._runtime.close()
            self._database.close()
        return drained


def _plug(namespace: str, name: str) -> Any:
    """The class that an entry point names. Raises TierceError when there is none of that name."""

    def missing(_manager: object, _name: str, error: Exception) -> None:
        raise TierceError(f"The plug {name} of {namespace} cannot be loaded: {error}") from error

    try:
        return driver.DriverManager(namespace, name, on_load_failure_callback=missing).driver
    except driver.NoMatches as exc:
        raise TierceError(f"There is no plug {name} in {namespace}.") from exc
