"""What a program cannot have at its start it names in one line: an address, an Engine, a schema."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service import free_port
from tierce.cli.main import main

ELSEWHERE = "192.0.2.1"
"""An address for examples, which no machine has."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tierce.conf"


def configure(file: Path, options: str = "") -> None:
    file.write_text(
        f"[DEFAULT]\nhost = node1\nstate_path = {file.parent}\ntransport_url = rabbit://localhost:1/\n"
        f"[database]\nconnection = sqlite:///{file.parent}/tierce.sqlite\n{options}\n"
    )


def refusal(file: Path, program: str) -> str:
    """The last line that the program writes; it has to end by itself, and to show no traceback."""
    command = [sys.executable, "-m", "tierce.cli.main", "--config-file", str(file), program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("program", ["api", "standalone"])
def test_an_address_of_another_machine_is_refused_by_name(file: Path, program: str) -> None:
    port = free_port()
    configure(file, f"[api]\nhost_ip = {ELSEWHERE}\nport = {port}")
    assert main(["--config-file", str(file), "db", "upgrade"]) == 0

    line = refusal(file, program)

    assert f"{ELSEWHERE}:{port}" in line
    assert "[api] host_ip" in line


def test_an_engine_that_is_no_url_is_refused_by_the_name_of_its_option(file: Path) -> None:
    configure(file, f"[docker]\napi_url = {file.parent}/docker.sock")
    assert main(["--config-file", str(file), "db", "upgrade"]) == 0

    assert "[docker] api_url" in refusal(file, "standalone")


def test_a_program_says_which_database_wants_an_upgrade(file: Path) -> None:
    configure(file)

    assert f"sqlite:///{file.parent}/tierce.sqlite" in refusal(file, "api")
