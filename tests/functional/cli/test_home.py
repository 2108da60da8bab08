"""`tierce home init`: what it writes, and what it leaves alone."""

import argparse
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from oslo_policy.policy import DocumentedRuleDefault

from tierce import config
from tierce.cli import home
from tierce.cli.main import main
from tierce.control.policies import list_rules
from tierce.control.policies.base import OWNER

PASSWORD = """it's a "secret" of $5 \\ more"""


def make(path: Path, **asked: Any) -> dict[str, str]:
    return home.init(home.settle(path, host="node-1", **asked), lambda: PASSWORD)


def sourced(path: Path, variable: str) -> str:
    script = f'source "$0" && printf %s "${variable}"'
    return subprocess.run(
        ["bash", "-c", script, path / "openrc"], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a $home of spaces"


@pytest.mark.parametrize("port", ["0", "65536", "-1", "many"])
def test_a_port_that_does_not_exist_is_refused_and_leaves_no_home(path: Path, port: str) -> None:
    with pytest.raises(SystemExit):
        main(["home", "init", "--home", str(path), f"--port={port}"])
    assert not path.exists()


def test_new_home_is_private(path: Path) -> None:
    make(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()} == {0o600}


def test_configuration_says_what_was_asked_for(path: Path) -> None:
    make(path, port=9600, docker_url="unix:///run/e.sock")
    conf = config.load([str(path / "tierce.conf")])
    assert (conf.host, conf.state_path, conf.default_image_pull_policy) == (
        "node-1",
        str(path),
        "ifnotpresent",
    )
    assert (conf.api.host_ip, conf.api.port, conf.docker.api_url) == ("127.0.0.1", 9600, "unix:///run/e.sock")
    assert conf.database.connection == f"sqlite:///{path}/tierce.sqlite"


def test_shell_that_sources_openrc_has_the_credentials(path: Path) -> None:
    make(path, port=9600, docker_url="unix:///run/e.sock", demo_image="demo:2")
    assert sourced(path, "OS_AUTH_TYPE") == "http_basic"
    assert sourced(path, "OS_ENDPOINT") == "http://127.0.0.1:9600/v1"
    assert sourced(path, "OS_USERNAME") == "admin"
    assert sourced(path, "OS_PASSWORD") == PASSWORD
    assert sourced(path, "DOCKER_HOST") == "unix:///run/e.sock"
    assert sourced(path, "TIERCE_DEMO_IMAGE") == "demo:2"


def test_clouds_yaml_has_the_credentials(path: Path) -> None:
    make(path, port=9600)
    cloud = yaml.safe_load((path / "clouds.yaml").read_text())["clouds"]["tierce"]
    auth = {"endpoint": "http://127.0.0.1:9600/v1", "username": "admin", "password": PASSWORD}
    assert cloud == {"auth_type": "http_basic", "auth": auth}


def test_second_init_changes_nothing(path: Path) -> None:
    make(path, port=9600, docker_url="unix:///run/e.sock", demo_image="demo:2")
    before = {file: (file.read_text(), file.stat().st_ino) for file in path.iterdir()}
    settings = home.settle(path, host="another-name")
    assert set(home.init(settings, lambda: "another password").values()) == {"unchanged"}
    assert {file: (file.read_text(), file.stat().st_ino) for file in path.iterdir()} == before


def test_files_as_they_were_written_follow_a_new_port(path: Path) -> None:
    make(path)
    outcome = make(path, port=9601)
    assert outcome == {
        "tierce.conf": "written",
        "policy.yaml": "unchanged",
        "clouds.yaml": "written",
        "openrc": "written",
    }
    assert sourced(path, "OS_ENDPOINT") == "http://127.0.0.1:9601/v1"


@pytest.mark.parametrize("name", ["tierce.conf", "policy.yaml", "clouds.yaml", "openrc"])
def test_file_changed_by_hand_is_kept(path: Path, name: str) -> None:
    make(path)
    file = path / name
    file.write_text(file.read_text() + "# mine\n")
    changed = file.read_text()
    assert make(path, port=9601, docker_url="unix:///other.sock")[name] == "kept"
    assert file.read_text() == changed


def test_file_that_was_there_before_is_kept(path: Path) -> None:
    path.mkdir()
    (path / "policy.yaml").write_text("# mine\n")
    assert make(path)["policy.yaml"] == "kept"


def test_client_files_agree_with_a_configuration_changed_by_hand(path: Path) -> None:
    make(path)
    file = path / "tierce.conf"
    file.write_text(file.read_text().replace("127.0.0.1", "0.0.0.0").replace("9517", "9700"))
    make(path, port=9601)
    assert sourced(path, "OS_ENDPOINT") == "http://127.0.0.1:9700/v1"


def test_deleted_file_is_written_again(path: Path) -> None:
    make(path)
    (path / "openrc").unlink()
    assert make(path)["openrc"] == "written"
    assert sourced(path, "OS_PASSWORD") == PASSWORD


def test_policy_keeps_readers_from_changing_anything(path: Path) -> None:
    make(path)
    rules = yaml.safe_load((path / "policy.yaml").read_text())
    assert rules["container:create"] == "role:member"
    for name in ("container:stop", "container:attach", "registry:update", "registry:delete"):
        assert rules[name] == "role:member and rule:admin_or_owner"
    reading = {"container:get_all", "container:get_one", "container:logs", "container:top", "container:stats"}
    assert not reading & rules.keys()
    for rule in (each for each in list_rules() if isinstance(each, DocumentedRuleDefault)):
        changes = any(request["method"] != "GET" for request in rule.operations)
        assert not changes or rule.name in rules or rule.check_str not in (OWNER, "rule:admin_or_owner", "")


def test_configuration_that_cannot_be_read_is_reported_and_kept(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(path)
    (path / "tierce.conf").write_text("[api]\nport = many\n")
    parser = argparse.ArgumentParser()
    home.add_parser(parser.add_subparsers())
    assert home.run(parser.parse_args(["home", "init", "--home", str(path)])) == 1
    assert "port" in capsys.readouterr().err
    assert (path / "tierce.conf").read_text() == "[api]\nport = many\n"
