"""The machine that the fake runtime runs on: its state, its processes, and the faults it was told to have.

Nothing here runs by itself: a process that does not end at once runs until it is stopped, or until
`exit` says that it ended.
"""

import collections
import contextlib
import dataclasses
import datetime
import hashlib
import ipaddress
import itertools
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence

from tierce.model.clock import Clock
from tierce.model.container import (
    AddressRange,
    ExecState,
    ImageFacts,
    NodeFacts,
    RuntimeEvent,
    RuntimeSpec,
    RuntimeState,
)
from tierce.model.errors import RuntimeConflict, RuntimeFailure, RuntimeNotFound, RuntimeUnreachable
from tierce.runtimes.fake import programs
from tierce.runtimes.fake.events import EventLog

CALLS = frozenset(
    "fingerprint create start rejoin join leave stop restart pause unpause kill resize commit remove inspect"
    " list events logs execute top stats images.find images.pull images.require_access images.remove"
    " images.search networks.ensure networks.remove networks.list"
    " terminals.attach_target terminals.resize terminals.prepare terminals.state terminals.resize_exec"
    " archives.get archives.put".split()
)
"""What can be scripted: the methods of a runtime's faces; those of `containers` by their bare names."""

ALIVE = frozenset({RuntimeState.RUNNING, RuntimeState.PAUSED})

_KILLED = 137
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_FACTS = NodeFacts(
    name="fake",
    cpus=64,
    memory_total=256 * 1024,
    memory_available=256 * 1024,
    disk_total=4096,
    architecture="x86_64",
    os_type="linux",
    os="Fake Linux",
    kernel_version="0",
    runtimes=("runc",),
)


@dataclasses.dataclass(slots=True)
class FakeContainer:
    """A container of the fake engine.

    `addresses` has its networks, with an address in each while it runs; `network_ids` those that it was
    in when it last ran, `fixed` the addresses that it was to have.
    """

    id: str
    spec: RuntimeSpec
    state: RuntimeState = RuntimeState.CREATED
    exit_code: int | None = None
    error: str = ""
    oom_killed: bool = False
    pid: int = 0
    restarts: int = 0
    started_at: datetime.datetime | None = None
    finished_at: datetime.datetime | None = None
    addresses: dict[str, str | None] = dataclasses.field(default_factory=dict)
    network_ids: dict[str, str] = dataclasses.field(default_factory=dict)
    fixed: dict[str, str] = dataclasses.field(default_factory=dict)
    log: list[tuple[datetime.datetime, str, bytes]] = dataclasses.field(default_factory=list)
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)
    terminal: tuple[int, int] | None = None
    unkillable: bool = False
    """Its process hangs where no signal reaches it."""

    @property
    def labels(self) -> dict[str, str]:
        return {**self.spec.labels, **self.spec.owner_labels}

    @property
    def command(self) -> list[str]:
        return [*self.spec.entrypoint, *self.spec.command]

    def restarts_after(self, code: int) -> bool:
        """Whether its policy runs it again when its process ended by itself with this code."""
        policy = self.spec.restart_policy
        if policy.name == "on-failure":
            limit = policy.maximum_retry_count
            return code != 0 and (not limit or self.restarts < limit)
        return policy.name in ("always", "unless-stopped")


@dataclasses.dataclass(slots=True)
class FakeExec:
    """A command that somebody may connect to; a test has it start and end by setting its state."""

    container: FakeContainer
    command: Sequence[str]
    interactive: bool
    state: ExecState = ExecState.PREPARED
    terminal: tuple[int, int] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class FakeNetwork:
    """A network of the fake engine; `number` makes its addresses differ from other networks'.

    With a range of its own, containers can ask for addresses.
    """

    id: str
    labels: Mapping[str, str]
    number: int
    given: AddressRange | None = None
    hosts: Iterator[int] = dataclasses.field(default_factory=lambda: itertools.count(2))

    @property
    def subnet(self) -> ipaddress.IPv4Network | None:
        return ipaddress.IPv4Network(self.given.subnet) if self.given else None

    def overlaps(self, other: "FakeNetwork") -> bool:
        """Whether the two have addresses in common, by the ranges that they were given."""
        return bool(self.subnet and other.subnet and self.subnet.overlaps(other.subnet))

    def new_address(self) -> str:
        """The next of its addresses, over and over."""
        if self.given:
            dynamic = ipaddress.IPv4Network(self.given.dynamic)
            return str(dynamic[next(self.hosts) % dynamic.num_addresses])
        host = next(self.hosts) % 65536
        return f"10.{self.number % 256}.{host // 256}.{host % 256}"


