"""What a person connects to at the Engine: where to attach, commands to come, sizes of terminals."""

from collections.abc import Sequence

from tierce.model.container import ExecState, RuntimeState
from tierce.model.errors import RuntimeConflict, RuntimeFailure, RuntimeNotFound, RuntimeUnreachable
from tierce.runtimes.docker import execs, report
from tierce.runtimes.docker.connection import Connection


class EngineTerminals:
    """`Terminals` of `runtimes/base.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def attach_target(self, ref: str) -> str:
        container_id = self._require_running(ref)
        version = self._connection.api_version
        return f"/v{version}/containers/{container_id}/attach/ws?logs=0&stream=1&stdin=1&stdout=1&stderr=1"

    def resize(self, ref: str, height: int, width: int) -> None:
        try:
            self._connection.call("POST", "/containers/{}/resize", ref, params={"h": height, "w": width})
        except (RuntimeNotFound, RuntimeUnreachable):
            raise
        except RuntimeFailure:  # whatever the status for one that ends at this moment
            self._require_running(ref)
            raise

    def prepare(self, ref: str, command: Sequence[str], *, interactive: bool) -> str:
        more = {"AttachStdin": True, "Tty": True} if interactive else {}
        return execs.prepare(self._connection, ref, command, more)

    def state(self, exec_id: str) -> ExecState:
        with report.readable():
            found = self._connection.call("GET", "/exec/{}/json", exec_id)
            if found["Running"]:
                return ExecState.RUNNING
            # No exit code: it has not begun, or has ended this moment, which is told by its process.
            return ExecState.PREPARED if found["ExitCode"] is None and not found["Pid"] else ExecState.ENDED

    def resize_exec(self, exec_id: str, height: int, width: int) -> None:
        self._connection.call("POST", "/exec/{}/resize", exec_id, params={"h": height, "w": width})

    def _require_running(self, ref: str) -> str:
        """The container's id. RuntimeConflict when it does not run."""
        with report.readable():
            found = report.from_inspection(self._connection.call("GET", "/containers/{}/json", ref))
        if found.state not in (RuntimeState.RUNNING, RuntimeState.PAUSED):
            raise RuntimeConflict(f"Container {ref} is not running")
        return found.id
