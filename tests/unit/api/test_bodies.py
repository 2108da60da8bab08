"""Bodies: how much, of which type, and how they are read."""

import tracemalloc
from io import BytesIO
from typing import Any

import falcon.testing
import pytest

from tests.unit.api.edge import Edge


def test_a_body_over_the_limit_is_413_before_it_is_read(edge: Edge) -> None:
    edge.conf.set_override("max_request_body_size", 2000, group="api")

    answer = edge.request("POST /v1/containers", raw=b"x" * 2001)

    assert answer.status_code == 413
    assert answer.json["errors"][0]["code"] == "container.request-too-large"
    assert edge.control_calls() == []


def test_a_body_at_the_limit_is_read(edge: Edge) -> None:
    edge.conf.set_override("max_request_body_size", 2000, group="api")
    body = b'{"image": "nginx"}'.ljust(2000)

    assert edge.request("POST /v1/containers", raw=body).status_code == 202


def chunked(edge: Edge, body: bytes) -> tuple[str, bytes]:
    """Send a body whose length nobody declares, as a server hands it over."""
    environ = falcon.testing.create_environ(
        method="POST",
        path="/v1/containers",
        headers={"authorization": "alice", "content-type": "application/json"},
    )
    environ.pop("CONTENT_LENGTH", None)
    environ["wsgi.input"] = BytesIO(body)
    environ["wsgi.input_terminated"] = True
    started = falcon.testing.StartResponseMock()
    content = b"".join(edge.client.app(environ, started))
    return started.status, content


def test_a_chunked_body_is_read(edge: Edge) -> None:
    assert chunked(edge, b'{"image": "nginx"}')[0] == "202 Accepted"


def test_a_chunked_body_over_the_limit_is_413(edge: Edge) -> None:
    edge.conf.set_override("max_request_body_size", 2000, group="api")

    status, content = chunked(edge, b'{"image": "nginx"}'.ljust(2001))

    assert status.startswith("413 ")
    assert b"container.request-too-large" in content


@pytest.mark.parametrize("path", ["/v1/containers", "/v1/images"])
@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/x-www-form-urlencoded", "application/xml"]
)
def test_create_wants_its_body_labelled_json(edge: Edge, path: str, content_type: str) -> None:
    answer = edge.request(f"POST {path}", raw=b"{}", headers={"content-type": content_type})

    assert answer.status_code == 415
    (error,) = answer.json["errors"]
    assert error["code"] == "container.unsupported-media-type"
    assert f"'{content_type}'" in error["detail"]


@pytest.mark.parametrize("content_type", ["application/json; charset=UTF-8", "Application/JSON"])
def test_create_takes_json_with_parameters(edge: Edge, content_type: str) -> None:
    answer = edge.request(
        "POST /v1/containers", raw=b'{"image": "nginx"}', headers={"content-type": content_type}
    )

    assert answer.status_code == 202


@pytest.mark.parametrize(
    ("content_type", "raw", "timeout"),
    [
        ("application/json", b"", None),
        ("application/octet-stream", b"", None),
        ("application/octet-stream", b'{"timeout": 3}', 3),
        ("", b'{"timeout": 3}', 3),
        ("application/x-www-form-urlencoded", b"timeout=3", 3),
    ],
)
def test_other_requests_take_parameters_under_any_label(
    edge: Edge, content_type: str, raw: bytes, timeout: Any
) -> None:
    answer = edge.request("POST /v1/containers/web/stop", raw=raw, headers={"content-type": content_type})

    assert answer.status_code == 202
    assert edge.services.lifecycle.only_call("stop")["timeout"] == timeout


@pytest.mark.parametrize("raw", [b"timeout=%ff", b"timeout=\xff", b"timeout=1&timeout=2", b"a=1&" * 2000])
def test_a_bad_form_is_400(edge: Edge, raw: bytes) -> None:
    answer = edge.request(
        "POST /v1/containers/web/stop",
        raw=raw,
        headers={"content-type": "application/x-www-form-urlencoded"},
    )

    assert answer.status_code == 400


def test_the_body_of_a_get_is_ignored(edge: Edge) -> None:
    assert edge.request("GET /v1/containers/web/stats", raw=b"null").status_code == 200
    assert edge.request("GET /v1/containers/web/logs", raw=b'{"tail": 5}').status_code == 200


def hints_of(elements: int) -> bytes:
    """A body with that many keys and values below `hints`."""
    return b'{"image": "nginx", "hints": {"a": [' + b",".join([b"0"] * elements) + b"]}}"


def test_a_body_with_too_many_elements_is_400(edge: Edge) -> None:
    answer = edge.request("POST /v1/containers", raw=hints_of(100_000))

    assert answer.status_code == 400
    assert answer.json["errors"][0]["code"] == "container.malformed-request-body"
    assert edge.control_calls() == []


def test_many_elements_are_counted_without_a_copy_of_each(edge: Edge) -> None:
    body = hints_of(1_000_000)
    tracemalloc.start()
    try:
        assert edge.request("POST /v1/containers", raw=body).status_code == 400
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25 * len(body)