@dataclasses.dataclass(slots=True)
class _Fault:
    delay: float
    until: threading.Event | None
    error: Exception | None
    lost: bool
    times: int


class FakeEngine:
    """All of its state, under one lock; `FakeRuntime`s share it, from any thread."""

    def __init__(
        self,
        clock: Clock,
        *,
        facts: NodeFacts = _FACTS,
        images: Collection[str] = (),
        registry: Collection[str] | None = None,
    ) -> None:
        """`images` are on the node; `registry` has what can be pulled (None: everything)."""
        self.clock = clock
        self.facts = facts
        self.registry = registry
        self.logins: dict[str, dict[str, str]] = {}
        """Domains of registries that ask for a password -> their users and passwords."""
        self.lock = threading.RLock()
        self.containers: dict[str, FakeContainer] = {}
        self.execs: dict[str, FakeExec] = {}
        self.images: dict[str, ImageFacts] = {}
        self.networks: dict[str, FakeNetwork] = {}
        self.event_log = EventLog()
        self._faults: dict[str, collections.deque[_Fault]] = collections.defaultdict(collections.deque)
        self._names: dict[str, str] = {}  # by id
        self._numbers = itertools.count(1)
        self._down = False
        self._never = threading.Event()
        self.add_network("bridge", {})
        for reference in images:
            self.add_image(reference)

    # --- what a test or a load test makes happen ---------------------------------------------------

    def script(
        self,
        call: str,
        *,
        delay: float = 0.0,
        until: threading.Event | None = None,
        error: Exception | None = None,
        lost: bool = False,
        times: int = 1,
    ) -> None:
        """Make the next `times` calls of this name (one of CALLS) slow, or fail, or both.

        Each takes `delay` s, then waits until the event `until` is set, then raises `error`. With
        `lost` the work is done all the same, and only the answer is replaced by the error. What was
        scripted earlier for the call is used up first. ValueError for a name that is not a call.
        """
        if call not in CALLS:
            raise ValueError(f"no such call: {call}")
        with self.lock:
            self._faults[call].append(_Fault(delay, until, error, lost, times))

    def exit(self, ref: str, code: int, *, oom: bool = False) -> None:
        """The process of this container ends by itself; its restart policy decides what follows.

        ValueError when it has none to end.
        """
        with self.lock:
            container = self.container(ref)
            if container.state not in ALIVE:
                raise ValueError(f"{ref} does not run")
            container.oom_killed = oom
            if oom:
                self._emit(container, "oom")
            self.end(container, code)
            if container.restarts_after(code):
                container.restarts += 1
                self.run(container)

    def go_down(self) -> None:
        """Until `come_back`, every call raises RuntimeUnreachable, and streams of events break."""
        with self.lock:
            self._down = True
            self.event_log.break_off()

    def come_back(self) -> None:
        with self.lock:
            self._down = False

    def add_image(self, reference: str) -> ImageFacts:
        """Put an image on the node; its id is a hash of the reference."""
        digest = hashlib.sha256(reference.encode()).hexdigest()
        with self.lock:
            return self.images.setdefault(
                reference, ImageFacts(f"sha256:{digest}", (reference,), size=1_000_000)
            )

    def add_committed(self, container: FakeContainer, name: str) -> ImageFacts:
        """Put a copy of the container on the node as an image; one that had the name loses it."""
        previous = self.images.pop(name, None)
        if previous is not None:
            self.images[previous.id] = dataclasses.replace(previous, tags=())
        spec = container.spec
        facts = ImageFacts(f"sha256:{self._new_id()}", (name,), 1_000_000, spec.command, spec.entrypoint)
        self.images[name] = facts
        return facts

    def add_network(
        self, name: str, labels: Mapping[str, str], addresses: AddressRange | None = None
    ) -> FakeNetwork:
        with self.lock:
            if name in self.networks:
                return self.networks[name]
            network = FakeNetwork(self._new_id(), dict(labels), next(self._numbers), addresses)
            if any(network.overlaps(other) for other in self.networks.values()):
                raise RuntimeConflict("Pool overlaps with other one on this address space")
            self.networks[name] = network
            return network

    def address(self, container: FakeContainer, name: str) -> str:
        """The container's address in a network: the one that it was to have, or a new one."""
        network, fixed = self.networks[name], container.fixed.get(name)
        if fixed is None:
            return network.new_address()
        if network.subnet is None or ipaddress.IPv4Address(fixed) not in network.subnet:
            raise RuntimeFailure(f"Address {fixed} does not belong to any of this network's subnets")
        others = (each for each in self.containers.values() if each is not container)
        if any(each.addresses.get(name) == fixed for each in others):
            raise RuntimeConflict("Address already in use")
        return fixed

    # --- for the faces of the runtime --------------------------------------------------------------

    @contextlib.contextmanager
    def call(self, name: str) -> Iterator[None]:
        """The scripted delay and fault of one call around its work, which holds the lock."""
        fault = self._next_fault(name)
        if fault:
            self.pass_time(fault.delay)
            if fault.until:
                fault.until.wait()
        if fault and fault.error and not fault.lost:
            raise fault.error
        with self.lock:
            if self._down:
                raise RuntimeUnreachable("The fake engine cannot be reached (it is down).")
            yield
        if fault and fault.error:
            raise fault.error

    def find(self, ref: str) -> FakeContainer | None:
        """By name or id."""
        return self.containers.get(self._names.get(ref, ref))

    def container(self, ref: str) -> FakeContainer:
        found = self.find(ref)
        if found is None:
            raise RuntimeNotFound(f"No such container: {ref}")
        return found

    def completed(self, spec: RuntimeSpec) -> RuntimeSpec:
        """With what its image says to run, where it says nothing itself: an entrypoint hides both."""
        image = next(each for name, each in self.images.items() if spec.image in (name, each.id))
        return dataclasses.replace(
            spec,
            command=spec.command or (() if spec.entrypoint else image.command),
            entrypoint=spec.entrypoint or image.entrypoint,
        )

    def add_exec(self, container: FakeContainer, command: Sequence[str], interactive: bool) -> str:
        exec_id = self._new_id()
        self.execs[exec_id] = FakeExec(container, command, interactive)
        return exec_id

    def add_container(self, spec: RuntimeSpec) -> FakeContainer:
        container = FakeContainer(self._new_id(), spec)
        self.containers[spec.name] = container
        self._names[container.id] = spec.name
        self._emit(container, "create")
        return container

    def run(self, container: FakeContainer) -> None:
        """Start its process, which may end at once. The networks that it names must exist."""
        now = self.clock.now()
        addresses = {name: self.address(container, name) for name in container.addresses}
        container.state, container.started_at, container.exit_code = RuntimeState.RUNNING, now, None
        container.error = ""
        container.pid = next(self._numbers)
        container.network_ids = {name: self.networks[name].id for name in container.addresses}
        container.addresses = {**addresses}
        self._emit(container, "start")
        endless = programs.Run(duration=float("inf"))
        process = programs.run(container.command, endless) if container.command else endless
        container.log += [
            (now, programs.STDOUT if container.spec.tty else stream, as_terminal(line, container.spec.tty))
            for stream, line in process.lines
        ]
        if not process.duration:
            self.end(container, process.exit_code)
            if container.restarts_after(process.exit_code):
                container.state = RuntimeState.RESTARTING  # and so on: it would end at once again

    def end(self, container: FakeContainer, code: int = _KILLED) -> None:
        """Its process is no more; with auto_remove, nor is the container."""
        container.state, container.exit_code, container.pid = RuntimeState.EXITED, code, 0
        container.finished_at = self.clock.now()
        container.addresses = dict.fromkeys(container.addresses)
        self._emit(container, "die")
        if container.spec.auto_remove:
            self.discard(container)

    def pause(self, container: FakeContainer, paused: bool) -> None:
        container.state = RuntimeState.PAUSED if paused else RuntimeState.RUNNING
        self._emit(container, "pause" if paused else "unpause")

    def discard(self, container: FakeContainer) -> None:
        if container.state in ALIVE:
            self._emit(container, "die")
        del self.containers[container.spec.name], self._names[container.id]
        self._emit(container, "destroy")

    def pass_time(self, seconds: float) -> None:
        """Take that long; the lock must not be held."""
        self._never.wait(seconds)

    def _new_id(self) -> str:
        return hashlib.sha256(str(next(self._numbers)).encode()).hexdigest()

    def _next_fault(self, name: str) -> _Fault | None:
        with self.lock:
            faults = self._faults[name]
            if not faults:
                return None
            faults[0].times -= 1
            return faults[0] if faults[0].times else faults.popleft()

    def _emit(self, container: FakeContainer, action: str) -> None:
        since_1970 = self.clock.now().replace(tzinfo=datetime.UTC) - _EPOCH
        event = RuntimeEvent(
            container_name=container.spec.name,
            container_id=container.id,
            action=action,
            time_ns=since_1970 // datetime.timedelta(microseconds=1) * 1000,
        )
        self.event_log.add(event, container.labels)


def as_terminal(line: bytes, tty: bool) -> bytes:
    return line.replace(b"\n", b"\r\n") if tty else line
