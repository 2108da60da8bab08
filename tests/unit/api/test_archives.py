"""Archives at the edge: how much, what their text may hold, and what is said of it."""

import json
from typing import Any

import falcon.testing
import pytest

from tests.unit.api.edge import Edge

PUT = "POST /v1/containers/web/put_archive?path=/tmp"


class Unread:
    """A body that must not be read."""

    def read(self, size: int = -1) -> bytes:
        raise AssertionError("the body was read")


@pytest.mark.parametrize("length", [300 * 1024 * 1024, 50 * 1024 * 1024])
def test_what_declares_to_be_too_large_is_refused_unread(edge: Edge, length: int) -> None:
    environ = falcon.testing.create_environ(
        method="POST", path="/v1/containers/web/put_archive", headers={"authorization": "alice"}
    )
    environ |= {"CONTENT_LENGTH": str(length), "wsgi.input": Unread()}
    started = falcon.testing.StartResponseMock()
    content = b"".join(edge.client.app(environ, started))
    assert started.status.startswith("413 ")
    assert "bytes" in json.loads(content)["errors"][0]["detail"]
    assert edge.control_calls() == []


def test_the_limit_of_an_archive_is_its_own(edge: Edge) -> None:
    edge.conf.set_override("max_archive_size", 30_000)
    body = {"data": "A" * 200_000}
    answer = edge.request(PUT, body=body)
    assert (answer.status_code, answer.json["errors"][0]["code"]) == (413, "container.archive-too-large")
    assert "30000" in answer.json["errors"][0]["title"]
    assert edge.control_calls() == []


@pytest.mark.parametrize(
    ("version", "encoded"), [("1.1", False), ("1.24", False), ("1.25", True), ("1.40", True)]
)
def test_archives_are_base64_from_1_25_on(edge: Edge, version: str, encoded: bool) -> None:
    edge.request(PUT, body={"data": "AAAA"}, version=version)
    edge.request("GET /v1/containers/web/get_archive?path=/tmp", version=version)
    calls = [(name, arguments["encoded"]) for name, arguments in edge.services.archives.calls]
    assert calls == [("put", encoded), ("get", encoded)]


def test_text_of_an_archive_may_hold_nul_and_nothing_else_may(edge: Edge) -> None:
    assert edge.request(PUT, body={"data": "a\0b"}).status_code == 200
    assert edge.services.archives.only_call("put")["data"] == "a\0b"
    bodies: list[dict[str, Any]] = [{"data": "", "more": "a\0b"}, {"data": {"x": "a\0b"}}]
    for body in bodies:
        answer = edge.request(PUT, body=body)
        assert (answer.status_code, "NUL" in answer.text) == (400, True)


def test_data_is_not_repeated_in_errors(edge: Edge) -> None:
    answer = edge.request(PUT, body={"data": {"hunter2": 1}})
    assert answer.status_code == 400
    assert "hunter2" not in answer.text
