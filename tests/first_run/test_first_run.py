"""The first run as the README tells it: `./quickstart` in a clean clone, with a home and a port of its own.

The tests are the steps of one story, in order: they share the clone and what runs in it. Root is needed,
and a machine on which no other Docker Engine runs (or DOCKER_HOST naming one to use).
"""

import os
import shutil
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.service import free_port, listens

REPOSITORY = Path(__file__).parents[2]


class Clone:
    """A clean clone, and a shell in it with an environment of its own."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "tierce"
        self.home = directory / "home" / ".tierce"
        self.port = free_port()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "TIERCE_"))}
        self.environment = kept | {"HOME": str(directory / "home"), "TIERCE_PORT": str(self.port)}
        self.home.parent.mkdir()
        subprocess.run(["git", "clone", "--quiet", REPOSITORY, self.path], check=True)

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script in the clone; its two streams come back as one."""
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )

    def openstack(self, command: str) -> str:
        """The output of a command of the standard client, with the variables that `openrc` exports."""
        client = Path(sys.executable).with_name("openstack")
        done = self.shell(f"source {self.home}/openrc && {client} {command}")
        assert done.returncode == 0, done.stdout
        return done.stdout

    def variable(self, name: str) -> str:
        return self.shell(f'source {self.home}/openrc && echo "${name}"').stdout.strip()

    def pids(self) -> dict[str, int]:
        return {file.stem: int(file.read_text()) for file in self.home.glob("*.pid")}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    directory = tmp_path_factory.mktemp("first-run")
    clone = Clone(directory)
    yield clone
    clone.shell("./quickstart stop")
    shutil.rmtree(directory)


class Run(NamedTuple):
    output: str
    seconds: float


def quickstart(clone: Clone) -> Run:
    began = time.monotonic()
    done = clone.shell("./quickstart")
    assert done.returncode == 0, done.stdout
    return Run(done.stdout, time.monotonic() - began)


@pytest.fixture(scope="module")
def first_run(clone: Clone) -> Run:
    return quickstart(clone)


def answer_of(clone: Clone, *, with_password: bool) -> int:
    endpoint, passwords = clone.variable("OS_ENDPOINT"), urllib.request.HTTPPasswordMgrWithDefaultRealm()
    if with_password:
        passwords.add_password(None, endpoint, clone.variable("OS_USERNAME"), clone.variable("OS_PASSWORD"))
    opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(passwords))
    try:
        with opener.open(f"{endpoint}/containers", timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_first_run_shows_what_its_first_container_wrote(first_run: Run) -> None:
    assert "Hello from a container named hello-" in first_run.output


def test_password_is_in_private_files_only(clone: Clone, first_run: Run) -> None:
    password = clone.variable("OS_PASSWORD")
    assert len(password) >= 20
    assert password not in first_run.output
    holders = [
        file for file in clone.home.glob("*") if file.is_file() and password.encode() in file.read_bytes()
    ]
    assert {file.name for file in holders} == {"admin.password", "clouds.yaml", "openrc"}
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in holders)
    assert stat.S_IMODE(clone.home.stat().st_mode) == 0o700


@pytest.mark.usefixtures("first_run")
def test_api_wants_the_password(clone: Clone) -> None:
    assert answer_of(clone, with_password=False) == 401
    assert answer_of(clone, with_password=True) == 200


@pytest.mark.usefixtures("first_run")
def test_standard_client_finds_the_cloud_in_clouds_yaml(clone: Clone) -> None:
    client = Path(sys.executable).with_name("openstack")
    done = clone.shell(
        f"OS_CLIENT_CONFIG_FILE={clone.home}/clouds.yaml {client} --os-cloud tierce appcontainer list"
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.usefixtures("first_run")
def test_commands_to_try_next_work_with_the_standard_client(clone: Clone) -> None:
    clone.openstack(
        """appcontainer run --wait --name first $TIERCE_DEMO_IMAGE sh -c 'while date; do sleep 5; done'"""
    )
    assert "Running" in clone.openstack("appcontainer list")
    assert "sleep 5" in clone.openstack("appcontainer exec first ps")
    assert "UTC" in clone.openstack("appcontainer logs first")
    clone.openstack("appcontainer delete --stop --wait first")
    assert "first" not in clone.openstack("appcontainer list")


def test_second_run_is_quick_and_leaves_what_runs_alone(clone: Clone, first_run: Run) -> None:
    before = clone.pids()
    second_run = quickstart(clone)
    assert clone.pids() == before
    assert second_run.seconds < first_run.seconds / 4, "it does again what the first one did"


@pytest.mark.usefixtures("first_run")
def test_hand_made_change_of_the_configuration_is_kept_and_takes_effect(clone: Clone) -> None:
    file = clone.home / "tierce.conf"
    file.write_text(file.read_text() + "\n[quota]\ncontainers = 0\n")
    changed, before = file.read_text(), clone.pids()["standalone"]
    done = clone.shell("./quickstart")
    assert done.returncode != 0
    assert "uota" in done.stdout  # the first container says which limit it met
    assert clone.pids()["standalone"] != before
    assert file.read_text() == changed
    file.write_text(changed.replace("containers = 0", "containers = 7"))
    assert clone.shell("./quickstart").returncode == 0


@pytest.mark.usefixtures("first_run")
def test_status_tells_that_it_runs(clone: Clone) -> None:
    done = clone.shell("./quickstart status")
    assert done.returncode == 0
    assert f"http://127.0.0.1:{clone.port}/v1" in done.stdout


@pytest.mark.usefixtures("first_run")
def test_stop_ends_what_was_started_and_keeps_what_was_made(clone: Clone) -> None:
    clone.openstack("appcontainer run --wait --name kept $TIERCE_DEMO_IMAGE sleep 1000")
    password = clone.variable("OS_PASSWORD")
    assert clone.shell("./quickstart stop").returncode == 0
    assert not listens(clone.port)
    assert clone.pids() == {}
    assert clone.shell("./quickstart status").returncode == 1
    assert clone.shell("./quickstart").returncode == 0
    assert "kept" in clone.openstack("appcontainer list")
    assert clone.variable("OS_PASSWORD") == password
    clone.openstack("appcontainer delete --stop --wait kept")
