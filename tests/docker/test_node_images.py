"""Images on a real node: pulled ahead, removed when nobody has them, searched for."""

from typing import Any

import pytest

from tests.support.engines import BUSYBOX
from tests.support.service import Http
from tests.support.team import Team
from tests.support.waiting import until


@pytest.fixture
def olga(team: Team) -> Http:
    """An administrator."""
    return team.client("olga")


def test_an_image_is_pulled_used_and_removed(olga: Http, ann: Http, image_in_registry: str) -> None:
    record = olga.call("POST", "/images", json={"repo": image_in_registry, "host": "node1"})
    path = f"/images/{record['uuid']}"
    pulled: dict[str, Any] = until(lambda: (found := olga.call("GET", path))["image_id"] and found)
    assert pulled["image_id"].startswith("sha256:")
    assert int(pulled["size"]) > 0

    user = ann.create(run=False, image=image_in_registry, command=["true"])
    ann.wait(user, "Created")
    refused = olga.raw("DELETE", path)
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "container.conflict")
    ann.call("DELETE", f"/containers/{user}")
    ann.wait(user, None)

    removed = olga.raw("DELETE", path)
    assert (removed.status_code, removed.text) == (200, "null")
    assert olga.raw("GET", path).status_code == 404


def test_the_other_names_of_a_removed_image_stay(ann: Http) -> None:
    ann.wait(ann.create(run=False, image=BUSYBOX, command=["true"]), "Created")


def test_a_search_is_answered_or_told_why_not(ann: Http) -> None:
    """Whether the Engine reaches the public registry depends on where this runs."""
    answer = ann.raw("GET", "/images/library/busybox/search?exact_match=true")
    if answer.status_code == 200:
        assert [each["name"] for each in answer.json()] == ["busybox"]
    else:
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["code"]) == (503, "container.image-search-failed")
        assert "could not search the registry" in error["detail"]
