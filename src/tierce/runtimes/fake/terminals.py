"""Terminals of the fake engine, as `Terminals` of `runtimes/base.py`."""

from collections.abc import Sequence

from tierce.model.container import ExecState, RuntimeState
from tierce.model.errors import RuntimeConflict, RuntimeFailure, RuntimeNotFound
from tierce.runtimes.fake.engine import ALIVE, FakeContainer, FakeEngine, FakeExec


class FakeTerminals:
    """Sizes are remembered for a test to look at."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    def attach_target(self, ref: str) -> str:
        with self._engine.call("terminals.attach_target"):
            container_id = self._alive(ref).id
            return f"/v1.41/containers/{container_id}/attach/ws?logs=0&stream=1&stdin=1&stdout=1&stderr=1"

    def resize(self, ref: str, height: int, width: int) -> None:
        with self._engine.call("terminals.resize"):
            container = self._alive(ref)
            if container.spec.tty:
                container.terminal = (height, width)

    def prepare(self, ref: str, command: Sequence[str], *, interactive: bool) -> str:
        with self._engine.call("terminals.prepare"):
            container = self._engine.container(ref)
            if container.state != RuntimeState.RUNNING:
                raise RuntimeConflict(f"Container {ref} is not running, or paused")
            return self._engine.add_exec(container, command, interactive)

    def state(self, exec_id: str) -> ExecState:
        with self._engine.call("terminals.state"):
            return self._exec(exec_id).state

    def resize_exec(self, exec_id: str, height: int, width: int) -> None:
        with self._engine.call("terminals.resize_exec"):
            found = self._exec(exec_id)
            if found.state != ExecState.RUNNING:
                raise RuntimeFailure("timeout waiting for exec session ready")
            found.terminal = (height, width)

    def _alive(self, ref: str) -> FakeContainer:
        container = self._engine.container(ref)
        if container.state not in ALIVE:
            raise RuntimeConflict(f"Container {ref} is not running")
        return container

    def _exec(self, exec_id: str) -> FakeExec:
        if exec_id not in self._engine.execs:
            raise RuntimeNotFound(f"No such exec instance: {exec_id}")
        return self._engine.execs[exec_id]
