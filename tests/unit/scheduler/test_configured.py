"""Names of filters, as configurations have them."""

import pytest

from tierce import config
from tierce.model.errors import InvalidValue
from tierce.scheduler import configured, filters
from tierce.scheduler.filters import FILTERS, Demand, Filter, Node

ALL = "zun.scheduler.filters.all_filters"
OWN = f"{__name__}.even_weeks_only"


def even_weeks_only(node: Node, _demand: Demand) -> str | None:
    """An operator's filter."""
    return f"{node.host} has its odd week"


def enabled(available: list[str], names: list[str]) -> list[Filter]:
    overrides = [("scheduler", "available_filters", available), ("scheduler", "enabled_filters", names)]
    return configured.filters(config.load(overrides=overrides))


def test_every_filter_may_be_enabled_and_the_order_is_the_configuration_s() -> None:
    names = [*reversed(FILTERS)]
    assert enabled([ALL], names) == [FILTERS[name] for name in names]


def test_those_that_are_enabled_where_nobody_says_otherwise() -> None:
    assert configured.filters(config.load()) == [
        filters.availability_zone,
        filters.compute,
        filters.runtime,
        filters.pci_passthrough,
        filters.cpu_set,
    ]


def test_filters_are_named_one_by_one_and_an_operator_s_own_by_its_function() -> None:
    available = ["zun.scheduler.filters.ram_filter.RamFilter", OWN]
    assert enabled(available, ["even_weeks_only", "RamFilter"]) == [even_weeks_only, filters.ram]


@pytest.mark.parametrize(
    ("available", "name", "told"),
    [
        ([ALL], "WeatherFilter", "names WeatherFilter; available are AvailabilityZoneFilter"),
        (
            ["zun.scheduler.filters.ram_filter.RamFilter"],
            "CPUFilter",
            "names CPUFilter; available are RamFilter",
        ),
        (["zun.scheduler.filters.weather.WeatherFilter"], "x", "there is no zun.scheduler.filters.weather"),
        ([f"{__name__}.absent"], "absent", "there is no .*absent"),
        (["absent"], "absent", "there is no absent"),
    ],
)
def test_what_does_not_exist_is_refused_by_its_name(available: list[str], name: str, told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        enabled(available, [name])
