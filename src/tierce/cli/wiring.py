"""The parts put together, for the programs of which each command is one."""

import contextlib
import fcntl
import logging
import os
import random
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

from oslo_config import cfg
from stevedore import driver

from tierce.agent.agent import Agent
from tierce.agent.runner import Observer
from tierce.api.app import create_app
from tierce.api.front import Wsgi, put_before
from tierce.api.health import Dependency
from tierce.cli.malloc import give_large_blocks_back
from tierce.control.build import build_services
from tierce.db import clouds
from tierce.db.address import parse_url
from tierce.db.engine import Database
from tierce.identity.base import Identity
from tierce.model.clock import SystemClock
from tierce.model.errors import TierceError
from tierce.networks.addresses import AddressPool
from tierce.networks.bridge import BridgeResolver
from tierce.observability import logs
from tierce.placement.builtin import BuiltinPlacement
from tierce.rpc import transport as bus
from tierce.rpc.client import ComputeClient
from tierce.runtimes.base import Runtime

LOG = logging.getLogger(__name__)


_BROKER_SECONDS = 1.0
"""That a health check waits for each broker."""


class AlreadyRunning(TierceError):
    """Another process serves the same node with the same state."""


class Stop:
    """What a program waits for: SIGTERM, SIGINT, or that it may not go on. `code` is its exit code then."""

    def __init__(self) -> None:
        self.code = 0
        self._ended, self._end = os.pipe()
        os.set_blocking(self._end, False)
        # The interpreter writes to the pipe as the signal arrives. A handler in Python that set an event
        # could meet the wait for it half way, its lock held: a second signal then hung the program.
        signal.set_wakeup_fd(self._end, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)

    def fail(self) -> None:
        """Have the program end as one that failed."""
        self.code = 1
        with contextlib.suppress(BlockingIOError):  # it is full, so the wait is over
            os.write(self._end, b"\0")

    def wait(self) -> None:
        os.read(self._ended, 1)


def prepare(conf: cfg.ConfigOpts) -> None:
    """What every program does first."""
    give_large_blocks_back()
    logs.setup(conf)
    # Database and volumes hold what users injected: nobody else on the machine reads them.
    os.umask(0o077)


def new_random() -> random.Random:
    """For names and jitter. The system's, as workers that are forked from one process must differ."""
    return random.SystemRandom()


@contextlib.contextmanager
def only_one(conf: cfg.ConfigOpts) -> Iterator[str]:
    """Hold the node's lock, and give the id of this installation, which its lock file keeps.

    Raises AlreadyRunning when another process has it, TierceError when the state has no place to be.
    """
    state = _state_directory(conf)
    with _lock_file(state, conf.host) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise AlreadyRunning(
                f"Another process runs the node {conf.host} with its state in {state}. Stop it first."
            ) from exc
        file.seek(0)
        installation = file.read().strip()
        if not installation:
            installation = str(uuid.uuid4())
            file.write(f"{installation}\n")
            file.flush()
        yield installation


def _lock_file(state: Path, host: str) -> TextIO:
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(state / f"{host}.lock", "a+")
    except OSError as exc:
        raise TierceError(
            f"The node {host} cannot keep its state in {state} ({exc.strerror}): have a directory there that "
            "this account may write to, or name another ([DEFAULT] state_path; the database's for SQLite)."
        ) from exc


def _state_directory(conf: cfg.ConfigOpts) -> Path:
    """Where the state is: two processes on one SQLite database are two on one state, whatever their paths."""
    url = parse_url(conf)
    in_file = url.get_backend_name() == "sqlite" and url.database
    return Path(url.database or "").resolve().parent if in_file else Path(conf.state_path)


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


def end_agent(drained: bool, code: int) -> NoReturn:
    """End a program whose agent was stopped, with this exit code."""
    if not drained:
        LOG.warning("Some actions did not finish in time; the next start takes them up again")
    logging.shutdown()
    # Threads that still work, or wait for a silent bus, would hold an ordinary exit.
    os._exit(code)


def _plug(namespace: str, name: str) -> Any:
    """The class that an entry point names. Raises TierceError when there is none of that name."""

    def missing(_manager: object, _name: str, error: Exception) -> None:
        raise TierceError(f"The plug {name} of {namespace} cannot be loaded: {error}") from error

    try:
        return driver.DriverManager(namespace, name, on_load_failure_callback=missing).driver
    except driver.NoMatches as exc:
        raise TierceError(f"There is no plug {name} in {namespace}.") from exc
