"""The parts put together, for the programs of which each command is one."""

import random
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from stevedore import driver

from tierce.agent.agent import Agent
from tierce.agent.runner import Observer
from tierce.api.app import create_app
from tierce.api.front import Wsgi, put_before
from tierce.api.health import Dependency
from tierce.control.build import build_services
from tierce.db import clouds
from tierce.db.engine import Database
from tierce.identity.base import Identity
from tierce.model.clock import SystemClock
from tierce.model.errors import TierceError
from tierce.networks.addresses import AddressPool
from tierce.networks.bridge import BridgeResolver
from tierce.placement.builtin import BuiltinPlacement
from tierce.rpc import transport as bus
from tierce.rpc.client import ComputeClient
from tierce.runtimes.base import Runtime

_BROKER_SECONDS = 1.0
"""That a health check waits for each broker."""


def new_random() -> random.Random:
    """For names and jitter. The system's, as workers that are forked from one process must differ."""
    return random.SystemRandom()


class Node:
    """A node agent with the runtime that it works on."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        transport: Any,
        installation: str,
        displaced: Callable[[], None],
        observer: Observer | None = None,
    ) -> None:
        """`displaced` is called when another agent has taken the node over. Raises InvalidEncryptionKey."""
        self._runtime: Runtime = _plug("tierce.runtimes", conf.container_driver).from_conf(conf)
        extra: dict[str, Any] = {} if observer is None else {"observer": observer}
        self._agent = Agent(
            conf,
            database,
            self._runtime,
            BuiltinPlacement(conf),
            transport,
            SystemClock(),
            new_random(),
            installation=installation,
            displaced=displaced,
            **extra,
        )

    def start(self) -> None:
        """Raises NodeTaken."""
        self._agent.start()

    def stop(self) -> bool:
        """False when some action did not finish in time."""
        drained = self._agent.stop()
        if drained:
            self._runtime.close()
        return drained


def build_application(
    conf: cfg.ConfigOpts, database: Database, transport: Any, compute: ComputeClient
) -> Wsgi:
    """The API. `compute` sends over `transport`.

    Raises InvalidValue for an option that names what does not exist, InvalidEncryptionKey.
    """
    clock = SystemClock()
    networks = BridgeResolver(database.read(clouds.ident), AddressPool.from_conf(conf))
    services = build_services(conf, database, BuiltinPlacement(conf), networks, compute, clock, new_random())
    identity: Identity = _plug("tierce.identity", conf.api.auth_strategy).from_conf(conf)
    dependencies = [
        Dependency("database", needed=True, answers=database.answers),
        # Requests are accepted without a bus, and done when it is back.
        Dependency("bus", needed=False, answers=lambda: bus.answers(transport, conf, _BROKER_SECONDS)),
    ]
    return put_before(create_app(conf, services, identity, clock), conf, dependencies)


def _plug(namespace: str, name: str) -> Any:
    """The class that an entry point names. Raises TierceError when there is none of that name."""

    def missing(_manager: object, _name: str, error: Exception) -> None:
        raise TierceError(f"The plug {name} of {namespace} cannot be loaded: {error}") from error

    try:
        return driver.DriverManager(namespace, name, on_load_failure_callback=missing).driver
    except driver.NoMatches as exc:
        raise TierceError(f"There is no plug {name} in {namespace}.") from exc
