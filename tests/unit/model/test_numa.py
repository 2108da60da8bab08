"""CPUs of one's own: where they are found, that nobody gets another's, and how a share grows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.model.errors import InvalidValue
from tierce.model.numa import Cell, Pin, cells_of, free_cpus, grow, parse_cpus, pin_of, place, topology

CELLS = [Cell(0, (0, 4, 1, 5), 1000), Cell(1, (2, 6, 3, 7), 1000)]


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", []),
        ("3", [3]),
        ("0-3,8", [0, 1, 2, 3, 8]),
        (" 1 , 4-5 ", [1, 4, 5]),
        ("2-2", [2]),
    ],
)
def test_a_list_of_cpus(text: str, cpus: list[int]) -> None:
    assert parse_cpus(text) == cpus


@pytest.mark.parametrize("text", ["a", "3-1", "-1", "1-", "1-2-3", "0x1", "99999999", "1;2"])
def test_what_is_no_list_of_cpus(text: str) -> None:
    with pytest.raises(InvalidValue, match="no CPU and no range"):
        parse_cpus(text)


def test_threads_of_one_core_go_together() -> None:
    assert place(CELLS, [], 2, 100) == Pin(0, [0, 4], 100)


def test_the_fullest_cell_that_fits_is_taken() -> None:
    taken = [Pin(1, (2, 6), 500)]
    assert place(CELLS, taken, 2, 500) == Pin(1, [3, 7], 500)
    assert place(CELLS, taken, 2, 501) == Pin(0, [0, 4], 501)
    assert place(CELLS, taken, 3, 100) == Pin(0, [0, 1, 4], 100)


def test_cpus_of_two_cells_are_no_place() -> None:
    assert place(CELLS, [], 5, 1) is None
    assert place(CELLS, [Pin(0, (0,), 0), Pin(1, (2,), 0)], 4, 1) is None
    assert place(CELLS, [], 1, 1001) is None
    assert place([], [], 1, 1) is None


def test_a_share_grows_in_its_own_cell_or_not_at_all() -> None:
    held = Pin(0, [0, 4], 100)
    assert grow(CELLS, [], held, 3, 200) == Pin(0, [0, 1, 4], 200)
    assert grow(CELLS, [Pin(0, [1], 0)], held, 3, 100) == Pin(0, [0, 4, 5], 100)
    assert grow(CELLS, [Pin(0, [1, 5], 0)], held, 3, 100) is None
    assert grow(CELLS, [Pin(0, [1], 850)], held, 2, 151) is None
    assert grow(CELLS, [], held, 5, 100) is None


def test_a_share_is_kept_whose_cell_is_gone() -> None:
    held = Pin(9, [90], 100)
    assert grow(CELLS, [], held, 1, 100) == held
    assert grow(CELLS, [], held, 2, 100) is None


def test_the_forms_of_rows() -> None:
    pins = [Pin(0, [0, 4], 300)]
    assert topology(CELLS, pins)["nodes"][0] == {
        "id": 0,
        "cpuset": [0, 4, 1, 5],
        "pinned_cpus": [0, 4],
        "mem_total": 1000,
        "mem_available": 700,
    }
    assert [cell.id for cell in cells_of(topology(CELLS, pins))] == [0, 1]
    assert cells_of(None) == cells_of({}) == []
    assert pins[0].cpuset == {"cpuset_cpus": [0, 4], "cpuset_mems": [0]}
    assert pin_of(pins[0].cpuset, "300") == pins[0]
    for nothing in (None, {}, {"cpuset_cpus": None, "cpuset_mems": None}):
        assert pin_of(nothing, "300") is None


@st.composite
def machines(draw: st.DrawFn) -> list[Cell]:
    """Up to four cells, whose CPUs are dealt in any order."""
    cpus = draw(st.permutations(range(draw(st.integers(0, 12)))))
    owners = draw(st.lists(st.integers(0, 3), min_size=len(cpus), max_size=len(cpus)))
    return [
        Cell(each, [cpu for cpu, owner in zip(cpus, owners, strict=True) if owner == each], 1000)
        for each in range(4)
    ]


WISHES = st.lists(
    st.tuples(st.sampled_from(["place", "grow", "free"]), st.integers(1, 5), st.integers(1, 600)), max_size=30
)


@given(machines(), WISHES)
def test_no_cpu_is_given_twice_and_no_cell_more_than_it_has(
    cells: list[Cell], wishes: list[tuple[str, int, int]]
) -> None:
    pins: list[Pin] = []
    for wish, cpus, memory in wishes:
        if wish == "place":
            pin = place(cells, pins, cpus, memory)
            if pin is None:
                assert all(
                    len(free_cpus(cell, pins)) < cpus
                    or memory + sum(each.memory for each in pins if each.cell == cell.id) > cell.memory
                    for cell in cells
                )
            else:
                assert len(pin.cpus) == cpus
                pins.append(pin)
        elif pins and wish == "grow":
            held = pins.pop(0)
            grown = grow(cells, pins, held, cpus, max(memory, held.memory))
            assert grown is None or set(held.cpus) <= set(grown.cpus)
            assert grown is None or len(grown.cpus) == max(cpus, len(held.cpus))
            pins.append(grown or held)
        elif pins:
            pins.pop()
        taken = [cpu for pin in pins for cpu in pin.cpus]
        assert len(taken) == len(set(taken))
        for cell in cells:
            assert {cpu for pin in pins if pin.cell == cell.id for cpu in pin.cpus} <= set(cell.cpus)
            assert sum(pin.memory for pin in pins if pin.cell == cell.id) <= cell.memory


@given(machines(), st.integers(1, 5), st.integers(1, 600))
def test_the_same_question_has_the_same_answer(cells: list[Cell], cpus: int, memory: int) -> None:
    assert place(cells, [], cpus, memory) == place([*reversed(cells)], [], cpus, memory)
