"""Every error that the API declares: its code is one for all time, and its envelope is complete."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.api.edge import Edge
from tierce.api.errors import DOMAIN, FRAMEWORK, INTERNAL, VERSION_UNSUPPORTED
from tierce.model.errors import NoValidHost, RemoteFailure, TierceError

CODES = Path(__file__).parent / "codes.txt"
OPAQUE = {TierceError, NoValidHost, RemoteFailure}
"""What a caller learns nothing of. NoValidHost is the reason of a status instead."""


def errors_of_the_model(kind: type[TierceError] = TierceError) -> Iterator[type[TierceError]]:
    if kind.__module__ == "tierce.model.errors":
        yield kind
        for child in kind.__subclasses__():
            yield from errors_of_the_model(child)


def made(kind: type[TierceError]) -> TierceError:
    """One of the kind, whatever its constructor takes."""
    error = kind.__new__(kind)
    TierceError.__init__(error, f"What stood in the way of {kind.__name__}.")
    return error


def test_codes_never_change() -> None:
    declared = {f"{status} {code}" for status, code in DOMAIN.values()}
    declared |= {f"{status} {code}" for status, code in FRAMEWORK.items()}
    declared |= {f"500 {INTERNAL}", f"406 {VERSION_UNSUPPORTED}"}
    lines = {line for line in CODES.read_text().splitlines() if not line.startswith("#")}
    assert declared == lines


@pytest.mark.parametrize("kind", sorted(set(errors_of_the_model()), key=str))
def test_every_error_of_the_model_has_a_code_or_is_opaque_on_purpose(kind: type[TierceError]) -> None:
    assert any(each in DOMAIN for each in kind.__mro__) != (kind in OPAQUE)


@pytest.mark.parametrize("kind", DOMAIN, ids=lambda kind: kind.__name__)
def test_an_error_goes_out_complete(edge: Edge, kind: type[TierceError]) -> None:
    edge.services.lifecycle.answers["start"] = error = made(kind)

    answer = edge.request("POST /v1/containers/web/start")

    status, code = DOMAIN[kind]
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {
        "errors": [
            {
                "request_id": answer.headers["x-openstack-request-id"],
                "code": code,
                "status": status,
                "title": error.message,
                "detail": error.message,
                "links": [],
            }
        ]
    }


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /v1/nosuch", 404),
        ("GET /v1/containers/web/nosuch", 404),
        ("PUT /v1/containers", 405),
        ("POST /v1/containers", 415),
        ("GET /v1/hosts", 406),
    ],
)
def test_an_error_of_http_itself_goes_out_complete(edge: Edge, line: str, status: int) -> None:
    answer = edge.request(line, version="1.1", headers={"content-type": "text/plain"})

    (error,) = answer.json["errors"]
    assert (answer.status_code, error["status"], error["code"]) == (status, status, FRAMEWORK[status])
    assert error["request_id"] == answer.headers["x-openstack-request-id"]
    assert error["title"]
    assert error["detail"]
