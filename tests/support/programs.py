"""The programs of a cloud as real processes: an API and node agents, on RabbitMQ and MariaDB.

    programs = Programs(directory, transport_url, database_url)
    programs.start()
    http = Http(programs)
    programs.agents["node1"].kill()

Agents have fake engines, which live in them: what runs on a node ends with its agent.
"""

import contextlib
import pathlib
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import requests

from tests.support.service import free_port, listens
from tests.support.threads import at_once
from tests.support.waiting import DEADLINE, until

TIERCE = (sys.executable, "-m", "tierce.cli.main")
DOWN_TIME = 60
"""Seconds: on a busy machine a heart waits for a processor, and an agent that is started again takes long."""
DOWN_SOON = {"service_down_time": 5}
"""What [DEFAULT] has where a test waits until a node is down."""
REPLY_TIME = 3
NEVER = 3600
"""Seconds between looks of agents that nothing announced: more than any test takes."""


class Program:
    """One command with a configuration of its own, started any number of times."""

    def __init__(self, file: pathlib.Path, *arguments: str, command: Sequence[str] = TIERCE) -> None:
        self.file = file
        self._command = [*command, "--config-file", str(file), *arguments]
        self._log = file.with_suffix(".log")
        self._logged_before = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def wait_serving(self) -> None:
        """Wait until this agent, as started last, has its node. AssertionError when it ends instead."""

        def serves() -> bool:
            return "Serving the node" in self.log[self._logged_before :]

        until(lambda: serves() or not self.runs)
        assert serves(), self.log

    def start(self) -> None:
        self._logged_before = len(self.log)
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *self._command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def wait(self) -> int:
        """Wait until it ends by itself; its exit code."""
        assert self._process is not None
        try:
            return self._process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it still runs after {DEADLINE:g} s:\n{self.log}") from None

    def stop(self) -> int:
        """SIGTERM, then its exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def end(self) -> None:
        """Not to run any more, whatever state it is in. Idempotent."""
        if self.runs:
            self.signal(signal.SIGCONT)
            self.stop()


class Programs:
    def __init__(
        self,
        directory: pathlib.Path,
        transport_url: str,
        database_url: str,
        hosts: Sequence[str],
        command: Sequence[str] = TIERCE,
        **options: Mapping[str, object],
    ) -> None:
        """`command` runs each of them; `options` are groups of the configuration that all of them have."""
        self._directory = directory
        self._transport_url = transport_url
        self._database_url = database_url
        self._command = command
        self._options = options
        self.admin: tuple[str, str] | None = None
        """Name and password of an administrator, where the API asks for one."""
        self.port = free_port()
        self.api = Program(
            self.configure("api", api={"port": self.port, "workers": 2}), "api", command=command
        )
        self.agents = {host: self.agent(host) for host in hosts}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def log(self) -> str:
        return "\n".join(program.log[-3000:] for program in (self.api, *self.agents.values()))

    def agent(self, host: str, state: str = "", **options: Mapping[str, object]) -> Program:
        """An agent of the node, which keeps its state in a directory named `state` (its host's name)."""
        default = {
            "host": host,
            "state_path": self._directory / (state or host),
            **options.pop("DEFAULT", {}),
        }
        file = self.configure(f"agent-{state or host}", DEFAULT=default, **options)
        return Program(file, "agent", command=self._command)

    def beside(self, host: str) -> Program:
        """A second agent of the node on the state of the first, with a log of its own."""
        file = self._directory / f"beside-{host}.conf"
        file.write_text(self.agents[host].file.read_text())
        return Program(file, "agent", command=self._command)

    def configure(self, name: str, **more: Mapping[str, object]) -> pathlib.Path:
        """A configuration file of that name."""
        options: dict[str, dict[str, object]] = {
            "DEFAULT": {
                "host": "nobody",
                "state_path": self._directory / name,
                "transport_url": self._transport_url,
                "rpc_response_timeout": REPLY_TIME,
                "service_down_time": DOWN_TIME,
                "periodic_interval_max": 1,
                "container_driver": "fake",
                "auth_encryption_key": "32 characters that a test knows.",
            },
            "api": {"auth_strategy": "noauth"},
            "agent": {"poll_interval": NEVER, "graceful_stop": 5},
            "database": {"connection": self._database_url},
            "quota": dict.fromkeys(("containers", "cpu", "memory", "disk"), -1),
        }
        for group, values in (*self._options.items(), *more.items()):
            options.setdefault(group, {}).update(values)
        lines = []
        for group, values in options.items():
            lines += [f"[{group}]", *(f"{option} = {value}" for option, value in values.items())]
        file = self._directory / f"{name}.conf"
        file.write_text("\n".join(lines) + "\n")
        return file

    def start(self) -> None:
        """Everything, until the API answers and every node is up and has said what it has."""
        self.api.start()
        for agent in self.agents.values():
            agent.start()
        self.wait_answering()
        for host in self.agents:
            self.wait_state(host, "up")
        until(self._hosts_that_have_reported, lambda hosts: hosts >= self.agents.keys())

    def stop(self) -> None:
        at_once([program.end for program in (self.api, *self.agents.values())])

    def kill_api(self) -> None:
        """SIGKILL the API, and wait until its workers have noticed, and listen no more: a next one would not
        start, and they would answer in its place.
        """
        self.api.kill()
        until(lambda: not listens(self.port))

    def wait_answering(self) -> None:
        def answers() -> bool:
            with contextlib.suppress(requests.ConnectionError):
                return requests.get(f"http://127.0.0.1:{self.port}/", timeout=DEADLINE).ok
            return False

        try:
            until(answers)
        except AssertionError:
            raise AssertionError(f"the API does not answer:\n{self.log}") from None

    def wait_state(self, host: str, state: str) -> None:
        """Wait until the API says that the node is `up` or `down`.

        Up counts only when its agent serves: before that, it is the last word of the one that was killed.
        """

        def states() -> dict[str, str]:
            return {service["host"]: service["state"] for service in self._list("services")}

        try:
            if state == "up":
                self.agents[host].wait_serving()
            until(states, lambda seen: seen.get(host) == state)
        except AssertionError as exc:
            raise AssertionError(f"{exc}:\n{self.log}") from None

    def _hosts_that_have_reported(self) -> set[str]:
        """The nodes that containers can be placed on."""
        return {each["hostname"] for each in self._list("hosts") if each["mem_total"]}

    def _list(self, what: str) -> list[dict[str, Any]]:
        headers = {"OpenStack-API-Version": "container 1.40"}
        answer = requests.get(f"{self.url}/{what}", headers=headers, auth=self.admin, timeout=DEADLINE)
        return list(answer.json()[what])
