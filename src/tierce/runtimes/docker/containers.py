"""Containers of the Engine and their life."""

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from tierce.model.container import (
    ContainerReport,
    ExecResult,
    ImageFacts,
    NetworkAttachment,
    NodeFacts,
    RuntimeSpec,
    RuntimeState,
    StatsSample,
)
from tierce.model.errors import RuntimeConflict, RuntimeFailure, RuntimeNotFound, RuntimeUnreachable
from tierce.runtimes.docker import endpoints, execs, fingerprint, images, logs, report, stats
from tierce.runtimes.docker.connection import Connection, json_filter, label_filter
from tierce.runtimes.docker.events import EngineEvents
from tierce.runtimes.docker.spec import NodeDefaults, create_body, update_body

_ENGINE_GRACE = 10
"""Seconds that the Engine waits after a stop signal when it is not told how long."""

_COMMIT_LIMIT = 3600
"""Seconds that making an image may take: all that the container has written is copied."""

_STARTED = frozenset({RuntimeState.RUNNING, RuntimeState.PAUSED, RuntimeState.RESTARTING})
_GOING = frozenset({RuntimeState.REMOVING, RuntimeState.DEAD})


class EngineContainers:
    """`Containers` of `runtimes/base.py`."""

    def __init__(self, connection: Connection, defaults: NodeDefaults) -> None:
        self._connection = connection
        self._defaults = defaults

    def fingerprint(self) -> NodeFacts:
        with report.readable():
            return fingerprint.read(self._connection.call("GET", "/info"))

    def create(self, spec: RuntimeSpec) -> str:
        """As the protocol says. RuntimeConflict when the name belongs to a container without our labels."""
        body = create_body(spec, self._defaults)
        try:
            container_id, joined = self._create(spec.name, body), set[str]()
        except RuntimeConflict:
            existing = self.inspect(spec.name)
            if existing is None or not spec.owner_labels.items() <= existing.labels.items():
                raise
            if existing.state in _GOING:
                self.remove(existing.id)
                container_id, joined = self._create(spec.name, body), set[str]()
            else:
                container_id, joined = existing.id, {endpoint.network for endpoint in existing.endpoints}
        for attachment in spec.networks[1:]:
            if attachment.network not in joined:
                endpoints.connect(self._connection, container_id, attachment)
        return container_id

    def start(self, ref: str) -> None:
        self._act(ref, "start")

    def rejoin(self, ref: str, networks: Sequence[NetworkAttachment]) -> None:
        endpoints.rejoin(self._connection, ref, networks)

    def join(self, ref: str, attachment: NetworkAttachment) -> None:
        endpoints.join(self._connection, ref, attachment)

    def leave(self, ref: str, network: str) -> None:
        endpoints.leave(self._connection, ref, network)

    def stop(self, ref: str, timeout: int | None = None) -> None:
        self._act(ref, "stop", grace=timeout)

    def restart(self, ref: str, timeout: int | None = None) -> None:
        try:
            self._act(ref, "restart", grace=timeout)
        except RuntimeUnreachable:
            raise
        except RuntimeFailure:
            # Whatever keeps it from starting again, the Engine's status is 500; that of a start says more.
            if self._found(ref).state in _STARTED:
                raise
            self.start(ref)

    def pause(self, ref: str) -> None:
        try:
            self._act(ref, "pause")
        except RuntimeConflict:  # paused already, or not running: one status for both
            if self._found(ref).state != RuntimeState.PAUSED:
                raise

    def unpause(self, ref: str) -> None:
        try:
            self._act(ref, "unpause")
        except RuntimeNotFound:
            raise
        except RuntimeFailure:  # the Engine's status for "not paused" is 409 or, before version 23, 500
            if self._found(ref).state == RuntimeState.PAUSED:
                raise

    def kill(self, ref: str, signal: str | None = None) -> None:
        params = {"signal": signal} if signal else None
        self._connection.call("POST", "/containers/{}/kill", ref, params=params)

    def resize(
        self, ref: str, memory: int | None, cpus: float | None, cpuset_cpus: Sequence[int] = ()
    ) -> None:
        body = update_body(memory, cpus, cpuset_cpus, self._defaults)
        self._connection.call("POST", "/containers/{}/update", ref, body=body)

    def commit(self, ref: str, repository: str, tag: str) -> ImageFacts:
        params = {"container": ref, "repo": repository, "tag": tag}
        made = self._connection.call("POST", "/commit", params=params, body={}, timeout=_COMMIT_LIMIT)
        with report.readable():
            return images.facts_of(self._connection.call("GET", "/images/{}/json", made["Id"]))

    def remove(self, ref: str) -> None:
        """As the protocol says, and only when it is gone: another removal under way is waited for."""
        params = {"force": "true", "v": "true"}
        try:
            self._connection.call("DELETE", "/containers/{}", ref, params=params)
        except RuntimeNotFound:
            return
        except RuntimeConflict:
            self._wait_until_removed(ref)
            if self.inspect(ref) is not None:
                raise

    def inspect(self, ref: str) -> ContainerReport | None:
        try:
            return self._found(ref)
        except RuntimeNotFound:
            return None

    def list(self, owner_labels: Mapping[str, str]) -> builtins.list[ContainerReport]:
        """As the protocol says. A state may be a moment older than what `inspect` says."""
        params = {"all": "true", "filters": json_filter(label=label_filter(owner_labels))}
        with report.readable():
            return [
                report.from_listing(entry)
                for entry in self._connection.call("GET", "/containers/json", params=params)
            ]

    def events(self, owner_labels: Mapping[str, str], since_ns: int | None = None) -> EngineEvents:
        return EngineEvents(self._connection, owner_labels, since_ns)

    def logs(
        self,
        ref: str,
        *,
        stdout: bool = True,
        stderr: bool = True,
        timestamps: bool = False,
        tail: int | None = None,
        since: float | None = None,
        limit: int = 16 * 1024 * 1024,
    ) -> bytes:
        return logs.read(
            self._connection,
            ref,
            tty=self._found(ref).tty,
            stdout=stdout,
            stderr=stderr,
            timestamps=timestamps,
            tail=tail,
            since=since,
            limit=limit,
        )

    def execute(self, ref: str, command: Sequence[str], timeout: float, *, tty: bool = False) -> ExecResult:
        return execs.run(self._connection, ref, command, timeout, tty=tty)

    def top(self, ref: str, ps_args: str | None = None) -> dict[str, Any]:
        params = {"ps_args": ps_args} if ps_args else None
        with report.readable():
            table = self._connection.call("GET", "/containers/{}/top", ref, params=params)
            # Of no processes at all an Engine gives null.
            return {"Titles": table["Titles"], "Processes": table["Processes"] or []}

    def stats(self, ref: str) -> StatsSample:
        """As the protocol says; takes about a second, since the Engine compares two readings."""
        if self._found(ref).state not in (RuntimeState.RUNNING, RuntimeState.PAUSED):
            raise RuntimeConflict(f"Container {ref} is not running")
        # Of a container that does not run, the Engine gives a sample of zeros.
        params = {"stream": "false"}
        with report.readable():
            return stats.sample(self._connection.call("GET", "/containers/{}/stats", ref, params=params))

    def _create(self, name: str, body: Mapping[str, Any]) -> str:
        with report.readable():
            created = self._connection.call("POST", "/containers/create", params={"name": name}, body=body)
            return str(created["Id"])

    def _act(self, ref: str, verb: str, *, grace: int | None = None) -> None:
        """One of the calls that change a state; that it holds already (304) is a success."""
        self._connection.call(
            "POST",
            "/containers/{}/" + verb,
            ref,
            params=None if grace is None else {"t": grace},
            timeout=self._connection.timeout + (_ENGINE_GRACE if grace is None else grace),
        )

    def _found(self, ref: str) -> ContainerReport:
        with report.readable():
            return report.from_inspection(self._connection.call("GET", "/containers/{}/json", ref))

    def _wait_until_removed(self, ref: str) -> None:
        """RuntimeTimeout when that takes longer than a call to the Engine may take."""
        try:
            self._connection.call("POST", "/containers/{}/wait", ref, params={"condition": "removed"})
        except RuntimeNotFound:
            return
