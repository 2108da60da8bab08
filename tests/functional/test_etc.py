"""What `etc/` offers to operators agrees with the program."""

import configparser
import pathlib
import shlex

import pytest
from oslo_config import cfg, generator

from tierce import config
from tierce.cli import agent, api, standalone

ETC = pathlib.Path(__file__).parents[2] / "etc"
UNITS = sorted((ETC / "systemd").glob("*.service"))


def test_the_sample_of_the_configuration_is_up_to_date(tmp_path: pathlib.Path) -> None:
    """Otherwise: oslo-config-generator --config-file etc/config-generator.conf"""
    made = tmp_path / "sample"
    arguments = ["--config-file", str(ETC / "config-generator.conf"), "--output-file", str(made)]
    generator.main(arguments)
    assert (ETC / "tierce.conf.sample").read_text() == made.read_text()


def test_the_sample_is_a_configuration_of_defaults() -> None:
    sample, defaults = config.load([str(ETC / "tierce.conf.sample")]), config.load()
    for group, options in config.list_opts():
        for option in options:
            read, default = (
                (conf if group == "DEFAULT" else conf[group])[option.dest] for conf in (sample, defaults)
            )
            assert read == default, (group, option.name)


def test_there_is_a_unit_for_each_program() -> None:
    names = {module.__name__.rpartition(".")[2] for module in (agent, api, standalone)}
    assert {unit.stem for unit in UNITS} == {f"tierce-{name}" for name in names}


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_its_program_and_gives_it_time_to_stop(path: pathlib.Path) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # as the standard library shows it
    unit.read(path)
    service = unit["Service"]
    *_, option, file, command = shlex.split(service["ExecStart"])
    assert (option, file) == ("--config-file", "/etc/tierce/tierce.conf")
    assert f"tierce-{command}" == path.stem
    assert file in config.SEARCHED
    conf: cfg.ConfigOpts = config.load()
    needed = {"api": 20, "agent": conf.agent.graceful_stop + 15}
    needed["standalone"] = 10 + needed["agent"]
    assert int(service["TimeoutStopSec"]) > needed[command]
