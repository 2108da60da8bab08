"""The node's part in terminals: tokens to connect with, commands that wait for somebody, sizes.

Who connects comes by a proxy, which finds in the database what is written here.
"""

import datetime
import uuid
from collections.abc import Sequence

from sqlalchemy.orm import Session

from tierce.agent.operations.base import Plugs
from tierce.config.addresses import in_url
from tierce.db import containers, terminals
from tierce.model.container import ExecState
from tierce.model.errors import (
    Conflict,
    ExecNotFound,
    RuntimeFailure,
    RuntimeNotFound,
    RuntimeUnreachable,
)


class Terminals:
    """`name` is a container's name in the runtime; every method raises what the runtime does."""

    def __init__(self, plugs: Plugs) -> None:
        self._plugs = plugs
        self._runtime = plugs.runtime.terminals
        self._any = True
        """Whether there may be a session to tidy up: an earlier run may have left some."""

    def attach(self, container_uuid: str, name: str) -> str:
        """A token with which a client may attach. Those given before stay good.

        Raises RuntimeConflict when the container does not run.
        """
        docker = self._plugs.conf.docker
        scheme = "wss" if docker.ca_file and docker.cert_file and docker.key_file else "ws"
        url = f"{scheme}://{self._engine_place()}{self._runtime.attach_target(name)}"
        token, now = str(uuid.uuid4()), self._plugs.clock.now()

        def work(session: Session) -> None:
            container = containers.require(session, container_uuid)
            terminals.add_attach(session, container, url, token, now)

        self._plugs.database.write(work)
        self._any = True
        return token

    def prepare(
        self, container_uuid: str, name: str, command: Sequence[str], interactive: bool
    ) -> tuple[str, str]:
        """Have a command ready for a client to start by connecting; its exec id and the token to do so.

        Raises RuntimeConflict when the container does not run.
        """
        url = self._plugs.conf.docker.docker_remote_api_url or f"tcp://{self._engine_place()}"
        exec_id = self._runtime.prepare(name, command, interactive=interactive)
        token, now = str(uuid.uuid4()), self._plugs.clock.now()

        def work(session: Session) -> None:
            container = containers.require(session, container_uuid)
            terminals.add_exec(session, container, exec_id, url, token, now)

        self._plugs.database.write(work)
        self._any = True
        return exec_id, token

    def resize(self, name: str, height: int, width: int) -> None:
        """Set the size of a container's terminal. Raises RuntimeConflict when it does not run."""
        self._runtime.resize(name, height, width)

    def resize_exec(self, exec_id: str, height: int, width: int) -> None:
        """Set the size of an exec's terminal: at once, or at its start if that is to come.

        Raises ExecNotFound, and Conflict when it has ended.
        """
        plugs, size = self._plugs, (height, width)
        now = plugs.clock.now()
        if not plugs.database.write(
            lambda session: terminals.set_size(session, plugs.host, exec_id, size, now)
        ):
            raise ExecNotFound(exec_id)
        self.apply_size(exec_id)

    def apply_size(self, exec_id: str) -> None:
        """Give the terminal of a running exec the size that was asked for last.

        Whoever starts an exec calls this then. Asked for while it is applied, a newer size follows at
        once, so of many at the same time the last one stays.
        """
        applied = None
        while (wanted := self._wanted(exec_id)) not in (None, applied) and self._runs(exec_id):
            assert wanted is not None
            try:
                self._runtime.resize_exec(exec_id, *wanted)
            except RuntimeUnreachable:
                raise
            except RuntimeFailure:  # whatever the status for one that ends at this moment
                if self._runs(exec_id):
                    raise
            applied = wanted

    def tidy(self) -> None:
        """Forget tokens that are too old to be used, and execs that have ended.

        The database is asked only while there may be some: whoever gives one says so when it is there.
        """
        if not self._any:
            return
        self._any = False
        try:
            self._any = self._forget_old()
        except Exception:
            self._any = True
            raise

    def _forget_old(self) -> bool:
        """Whether there was any session."""
        plugs, life = self._plugs, self._plugs.conf.websocket_proxy.token_ttl
        before = plugs.clock.now() - datetime.timedelta(seconds=life)
        execs, attaches = plugs.database.read(
            lambda session: (terminals.execs(session, plugs.host), terminals.attaches(session, plugs.host))
        )
        over = [
            each.id
            for each in execs
            if _is_from(each.created_at, before) and self._is_over(each.exec_id, expired=life > 0)
        ]
        old = [each.id for each in attaches if life and _is_from(each.created_at, before)]
        if over or old:
            plugs.database.write(lambda session: terminals.forget(session, over, old))
        return bool(execs or attaches)

    def _engine_place(self) -> str:
        """Host and port at which the proxy reaches the node's Engine, as URLs have them."""
        docker = self._plugs.conf.docker
        return f"{in_url(docker.docker_remote_api_host)}:{docker.docker_remote_api_port}"

    def _wanted(self, exec_id: str) -> terminals.Size | None:
        plugs = self._plugs
        return plugs.database.read(lambda session: terminals.size_of(session, plugs.host, exec_id))

    def _runs(self, exec_id: str) -> bool:
        """False before its start. Raises ExecNotFound, and Conflict after its end."""
        try:
            state = self._runtime.state(exec_id)
        except RuntimeNotFound as exc:
            raise ExecNotFound(exec_id) from exc
        if state == ExecState.ENDED:
            raise Conflict(f"Exec instance {exec_id} has ended.")
        return state == ExecState.RUNNING

    def _is_over(self, exec_id: str, expired: bool) -> bool:
        """Whether nobody can use it any more; `expired`: nobody can start it."""
        try:
            state = self._runtime.state(exec_id)
        except RuntimeNotFound:
            return True
        return state == ExecState.ENDED or (expired and state == ExecState.PREPARED)


def _is_from(made: datetime.datetime | None, before: datetime.datetime) -> bool:
    """Whether it was made `before` then; of what does not say when, nobody knows."""
    return made is not None and made < before
