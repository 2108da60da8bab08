"""The containers of the fake engine, as `Containers` of `runtimes/base.py`."""

import builtins
import dataclasses
import datetime
import hashlib
import re
import shlex
import signal as signals
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tierce.model.container import (
    ContainerReport,
    Endpoint,
    ExecResult,
    ImageFacts,
    NetworkAttachment,
    NodeFacts,
    RuntimeSpec,
    RuntimeState,
    StatsSample,
)
from tierce.model.errors import (
    ExecTimeout,
    RuntimeBadRequest,
    RuntimeConflict,
    RuntimeFailure,
    RuntimeNotFound,
)
from tierce.runtimes.fake import programs
from tierce.runtimes.fake.engine import ALIVE, FakeContainer, FakeEngine, FakeNetwork, as_terminal
from tierce.runtimes.fake.events import FakeEvents

_UTC = datetime.UTC
_NOT_FOUND = 127
_MIB = 1024 * 1024
_STARTED = frozenset({RuntimeState.RUNNING, RuntimeState.RESTARTING})
_STOPPABLE = ALIVE | _STARTED


class FakeContainers:
    """Each method is the fake's account of what the Docker Engine does in its place."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    def fingerprint(self) -> NodeFacts:
        with self._engine.call("fingerprint"):
            return self._engine.facts

    def create(self, spec: RuntimeSpec) -> str:
        with self._engine.call("create"):
            container = self._engine.find(spec.name)
            if container is None:
                container = self._new(spec)
            elif not spec.owner_labels.items() <= container.labels.items():
                raise RuntimeConflict(f"The container name {spec.name} is already in use")
            for attachment in spec.networks[1:]:
                if attachment.network not in container.addresses:
                    self._join(container, attachment)
            return container.id

    def start(self, ref: str) -> None:
        with self._engine.call("start"):
            container = self._engine.container(ref)
            if container.state == RuntimeState.PAUSED:
                raise RuntimeConflict(f"Container {ref} is paused")
            if container.state not in _STARTED:
                self._run(container)

    def rejoin(self, ref: str, networks: Sequence[NetworkAttachment]) -> None:
        with self._engine.call("rejoin"):
            container = self._engine.container(ref)
            for attachment in networks:
                self._join(container, attachment)

    def join(self, ref: str, attachment: NetworkAttachment) -> None:
        with self._engine.call("join"):
            container = self._engine.container(ref)
            if attachment.network not in container.addresses:
                self._join(container, attachment)

    def leave(self, ref: str, network: str) -> None:
        with self._engine.call("leave"):
            self._forget(self._engine.container(ref), network)

    def stop(self, ref: str, timeout: int | None = None) -> None:
        with self._engine.call("stop"):
            container = self._engine.container(ref)
            if container.state in _STOPPABLE and not container.unkillable:
                self._engine.end(container)

    def restart(self, ref: str, timeout: int | None = None) -> None:
        with self._engine.call("restart"):
            container = self._engine.container(ref)
            if container.state in _STOPPABLE:
                self._engine.end(container)
            self._run(container)

    def pause(self, ref: str) -> None:
        with self._engine.call("pause"):
            container = self._alive(ref)
            if container.state == RuntimeState.RUNNING:
                self._engine.pause(container, True)

    def unpause(self, ref: str) -> None:
        with self._engine.call("unpause"):
            container = self._engine.container(ref)
            if container.state == RuntimeState.PAUSED:
                self._engine.pause(container, False)

    def kill(self, ref: str, signal: str | None = None) -> None:
        """KILL ends it. Other signals do nothing, as to a first process that does not handle them."""
        with self._engine.call("kill"):
            deadly = _is_kill(signal)
            container = self._alive(ref)
            if deadly:
                self._engine.end(container)

    def resize(
        self, ref: str, memory: int | None, cpus: float | None, cpuset_cpus: Sequence[int] = ()
    ) -> None:
        with self._engine.call("resize"):
            container = self._engine.container(ref)
            spec = container.spec
            container.spec = dataclasses.replace(
                spec,
                memory=memory or spec.memory,
                cpus=cpus or spec.cpus,
                cpuset_cpus=cpuset_cpus or spec.cpuset_cpus,
            )

    def commit(self, ref: str, repository: str, tag: str) -> ImageFacts:
        with self._engine.call("commit"):
            container = self._engine.container(ref)
            runs = container.state == RuntimeState.RUNNING
            if runs:
                self._engine.pause(container, True)
            facts = self._engine.add_committed(container, f"{repository}:{tag}")
            if runs:
                self._engine.pause(container, False)
            return facts

    def remove(self, ref: str) -> None:
        with self._engine.call("remove"):
            container = self._engine.find(ref)
            if container:
                self._engine.discard(container)

    def inspect(self, ref: str) -> ContainerReport | None:
        with self._engine.call("inspect"):
            container = self._engine.find(ref)
            return self._report(container) if container else None

    def list(self, owner_labels: Mapping[str, str]) -> builtins.list[ContainerReport]:
        with self._engine.call("list"):
            return [
                ContainerReport(each.id, each.spec.name, each.state, labels=each.labels)
                for each in self._engine.containers.values()
                if owner_labels.items() <= each.labels.items()
            ]

    def events(self, owner_labels: Mapping[str, str], since_ns: int | None = None) -> FakeEvents:
        with self._engine.call("events"):
            return self._engine.event_log.listen(owner_labels, since_ns)

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
        wanted = {programs.STDOUT: stdout, programs.STDERR: stderr}
        if not any(wanted.values()):
            raise RuntimeBadRequest("Bad parameters: you must choose at least one stream")
        with self._engine.call("logs"):
            lines = [
                f"{time.isoformat(timespec='microseconds')}000Z ".encode() + line if timestamps else line
                for time, stream, line in self._engine.container(ref).log
                if wanted[stream] and time.replace(tzinfo=_UTC).timestamp() >= (since or 0)
            ]
        kept = lines if tail is None else lines[max(0, len(lines) - tail) :]
        text = b"".join(kept)
        return text[max(0, len(text) - limit) :]

    def execute(self, ref: str, command: Sequence[str], timeout: float, *, tty: bool = False) -> ExecResult:
        """Run a command of `programs`; one that it does not know writes nothing and exits with 0."""
        with self._engine.call("execute"):
            if self._engine.container(ref).state != RuntimeState.RUNNING:
                raise RuntimeConflict(f"Container {ref} is not running, or paused")
        if not programs.executable(command):
            return ExecResult(b"OCI runtime exec failed: no such file or directory\r\n", _NOT_FOUND)
        process = programs.run(command, programs.Run())
        self._engine.pass_time(min(process.duration, timeout))
        if process.duration > timeout:
            raise ExecTimeout(f"Timeout on executing command: {shlex.join(command)} (limit: {timeout:g} s)")
        output = b"".join(as_terminal(line, tty) for _, line in process.lines)
        return ExecResult(output, process.exit_code)

    def top(self, ref: str, ps_args: str | None = None) -> dict[str, Any]:
        with self._engine.call("top"):
            container = self._alive(ref)
            titles = ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"]
            command = shlex.join(container.command)
            process = ["root", str(container.pid), "1", "0", "00:00", "?", "00:00:00", command]
            return {"Titles": titles, "Processes": [process]}

    def stats(self, ref: str) -> StatsSample:
        with self._engine.call("stats"):
            memory = self._alive(ref).spec.memory or self._engine.facts.memory_total
            return StatsSample(memory_usage=_MIB, memory_limit=memory * _MIB)

    def _new(self, spec: RuntimeSpec) -> FakeContainer:
        known = (facts.id for facts in self._engine.images.values())
        if spec.image not in self._engine.images and spec.image not in known:
            raise RuntimeNotFound(f"No such image: {spec.image}")
        container = self._engine.add_container(self._engine.completed(spec))
        for primary in spec.networks[:1]:
            container.addresses[primary.network] = None
            if primary.ipv4:
                container.fixed[primary.network] = primary.ipv4
        return container

    def _join(self, container: FakeContainer, attachment: NetworkAttachment) -> None:
        name = attachment.network
        network = self._network(name)
        self._forget(container, name)
        if attachment.ipv4:
            container.fixed[name] = attachment.ipv4
        container.addresses[name] = None
        if container.state in ALIVE:
            try:
                container.addresses[name] = self._engine.address(container, name)
            except RuntimeFailure:
                self._forget(container, name)
                raise
            container.network_ids[name] = network.id

    def _forget(self, container: FakeContainer, network: str) -> None:
        for memory in (container.addresses, container.network_ids, container.fixed):
            memory.pop(network, None)

    def _run(self, container: FakeContainer) -> None:
        for name in container.addresses:
            network = self._network(name)
            if container.network_ids.get(name, network.id) != network.id:
                raise RuntimeNotFound(f"network {container.network_ids[name]} not found")
        if not programs.executable(container.command):
            container.error = f"exec: {container.command[0]!r}: no such file or directory"
            container.exit_code = _NOT_FOUND
            raise RuntimeBadRequest(container.error)
        self._engine.run(container)

    def _alive(self, ref: str) -> FakeContainer:
        container = self._engine.container(ref)
        if container.state not in ALIVE:
            raise RuntimeConflict(f"Container {ref} is not running")
        return container

    def _network(self, name: str) -> FakeNetwork:
        if name not in self._engine.networks:
            raise RuntimeNotFound(f"network {name} not found")
        return self._engine.networks[name]

    def _report(self, container: FakeContainer) -> ContainerReport:
        spec = container.spec
        return ContainerReport(
            id=container.id,
            name=spec.name,
            state=container.state,
            image=spec.image,
            exit_code=container.exit_code,
            error=container.error,
            oom_killed=container.oom_killed,
            pid=container.pid,
            started_at=container.started_at,
            finished_at=container.finished_at,
            hostname=spec.hostname or container.id[:12],
            runtime=spec.runtime or "runc",
            command=tuple(spec.command),
            entrypoint=tuple(spec.entrypoint),
            ports=sorted({int(port.partition("/")[0]) for port in spec.exposed_ports}),
            labels=container.labels,
            endpoints=tuple(self._endpoints(container)),
            tty=spec.tty,
        )

    def _endpoints(self, container: FakeContainer) -> Iterator[Endpoint]:
        for name, address in container.addresses.items():
            network = self._engine.networks.get(name)
            endpoint = hashlib.sha256(f"{container.id} {name}".encode()).hexdigest() if address else ""
            yield Endpoint(name, endpoint, network.id if network else "", ipv4=address)


def _is_kill(signal: str | None) -> bool:
    """Whether this is SIGKILL; RuntimeBadRequest for what is no signal at all."""
    name = (signal or "KILL").upper().removeprefix("SIG")
    real_time = re.fullmatch(r"RTMIN\+\d+|RTMAX-\d+", name)
    number = name.isdecimal() and 1 <= int(name) <= 64
    if not (real_time or number or f"SIG{name}" in signals.Signals.__members__):
        raise RuntimeBadRequest(f"Invalid signal: {signal}")
    return name in ("KILL", "9")
