"""Places for requests that wait for nodes: how many there are, and for whom."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from tierce.control import places as places_module
from tierce.control.places import Places
from tierce.model.context import RequestContext
from tierce.model.errors import ServiceBusy

RED, BLUE, GREEN = (RequestContext(user_id="u", project_id=project) for project in ("red", "blue", "green"))


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places_module, "_WAIT_FOR_A_PLACE", 0.01)


def taken(stack: contextlib.ExitStack, places: Places, context: RequestContext) -> int:
    """How many places the project gets, which it keeps as long as `stack` does."""
    count = 0
    with contextlib.suppress(ServiceBusy):
        while True:
            stack.enter_context(places.one(context))
            count += 1
    return count


@pytest.mark.usefixtures("_hurried")
@pytest.mark.parametrize(("count", "share"), [(1, 1), (2, 2), (4, 3), (12, 9)])
def test_one_project_leaves_a_quarter_of_the_places_to_others(count: int, share: int) -> None:
    places = Places(count)
    with contextlib.ExitStack() as stack:
        assert taken(stack, places, RED) == share
        assert taken(stack, places, BLUE) == count - share
        assert taken(stack, places, GREEN) == 0
    with contextlib.ExitStack() as stack:
        assert taken(stack, places, GREEN) == share


@pytest.mark.usefixtures("_hurried")
def test_a_request_that_fails_gives_its_place_back() -> None:
    places = Places(1)
    with pytest.raises(ZeroDivisionError), places.one(RED):
        _ = 1 / 0
    with places.one(BLUE):
        pass


def test_who_waits_gets_the_place_that_is_given_back() -> None:
    places = Places(1)

    def wait() -> str | None:
        with places.one(BLUE):
            return BLUE.project_id

    with ThreadPoolExecutor(1) as pool:
        with places.one(RED):
            waiting = pool.submit(wait)
        assert waiting.result(timeout=5) == "blue"
