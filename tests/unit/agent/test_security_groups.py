"""Security groups on a node whose network plug has them."""

from types import SimpleNamespace
from typing import Any

import pytest

from tierce.agent.operations import OPERATIONS
from tierce.agent.operations.base import Stage, Work
from tierce.db.tables import Container


class Ports:
    """The node half of a plug with security groups."""

    def __init__(self) -> None:
        self.secured: list[tuple[str, list[str], list[str]]] = []

    def secure(self, container_uuid: str, networks: list[str], groups: list[str]) -> None:
        self.secured.append((container_uuid, list(networks), list(groups)))


def stage_of(action: str, group: str, before: list[str]) -> tuple[Stage, Work, Ports]:
    ports = Ports()
    plugs: Any = SimpleNamespace(networks=ports)
    container = Container(uuid="c1", addresses={"net-1": []}, security_groups=before)
    work = Work(plugs, container, {"security_group": group})
    [stage] = OPERATIONS[action].stages(work)
    return stage, work, ports


@pytest.mark.parametrize(
    ("action", "group", "before", "after"),
    [
        ("add_security_group", "c", ["b", "a"], ["b", "a", "c"]),
        ("add_security_group", "a", ["b", "a"], ["b", "a"]),
        ("remove_security_group", "b", ["b", "a", "c"], ["a", "c"]),
        ("remove_security_group", "x", ["b", "a"], ["b", "a"]),
    ],
)
def test_the_ports_get_the_new_groups_and_after_a_failure_the_old_ones(
    action: str, group: str, before: list[str], after: list[str]
) -> None:
    stage, work, ports = stage_of(action, group, before)
    [step] = stage.steps
    step.ensure(work)
    assert ports.secured == [("c1", ["net-1"], after)]
    assert stage.outcome(work) == {"security_groups": after}
    assert step.undo is not None
    step.undo(work)
    assert ports.secured[-1] == ("c1", ["net-1"], before)
