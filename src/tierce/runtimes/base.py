"""The contract between the node agent and a container runtime.

Every method that changes something is an `ensure`: calling it again when the goal already holds is
a success that changes nothing, so an operation can be run again after a crash at any point. What is
gone is gone: removing it again succeeds.

Errors, raised by every method that asks the runtime: RuntimeUnreachable (no answer),
RuntimeTimeout, RuntimeNotFound, RuntimeConflict, RuntimeBadRequest, RuntimeFailure. They are chosen
by the runtime's status code, never by its text; the message is the runtime's own sentence without
addresses of sockets or paths of this machine.

`ref` is a container's name or id.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tierce.model.archive import Content
from tierce.model.container import (
    AddressRange,
    ContainerReport,
    ExecResult,
    ExecState,
    FoundImage,
    ImageFacts,
    NetworkAttachment,
    NodeFacts,
    RuntimeEvent,
    RuntimeSpec,
    StatsSample,
)


class Containers(Protocol):
    """Containers and their life."""

    def fingerprint(self) -> NodeFacts:
        """What this node is and has."""

    def create(self, spec: RuntimeSpec) -> str:
        """Ensure a container named `spec.name` exists, and return its id.

        One that exists under that name already is taken as it is (an earlier attempt made it).
        Raises RuntimeNotFound when the image is not on the node.
        """

    def start(self, ref: str) -> None:
        """Ensure it runs. RuntimeBadRequest when its command cannot be executed."""

    def rejoin(self, ref: str, networks: Sequence[NetworkAttachment]) -> None:
        """Ensure it is in the networks that have these names now, as these attachments say.

        A container is bound to the networks that it was in when it last ran: one that was removed and
        made anew under the same name is another, and a start says RuntimeNotFound.
        """

    def join(self, ref: str, attachment: NetworkAttachment) -> None:
        """Ensure it is in this network, in any state of its own; one that it is in already stays as it is.

        RuntimeNotFound when there is no such network.
        """

    def leave(self, ref: str, network: str) -> None:
        """Ensure it is not in this network, now or at its next start; also if it is its last one, or gone."""

    def stop(self, ref: str, timeout: int | None = None) -> None:
        """Ensure it does not run: its stop signal, then a kill after `timeout` s (None: engine's own)."""

    def restart(self, ref: str, timeout: int | None = None) -> None:
        """Stop as `stop` does, then start, with the errors of both.

        Not idempotent by nature; running it twice restarts twice.
        """

    def pause(self, ref: str) -> None:
        """Ensure it is paused. RuntimeConflict when it does not run."""

    def unpause(self, ref: str) -> None:
        """Ensure it is not paused."""

    def kill(self, ref: str, signal: str | None = None) -> None:
        """Send a signal (None: KILL) to its first process. RuntimeConflict when it does not run."""

    def resize(
        self, ref: str, memory: int | None, cpus: float | None, cpuset_cpus: Sequence[int] = ()
    ) -> None:
        """Ensure these limits, as `RuntimeSpec` has them, in any state; one that is None or empty stays."""

    def commit(self, ref: str, repository: str, tag: str) -> ImageFacts:
        """Make an image of its file system and configuration, named `repository:tag` from then on.

        One that runs is frozen meanwhile. Not idempotent by nature: each makes an image of its own.
        """

    def remove(self, ref: str) -> None:
        """Ensure it is gone, running or not, with its anonymous volumes."""

    def inspect(self, ref: str) -> ContainerReport | None:
        """Its present state; None when the runtime has no such container."""

    def list(self, owner_labels: Mapping[str, str]) -> list[ContainerReport]:
        """Recover: every container, in any state, that carries all these labels.

        Cheap: only id, name, state and labels are filled.
        """

    def events(self, owner_labels: Mapping[str, str], since_ns: int | None = None) -> "EventStream":
        """Events of the containers that carry these labels, from `since_ns` (unix time) on."""

    # --- looking inside -----------------------------------------------------------------------

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
        """What it wrote, in order; the newest `limit` bytes when there is more.

        `tail` is a number of lines (None: all), `since` unix seconds.
        """

    def execute(self, ref: str, command: Sequence[str], timeout: float, *, tty: bool = False) -> ExecResult:
        """Run a command inside, with a terminal if `tty`, and wait for its end.

        Raises ExecTimeout after `timeout` s, having ended the command; RuntimeConflict when the
        container does not run.
        """

    def top(self, ref: str, ps_args: str | None = None) -> dict[str, Any]:
        """`{"Titles": [...], "Processes": [[...], ...]}`."""

    def stats(self, ref: str) -> StatsSample:
        """One sample of what it uses; RuntimeConflict when it does not run."""


class Terminals(Protocol):
    """What a person connects to: the first process of a container, and commands beside it.

    Connecting itself is not here: a proxy does it, at the engine.
    """

    def attach_target(self, ref: str) -> str:
        """Path and query at which the engine gives the container's first process as a WebSocket.

        RuntimeConflict when it does not run.
        """

    def resize(self, ref: str, height: int, width: int) -> None:
        """Set the size of the container's terminal, in characters; nothing happens where there is none.

        RuntimeConflict when it does not run.
        """

    def prepare(self, ref: str, command: Sequence[str], *, interactive: bool) -> str:
        """Have a command ready to be run, with a terminal and input if `interactive`; its exec id.

        RuntimeConflict when the container does not run.
        """

    def state(self, exec_id: str) -> ExecState:
        """RuntimeNotFound when the engine has forgotten it: long after its end, or with its container."""

    def resize_exec(self, exec_id: str, height: int, width: int) -> None:
        """Set the size of its terminal. Only while it runs: engines wait for it, or fail, otherwise."""


class Archives(Protocol):
    """Files of a container, in any state, as tar files. What a path means, the engine alone decides."""

    def get(self, ref: str, path: str) -> AbstractContextManager[tuple[dict[str, Any], Iterator[bytes]]]:
        """What is at `path`: its `name`, `size`, `mode`, `mtime` and `linkTarget`, and a tar file of it.

        A link is itself, and its target with a slash at the end of `path`. PathNotFound. Reading
        raises RuntimeUnreachable when the rest cannot be had.
        """

    def put(self, ref: str, path: str, content: Content) -> None:
        """Unpack a tar file into the directory `path`. PathNotFound.

        RuntimeBadRequest when `path` is no directory, or the content cannot be unpacked there; some of
        it may have been.
        """


class EventStream(Protocol):
    """A blocking iterator of events; `close` from another thread ends it."""

    def __iter__(self) -> Iterator[RuntimeEvent]: ...

    def close(self) -> None: ...


class ImageStore(Protocol):
    """The images that the node has."""

    def find(self, reference: str) -> ImageFacts | None:
        """The image by reference or id; None when the node does not have it."""

    def pull(
        self,
        reference: str,
        *,
        auth: Mapping[str, str] | None,
        idle_timeout: float,
        progress: Callable[[], None] = lambda: None,
    ) -> ImageFacts:
        """Fetch `reference` (with tag or digest) from its registry, calling `progress` on each sign of life.

        `auth` has `username` and `password`. Raises ImageNotFound, ImagePullFailed (also for an error
        inside the progress stream), and ImagePullFailed after `idle_timeout` s without progress.
        """

    def require_access(self, reference: str, *, auth: Mapping[str, str] | None) -> None:
        """Have its registry say that whoever has these credentials may pull it, whatever the node has.

        Raises ImageNotFound, ImagePullFailed.
        """

    def remove(self, reference: str) -> None:
        """Ensure the node does not have it. RuntimeConflict while a container uses it."""

    def search(self, term: str) -> Sequence[FoundImage]:
        """Images of the public registry that `term` finds, the best first.

        Raises ImageSearchFailed when the registry cannot be asked.
        """


class EngineNetworks(Protocol):
    """The networks that the engine itself keeps (used by the `bridge` network plug)."""

    def ensure(self, name: str, labels: Mapping[str, str], addresses: AddressRange | None = None) -> str:
        """Ensure a bridge network of this name exists, and return its id. Safe to race.

        One that is made has these addresses (None: the engine's choice, and none can be asked for).
        RuntimeConflict when they overlap another network's.
        """

    def remove(self, name: str) -> None:
        """Ensure it is gone. RuntimeConflict while containers are attached."""

    def list(self, labels: Mapping[str, str]) -> list[str]:
        """Names of the networks that carry all these labels."""


class Runtime(Protocol):
    """A runtime: its faces share one connection."""

    @property
    def containers(self) -> Containers: ...

    @property
    def terminals(self) -> Terminals: ...

    @property
    def archives(self) -> Archives: ...

    @property
    def images(self) -> ImageStore: ...

    @property
    def networks(self) -> EngineNetworks: ...

    @property
    def name(self) -> str:
        """What messages call it, e.g. `Docker`."""

    def close(self) -> None:
        """Let go of connections and threads."""
