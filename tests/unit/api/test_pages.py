"""Long lists are rendered once a second while nothing in them changes."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.cloud import ShiftedClock
from tierce.api.pages import Pages


class Renderer:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> bytes:
        self.times += 1
        return str(self.times).encode()


@pytest.fixture
def clock() -> ShiftedClock:
    return ShiftedClock()


def test_an_unchanged_list_is_not_rendered_again(clock: ShiftedClock) -> None:
    pages, render = Pages(clock), Renderer()
    assert pages.body("p1", 7, render) == pages.body("p1", 7, render) == b"1"


def test_a_changed_list_is_rendered_at_once(clock: ShiftedClock) -> None:
    pages, render = Pages(clock), Renderer()
    pages.body("p1", 7, render)
    assert pages.body("p1", 8, render) == b"2"


def test_no_list_is_older_than_a_second(clock: ShiftedClock) -> None:
    pages, render = Pages(clock), Renderer()
    pages.body("p1", 7, render)
    clock.advance(1)
    assert pages.body("p1", 7, render) == b"2"


def test_lists_are_told_apart_by_their_keys(clock: ShiftedClock) -> None:
    pages, render = Pages(clock), Renderer()
    assert pages.body("p1", 7, render) != pages.body("p2", 7, render)


def test_a_list_that_cannot_be_rendered_is_not_kept(clock: ShiftedClock) -> None:
    pages, render = Pages(clock), Renderer()

    def fail() -> bytes:
        raise LookupError

    with pytest.raises(LookupError):
        pages.body("p1", 7, fail)
    assert pages.body("p1", 7, render) == b"1"


def test_who_asks_while_a_list_is_rendered_waits_for_it(clock: ShiftedClock) -> None:
    pages, rendering, go_on = Pages(clock), threading.Event(), threading.Event()

    def slow() -> bytes:
        rendering.set()
        assert go_on.wait(10)
        return b"slow"

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(pages.body, "p1", 7, slow)
        assert rendering.wait(10)
        second = pool.submit(pages.body, "p1", 7, Renderer())
        go_on.set()
        assert first.result(10) == second.result(10) == b"slow"
