"""The `openstack` command with the files that `tierce home init` writes, as its users type it."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.engines import BUSYBOX
from tests.support.service import Http
from tests.support.team import Team
from tests.support.waiting import until

OPENSTACK = str(pathlib.Path(sys.executable).with_name("openstack"))


class Cli:
    """`openstack appcontainer` in an environment that has nothing of this machine's user."""

    def __init__(self, home: pathlib.Path, variables: Mapping[str, str]) -> None:
        self._environment = {"HOME": str(home), "PATH": os.environ["PATH"], **variables}

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """What it prints. Raises AssertionError with its complaint unless it ends with `code`."""
        done = subprocess.run(
            [OPENSTACK, "appcontainer", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def json(self, command: str, *arguments: str) -> Any:
        # The option comes first: a container's command takes all that follows it.
        return json.loads(self(*command.split(), "-f", "json", *arguments))


@pytest.fixture(scope="module")
def home(team: Team) -> pathlib.Path:
    """The service's home, with the administrator whose password is in it, as in a quickstart."""
    service = team.service
    password = (service.home / "admin.password").read_text().strip()
    service.add_user("admin", "admin", "admin", password)
    return service.home


@pytest.fixture
def admin(team: Team, home: pathlib.Path) -> Http:
    """The same user by another way, to wait without starting the command again and again."""
    return Http(team.service, ("admin", (home / "admin.password").read_text().strip()))


def test_a_container_s_life_with_openrc(home: pathlib.Path, admin: Http, tmp_path: pathlib.Path) -> None:
    sourced = subprocess.run(
        ["bash", "-c", ". ./openrc && env -0"], cwd=home, env={}, capture_output=True, text=True, check=True
    )
    variables = dict(line.split("=", 1) for line in sourced.stdout.split("\0") if line.startswith("OS_"))
    assert variables["OS_AUTH_TYPE"] == "http_basic"
    cli = Cli(tmp_path, variables)

    made = cli.json("create", "--name", "made", "--memory", "64", BUSYBOX, "true")
    assert (made["name"], made["status"]) == ("made", "Creating")
    script = "trap exit TERM; echo hello; sleep 3600 & wait"
    run = cli.json(
        "run", "--name", "first", "--memory", "64", "--environment", "COLOUR=red", "--label", "tier=web",
        BUSYBOX, "sh", "-c", script,
    )  # fmt: skip
    admin.wait(run["uuid"], "Running")
    admin.wait(made["uuid"], "Created")

    listed = {each["name"]: each["status"] for each in cli.json("list")}
    assert listed == {"first": "Running", "made": "Created"}
    assert [each["name"] for each in cli.json("list", "--status", "Running")] == ["first"]
    shown = cli.json("show", "first")
    assert (shown["image"], shown["command"]) == (BUSYBOX, ["sh", "-c", script])
    assert (shown["environment"], shown["labels"]) == ({"COLOUR": "red"}, {"tier": "web"})

    assert cli("exec", "first", "echo", "from", "inside") == "from inside\n\n"
    cli("exec", "first", "sh", "-c", "exit 3", code=3)
    until(lambda: admin.call("GET", "/containers/first/logs"))
    assert cli("logs", "first") == "hello\n\n"
    assert cli.json("stats", "first")["MEM LIMIT(MiB)"] == 64

    for command, status in (
        (["stop", "--timeout", "5"], "Stopped"),
        (["start"], "Running"),
        (["restart", "--timeout", "5"], "Running"),
        (["pause"], "Paused"),
        (["unpause"], "Running"),
        (["kill"], "Stopped"),
    ):
        assert "has been accepted" in cli(command[0], "first", *command[1:])
        admin.wait("first", status)

    actions = [each["action"] for each in cli.json("action list", "first")]
    assert actions == ["kill", "unpause", "pause", "reboot", "start", "stop", "create"]
    assert [(each["Host"], each["State"]) for each in cli.json("service list")] == [("node1", "up")]
    assert [each["hostname"] for each in cli.json("host list")] == ["node1"]

    assert cli("delete", "first", "made").count("has been accepted") == 2
    admin.wait(run["uuid"], None)
    admin.wait(made["uuid"], None)
    assert "could not be found" in cli("delete", "first")


def test_a_container_s_life_with_clouds_yaml(home: pathlib.Path, admin: Http, tmp_path: pathlib.Path) -> None:
    cli = Cli(tmp_path, {"OS_CLIENT_CONFIG_FILE": str(home / "clouds.yaml"), "OS_CLOUD": "tierce"})
    run = cli.json("run", "--name", "second", "--memory", "64", BUSYBOX, "sleep", "3600")
    admin.wait(run["uuid"], "Running")
    assert [each["name"] for each in cli.json("list")] == ["second"]
    assert "has been accepted" in cli("delete", "--force", "second")
    admin.wait(run["uuid"], None)
