"""Containers of a real Engine as tests use them: through the API, and behind its back."""

import concurrent.futures
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import docker
from docker.models.containers import Container

from tests.support.engines import BUSYBOX
from tests.support.service import Http
from tests.support.tars import tar

FOREVER = ["sleep", "3600"]
"""A command that goes on, and that only a kill ends."""
POLITE = ["sh", "-c", "trap exit TERM; sleep 3600 & wait"]
"""A command that goes on until it is asked to end."""
PATIENT = ["sh", "-c", "until [ -e /go ]; do sleep 0.02; done; exit 3"]
"""A command that ends by itself, with 3, when somebody makes the file /go: see `let_go`."""


def run(user: Http, **fields: Any) -> str:
    """A container that runs; by default busybox, with FOREVER."""
    ident = user.create(**{"image": BUSYBOX, "command": FOREVER, **fields})
    user.wait(ident, "Running")
    return ident


def finish(user: Http, command: Sequence[str], **fields: Any) -> dict[str, Any]:
    """A container whose command has ended."""
    return user.wait(user.create(image=BUSYBOX, command=command, **fields), "Stopped")


def let_go(container: Container) -> None:
    """Have one with the command PATIENT end. Not by a command in it, which it might take along."""
    container.put_archive("/", tar(go=b""))


def execute(user: Http, ident: str, *command: str) -> tuple[int, str]:
    """Exit code and output of a command inside."""
    answer = user.call("POST", f"/containers/{ident}/execute", json={"command": shlex.join(command)})
    return answer["exit_code"], answer["output"]


def at_once(create: Callable[[], str]) -> list[str]:
    """Six containers, asked for at the same time."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        return list(pool.map(lambda _: create(), range(6)))


def behind(engine: docker.DockerClient, ident: str) -> Container:
    """The container as Docker has it."""
    return engine.containers.get(f"zun-{ident}")


def states(engine: docker.DockerClient, ident: str) -> list[str]:
    """The states of all that Docker has of the container."""
    return [
        each.status
        for each in engine.containers.list(all=True, filters={"name": f"zun-{ident}"}, ignore_removed=True)
    ]
