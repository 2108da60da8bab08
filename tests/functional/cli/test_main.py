"""`tierce`: what is wrong with the configuration is said in one line, whatever the command."""

import subprocess
import sys
from pathlib import Path

import pytest

from tierce.cli.main import main


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "tierce.conf"),
        ("\udcff", "tierce.conf"),
        ("a line without a section", "tierce.conf:1"),
        ("[database]\nmax_pool_size = many", "max_pool_size"),
        ("[docker]\nexecute_timeout = soon", "[docker] execute_timeout"),
    ],
    ids=["no file", "no text", "no configuration", "no number", "an option of a later request"],
)
def test_a_bad_configuration_is_refused_in_one_line_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, complaint: str
) -> None:
    file = tmp_path / "tierce.conf"
    if text is not None:
        file.write_text(f"{text}\n", errors="surrogateescape")

    assert main(["--config-file", str(file), "db", "version"]) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tierce: ")
    assert complaint in line


@pytest.mark.parametrize("password", ["secret$tail", "secret${tail.end}"])
def test_a_password_that_is_read_as_another_option_s_name_is_refused_and_not_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], password: str
) -> None:
    file = tmp_path / "tierce.conf"
    file.write_text(f"[docker]\ndefault_registry_password = {password}\n")

    assert main(["--config-file", str(file), "db", "check"]) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert "[docker] default_registry_password" in line
    assert "secret" not in line
    assert "tail" not in line


def test_an_agent_without_a_place_for_its_state_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("a file\n")
    file = tmp_path / "tierce.conf"
    file.write_text(
        f"[DEFAULT]\nhost = node1\nstate_path = {tmp_path}/occupied\n[database]\nconnection = mysql://host/db\n"
    )

    command = [sys.executable, "-m", "tierce.cli.main", "--config-file", str(file), "agent"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert f"{tmp_path}/occupied" in line
    assert "state_path" in line
