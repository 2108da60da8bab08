"""What the Docker plug makes of the Engine's answers when containers join networks and leave them."""

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.scripted_engine import Answer
from tests.wire.test_docker_errors import Bench, error
from tierce.model.container import NetworkAttachment
from tierce.model.errors import RuntimeFailure

INSPECT = "GET /containers/zun-1/json"
DISCONNECT = "POST /networks/web/disconnect"
DONE = Answer(200, {})


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


def networks(*names: str, failed: str | None = None) -> Answer:
    """A running container in these networks, which the Engine also notes in one that it failed to join."""
    endpoints: dict[str, Any] = {name: {"EndpointID": "e1"} for name in names}
    if failed:
        endpoints[failed] = {"EndpointID": ""}
    return Answer(body={"State": {"Running": True}, "NetworkSettings": {"Networks": endpoints}})


@pytest.mark.parametrize("status", [403, 404, 500])
def test_to_leave_what_it_has_left_is_a_success_whatever_the_engine_answers(
    bench: Bench, status: int
) -> None:
    bench.engine(
        {
            INSPECT: [networks("web", "db"), networks("db")],
            DISCONNECT: error(status, "zun-1 is not connected"),
        }
    )
    bench.docker().containers.leave("zun-1", "web")


def test_to_leave_what_does_not_let_it_go_is_a_failure(bench: Bench) -> None:
    bench.engine({INSPECT: networks("web", "db"), DISCONNECT: error(500, "device busy")})
    with pytest.raises(RuntimeFailure, match="device busy"):
        bench.docker().containers.leave("zun-1", "web")


def test_the_note_of_a_network_that_could_not_be_joined_is_taken_back(bench: Bench) -> None:
    engine = bench.engine(
        {
            INSPECT: [networks("db"), networks("db", failed="web")],
            "POST /networks/web/connect": [error(403, "Address already in use"), DONE],
            DISCONNECT: DONE,
        }
    )
    with pytest.raises(RuntimeFailure, match="already in use"):
        bench.docker().containers.join("zun-1", NetworkAttachment("web", ipv4="10.9.8.5"))
    assert [(each.line, each.body) for each in engine.requests[-2:]] == [
        ("POST /networks/web/connect", {"Container": "zun-1", "EndpointConfig": {}}),
        (DISCONNECT, {"Container": "zun-1", "Force": True}),
    ]


def test_who_could_not_join_is_in_no_network_as_before(bench: Bench) -> None:
    engine = bench.engine(
        {
            INSPECT: [networks("none"), networks(failed="web")],
            "POST /networks/none/disconnect": DONE,
            "POST /networks/web/connect": [error(403, "Address already in use"), DONE],
            DISCONNECT: DONE,
            "POST /networks/none/connect": DONE,
        }
    )
    with pytest.raises(RuntimeFailure, match="already in use"):
        bench.docker().containers.join("zun-1", NetworkAttachment("web", ipv4="10.9.8.5"))
    assert engine.lines[-1] == "POST /networks/none/connect"
