"""`tierce` as chaos runs it: its node's engine is a machine that outlives it, and its wall clock can be set.

Beside its configuration file are

- the sockets of the machines (`HOST.machine`),
- files with the seconds that wall clocks are ahead of this machine's: all of them (`ahead`), and one node's
  besides (`HOST.ahead`),
- the points that actions have come to (`points`, see there),
- the security groups of containers (`ports`), which Docker's bridge networks have not.

While there is a file `die`, the first process that is about to tell a node something removes it and ends by
SIGKILL. The header `X-Project-Id` says whose project is meant.
"""

import dataclasses
import datetime
import json
import os
import pathlib
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_config import cfg

from tests.support.machines import RemoteRuntime
from tests.support.points import Points
from tierce.agent.operations.base import Operation, Plugs, Work
from tierce.agent.runner import Observer, Runner
from tierce.cli.main import main
from tierce.control.messages import Messages
from tierce.identity.noauth import NoAuthIdentity
from tierce.model.clock import SystemClock
from tierce.model.context import RequestContext
from tierce.networks.bridge import BridgeNetworks, BridgeResolver
from tierce.runtimes.fake import FakeRuntime

_NOW = SystemClock.now
_SEND = Messages._send
_INIT = Runner.__init__
_RUN = Runner._run
_AUTHENTICATE = NoAuthIdentity.authenticate


class SetClock(SystemClock):
    """The machine's clocks, with a wall clock that files set: everybody's, or of a `host` its own as well."""

    def __init__(self, directory: pathlib.Path, host: str = "") -> None:
        self._all = directory / "ahead"
        self._own = directory / f"{host}.ahead"
        self._set = self._own if host else self._all

    def step(self, seconds: float) -> None:
        """Have this wall clock so much ahead from now on."""
        new = self._set.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self._set)

    def now(self) -> datetime.datetime:
        ahead = sum(float(file.read_text()) for file in (self._all, self._own) if file.exists())
        return _NOW(self) + datetime.timedelta(seconds=ahead)


class Ports:
    """The security groups of every node's ports."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory / "ports"
        self._directory.mkdir(exist_ok=True)

    def secure(self, uuid: str, groups: Sequence[str]) -> None:
        (self._directory / uuid).write_text(json.dumps(groups))

    def groups(self, uuid: str) -> list[str]:
        file = self._directory / uuid
        return list(json.loads(file.read_text())) if file.exists() else []


def _set_the_clock(clock: SetClock) -> None:
    SystemClock.now = lambda _: clock.now()  # type: ignore[assignment,method-assign]  # for what builds its own


def _connect_to_machines(directory: pathlib.Path, points: Points) -> None:
    def connect(conf: cfg.ConfigOpts) -> RemoteRuntime:
        return RemoteRuntime(directory / f"{conf.host}.machine", points.reach)

    FakeRuntime.from_conf = connect  # type: ignore[assignment,method-assign]  # what `fake` is here


def _watch_actions(points: Points) -> None:
    def run(runner: Runner, operation: Operation, action: Any, work: Work, event_id: int) -> Any:
        with points.on_the_way(operation.action, work):
            return _RUN(runner, operation, action, work, event_id)

    def observe(action: str, step: str, moment: str) -> None:
        points.reach(step, moment)

    def init(runner: Runner, plugs: Plugs, _observer: Observer) -> None:
        _INIT(runner, plugs, observe)

    Runner._run = run  # type: ignore[assignment,method-assign]  # who knows the container
    Runner.__init__ = init  # type: ignore[assignment,method-assign]  # `tierce agent` has no other observer


def _die_before_telling(directory: pathlib.Path) -> None:
    def send(messages: Messages, *arguments: Any) -> None:
        try:
            (directory / "die").unlink()
        except FileNotFoundError:
            _SEND(messages, *arguments)
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    Messages._send = send  # type: ignore[assignment,method-assign]  # the point between commit and cast


def _have_security_groups(ports: Ports) -> None:
    def resolve(_: BridgeResolver, _context: RequestContext, names: Sequence[str]) -> list[str]:
        return list(names)

    def secure(_: BridgeNetworks, uuid: str, _networks: Sequence[str], groups: Sequence[str]) -> None:
        ports.secure(uuid, groups)

    BridgeResolver.security_groups = resolve  # type: ignore[assignment,method-assign]  # a name is its own id
    BridgeNetworks.secure = secure  # type: ignore[assignment,method-assign]  # noted, for a look


def _have_projects() -> None:
    def authenticate(identity: NoAuthIdentity, headers: Mapping[str, str]) -> RequestContext:
        caller = _AUTHENTICATE(identity, headers)
        return dataclasses.replace(caller, project_id=headers.get("x-project-id", caller.project_id))

    NoAuthIdentity.authenticate = authenticate  # type: ignore[assignment,method-assign]  # of many projects


def run(file: pathlib.Path) -> int:
    """The program of this configuration file."""
    directory, points = file.parent, Points(file.parent)
    _set_the_clock(SetClock(directory, file.stem.removeprefix("agent-")))
    _connect_to_machines(directory, points)
    _watch_actions(points)
    _die_before_telling(directory)
    _have_security_groups(Ports(directory))
    _have_projects()
    return main()


if __name__ == "__main__":
    sys.exit(run(pathlib.Path(sys.argv[sys.argv.index("--config-file") + 1])))
