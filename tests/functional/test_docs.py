"""What the manual says agrees with the program, where that can be compared."""

import re
from pathlib import Path

import pytest

from tierce import config
from tierce.model.lifecycle import ALLOWED, Status

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_named_with_their_group_exist(page: Path) -> None:
    known = {(group, option.name) for group, options in config.list_opts() for option in options}
    named = set(re.findall(r"`\[(\w+)\] (\w+)", page.read_text()))
    assert named - known == set()


def test_table_of_states_is_the_one_in_force() -> None:
    lines = (ROOT / "docs/contributor/lifecycle.md").read_text().splitlines()
    header = next(line for line in lines if line.startswith("| action |"))
    states = [cell.strip() for cell in header.split("|")[2:-1]]
    assert set(states) == set(Status)
    rows = [line.split("|")[1:-1] for line in lines if line.count("|") == header.count("|")]
    table = {
        row[0].strip(): {state for state, cell in zip(states, row[1:], strict=True) if cell.strip() == "x"}
        for row in rows
        if row[0].strip() in ALLOWED
    }
    assert table == ALLOWED
