"""A real `tierce standalone` process for tests: started, stopped and killed by its pid."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import requests

from tests.support.waiting import DEADLINE

ADMIN_PASSWORD = "correct horse battery staple"


def free_port() -> int:
    """A port that the system gives to nobody else while this process lives.

    A socket stays bound to it, which does not listen: a server can have the port, and until one does, and
    while it is restarted, connections to it are refused.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # now, or others like it would share it
        port: int = probe.getsockname()[1]
        probe.detach()
        return port


def listens(port: int) -> bool:
    """Whether anybody takes connections at this port of the machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process(Protocol):
    """What is used here of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, number: int, /) -> None: ...

    def kill(self) -> None: ...


def launched(command: Sequence[str], log: pathlib.Path, environment: Mapping[str, str]) -> Process:
    """A program with `environment` besides our own, and with its output at the end of `log`."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )


@dataclasses.dataclass
class Service:
    """One service with a home of its own. `command` starts it, with `--config-file FILE` appended."""

    home: pathlib.Path
    docker_url: str
    auth_strategy: str = "noauth"
    options: Mapping[str, Mapping[str, object]] = dataclasses.field(default_factory=dict)
    command: Sequence[str] = (sys.executable, "-m", "tierce.cli.main")
    port: int = dataclasses.field(default_factory=free_port)
    launch: Callable[[Sequence[str], pathlib.Path, Mapping[str, str]], Process] = launched
    process: Process | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def config_file(self) -> pathlib.Path:
        return self.home / "tierce.conf"

    @property
    def log(self) -> str:
        return (self.home / "log").read_text(errors="replace")

    def configure(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        options: dict[str, dict[str, object]] = {
            "DEFAULT": {
                "host": "node1",
                "state_path": self.home,
                "default_image_pull_policy": "ifnotpresent",
                "transport_url": f"inprocess:///{self.port}",
            },
            "api": {"port": self.port, "auth_strategy": self.auth_strategy},
            "docker": {"api_url": self.docker_url},
            "quota": {"containers": -1, "cpu": -1, "memory": -1, "disk": -1},
        }
        for group, values in self.options.items():
            options.setdefault(group, {}).update(values)
        lines = []
        for group, values in options.items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in values.items())]
        self.config_file.write_text("\n".join(lines) + "\n")

    def start(self, environment: Mapping[str, str] | None = None, wait: bool = True) -> None:
        """Start the process; wait until it answers. Raises AssertionError with its log."""
        self.configure()
        command = [*self.command, "--config-file", str(self.config_file), "standalone"]
        self.process = self.launch(command, self.home / "log", environment or {})
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            assert self.process is not None
            assert self.process.poll() is None, f"the service ended:\n{self.log}"
            with contextlib.suppress(requests.ConnectionError):
                requests.get(f"http://127.0.0.1:{self.port}/", timeout=DEADLINE)
                return
            time.sleep(0.02)
        raise AssertionError(f"the service does not answer:\n{self.log}")

    def stop(self) -> int:
        """SIGTERM, then its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process = None
        return code

    def kill(self) -> None:
        """SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.process = None

    def tierce(self, *arguments: str, text: str | None = None) -> str:
        """Run another command of the program on this home; its output."""
        done = subprocess.run(
            [*self.command, "--config-file", str(self.config_file), *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def add_user(self, name: str, project: str, role: str, password: str) -> None:
        self.tierce(
            "user",
            "add",
            name,
            "--project",
            project,
            "--role",
            role,
            "--password-stdin",
            text=f"{password}\n",
        )


class Served(Protocol):
    """What has an API, and a log for when it fails."""

    @property
    def url(self) -> str: ...

    @property
    def log(self) -> str: ...


class Http:
    """A thin client: `call` returns status and decoded body; `wait` polls a state with a deadline."""

    def __init__(self, service: Served, auth: tuple[str, str] | None = None, version: str = "1.40") -> None:
        self._base = service.url
        self._service = service
        self._session = requests.Session()
        self._session.auth = auth
        self._session.headers["OpenStack-API-Version"] = f"container {version}"

    def close(self) -> None:
        """Let go of its connections."""
        self._session.close()

    def raw(self, method: str, path: str, **more: Any) -> requests.Response:
        return self._session.request(method, self._base + path, timeout=60, **more)

    def call(self, method: str, path: str, **more: Any) -> Any:
        """The decoded body. Raises AssertionError with the answer unless it is a success."""
        answer = self.raw(method, path, **more)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}\n{self._service.log[-4000:]}"
        return answer.json() if answer.content else None

    def create(self, *, run: bool = True, **fields: Any) -> str:
        fields.setdefault("memory", "64")
        body: dict[str, Any] = self.call("POST", f"/containers?run={str(run).lower()}", json=fields)
        return str(body["uuid"])

    def show(self, ident: str) -> dict[str, Any] | None:
        """The container, or None when there is none."""
        answer = self.raw("GET", f"/containers/{ident}")
        if answer.status_code == 404:
            return None
        assert answer.ok, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def wait(self, ident: str, *statuses: str | None) -> dict[str, Any]:
        """Wait until the status is one of `statuses` (None: gone) with no action in work; the container."""
        deadline = time.monotonic() + DEADLINE
        while True:
            found = self.show(ident)
            status = found and found["status"]
            if status in statuses and not (found and found["task_state"]):
                return found or {}
            assert time.monotonic() < deadline, (
                f"{ident} is {status}, not {statuses}: {found}\n{self._service.log[-4000:]}"
            )
            time.sleep(0.02)


@contextlib.contextmanager
def running(service: Service) -> Iterator[Service]:
    """The service from start to stop; its containers are deleted at the end."""
    service.start()
    try:
        yield service
    finally:
        if service.process is not None:
            service.stop()
