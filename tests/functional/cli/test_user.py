"""`tierce user`: what it says beside the users."""

from pathlib import Path

import pytest

from tierce.cli.main import main


def test_it_says_which_file_of_users_it_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tierce.conf"
    file.write_text(f"[DEFAULT]\nstate_path = {tmp_path}\n")

    command = ["user", "add", "ann", "--project", "web", "--role", "member"]

    assert main(["--config-file", str(file), *command]) == 0

    said = capsys.readouterr()
    assert said.err == f"Users: {tmp_path}/htpasswd\n"
    (password,) = said.out.splitlines()
    assert password not in said.err
