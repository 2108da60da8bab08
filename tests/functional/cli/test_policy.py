"""`tierce policy`: the sample that it writes, the rules that it lists, and the mistakes that it finds."""

import os
import pathlib
from collections.abc import Callable

import pytest
import yaml

from tierce.cli.main import main
from tierce.control.policies import list_rules

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "policy.yaml"


@pytest.fixture
def run(tmp_path: pathlib.Path, file: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; exit status, output and complaints."""
    configuration = tmp_path / "tierce.conf"
    configuration.write_text(f"[oslo_policy]\npolicy_file = {file}\n")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["--config-file", os.fspath(configuration), "policy", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_sample_has_every_rule_with_its_default_and_its_requests(run: Run) -> None:
    code, sample, _ = run("sample")
    assert code == 0
    assert yaml.safe_load(sample) is None
    uncommented = sample.replace('#"', '"')
    assert yaml.safe_load(uncommented) == {rule.name: rule.check_str for rule in list_rules()}
    for rule in list_rules():
        for operation in getattr(rule, "operations", ()):
            assert f"# {operation['method']}  {operation['path']}\n" in sample


def test_the_sample_goes_into_a_file(run: Run, file: pathlib.Path) -> None:
    assert run("sample", "--output-file", os.fspath(file))[0] == 0
    assert '#"container:create"' in file.read_text()
    assert run("check") == (0, "", "")


def test_what_is_in_force_is_listed_with_the_operator_s_own_marked(run: Run, file: pathlib.Path) -> None:
    file.write_text('"container:create": "role:member"\n"container:get_one:user_id": "!"\n')
    listed = run("list")[1].splitlines()
    assert '* "container:create": "role:member"' in listed
    assert '* "container:get_one:user_id": "!"' in listed
    assert '  "image:pull": "rule:context_is_admin"' in listed


def test_without_a_file_the_defaults_are_in_force_and_right(run: Run) -> None:
    assert run("check") == (0, "", "")
    assert len(run("list")[1].splitlines()) == len(list_rules())


@pytest.mark.parametrize(
    "text",
    [
        '"container:stop": "role:member and rule:admin_or_owner"',
        '"container:stop": "!"',
        '"container:stop": ""',
        '"operators": "role:operator"\n"container:stop": "rule:operators"',
        '"container:get_one:user_id": "role:admin"\n"registry:get_one:username": "role:admin"',
    ],
)
def test_a_right_file_passes(run: Run, file: pathlib.Path, text: str) -> None:
    file.write_text(text)
    assert run("check") == (0, "", "")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('"container:stopp": "role:member"', "container:stopp"),
        ('"container:stop": "role:member or oops"', "container:stop"),
        ('"container:stop": {"role": "member"}', "container:stop"),
        ('"container:stop": "rule:nosuch"', "container:stop"),
        ('"a": "rule:b"\n"b": "rule:a"\n"container:stop": "rule:a"', "container:stop"),
        ('"container:stop": "role:member', "cannot be read"),
        ("[1, 2]", "cannot be read"),
    ],
)
def test_a_mistake_is_named(run: Run, file: pathlib.Path, text: str, named: str) -> None:
    file.write_text(text)
    code, output, complaint = run("check")
    assert (code, output) == (1, "")
    assert named in complaint
    assert "Traceback" not in complaint


def test_every_rule_is_documented() -> None:
    assert [rule.name for rule in list_rules() if not rule.description] == []
    undocumented = {rule.name for rule in list_rules() if not getattr(rule, "operations", None)}
    assert undocumented == {"context_is_admin", "admin_or_owner", "admin_api", "deny_everybody"}
