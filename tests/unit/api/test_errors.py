"""How errors look: status, code, envelope, and what they keep to themselves."""

import logging
from typing import Any

import pytest

from tests.unit.api.edge import Edge
from tierce.api import errors as public
from tierce.model import errors

ENVELOPE = {"request_id", "code", "status", "title", "detail", "links"}


def the_error(answer: Any) -> dict[str, Any]:
    (error,) = answer.json["errors"]
    assert set(error) >= ENVELOPE
    assert error["status"] == answer.status_code
    assert error["request_id"] == answer.headers["x-openstack-request-id"]
    assert all(error[key] for key in ("code", "title", "detail"))
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = error
    return found


@pytest.mark.parametrize(
    ("exception", "status", "code"),
    [
        (errors.ContainerNotFound("web"), 404, "container.container-not-found"),
        (errors.InvalidState("Cannot start"), 409, "container.invalid-state-exception"),
        (errors.PolicyNotAuthorized("container:start"), 403, "container.policy-not-authorized"),
        (errors.OverQuota("Quota exceeded"), 403, "container.over-quota"),
        (errors.ContainerHostNotUp("u", "h"), 409, "container.container-host-not-up"),
        (errors.ContainerAlreadyExists("web"), 409, "container.container-already-exists"),
        (errors.Conflict("Multiple"), 409, "container.conflict"),
        (errors.RuntimeConflict("is not running"), 409, "container.conflict"),
        (errors.RpcTimeout("No reply"), 504, "container.rpc-timeout"),
        (errors.BusUnavailable("No bus"), 503, "container.bus-unavailable"),
        (errors.DatabaseBusy("Deadlock"), 503, "container.database-busy"),
        (errors.RuntimeFailure("no space left"), 500, "container.docker-error"),
        # Without a line of their own: their parent's.
        (errors.StaleObject("Changed"), 409, "container.conflict"),
        (errors.PathNotFound("No such file"), 400, "container.invalid"),
    ],
)
def test_a_domain_error_shows_its_message_status_and_code(
    edge: Edge, exception: errors.TierceError, status: int, code: str
) -> None:
    edge.services.lifecycle.answers["start"] = exception

    answer = edge.request("POST /v1/containers/web/start")

    assert answer.status_code == status
    error = the_error(answer)
    assert (error["code"], error["title"], error["detail"]) == (code, exception.summary, exception.summary)
    assert error["links"] == []


def test_a_title_is_one_line_and_the_detail_has_them_all(edge: Edge) -> None:
    edge.services.lifecycle.answers["start"] = errors.RuntimeFailure("OCI runtime failed:\nno such file")

    error = the_error(edge.request("POST /v1/containers/web/start"))

    assert error["title"] == "OCI runtime failed: no such file"
    assert error["detail"] == "OCI runtime failed:\nno such file"


def test_who_may_not_know_the_nodes_reads_no_name_of_one_and_the_log_has_it(
    edge: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    edge.services.lifecycle.answers["start"] = errors.ContainerHostNotUp("u", "node1")

    with caplog.at_level(logging.INFO):
        answer = edge.request("POST /v1/containers/web/start")

    assert the_error(answer)["detail"] == "The node of container u is not up."
    assert "node1" not in answer.text
    assert "Container u host node1 is not up." in caplog.text


def test_503_says_when_to_come_again(edge: Edge) -> None:
    edge.services.lifecycle.answers["start"] = errors.DatabaseBusy("Deadlock")

    assert edge.request("POST /v1/containers/web/start").headers["retry-after"] == "5"


@pytest.mark.parametrize("name", ["python-zunclient", "python-urllib3/2.8.0"])
def test_503_is_readable_by_the_client_that_fails_on_that_header(edge: Edge, name: str) -> None:
    edge.services.lifecycle.answers["start"] = errors.DatabaseBusy("Deadlock")

    answer = edge.request("POST /v1/containers/web/start", headers={"user-agent": name})

    assert (answer.status_code, the_error(answer)["title"]) == (503, "Deadlock")
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize(
    "exception",
    [
        RuntimeError("secret path /etc/x"),
        KeyError("secret"),
        errors.RemoteFailure("secret of a node"),
        RecursionError("secret"),
    ],
)
def test_anything_else_is_an_opaque_500_whose_id_is_in_the_log(
    edge: Edge, exception: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    edge.services.lifecycle.answers["start"] = exception

    with caplog.at_level(logging.ERROR):
        answer = edge.request("POST /v1/containers/web/start")

    assert answer.status_code == 500
    error = the_error(answer)
    assert error["code"] == "container.internal-server-error"
    assert error["title"] == "Internal Server Error"
    assert "secret" not in answer.text
    correlation = error["detail"].rpartition(" ")[2]
    assert correlation in caplog.text
    assert "secret" in caplog.text


def test_a_failure_while_an_answer_is_rendered_is_an_envelope_too(edge: Edge) -> None:
    edge.services.inspection.answers["stats"] = {"CPU %": object()}

    assert (
        the_error(edge.request("GET /v1/containers/web/stats"))["code"] == "container.internal-server-error"
    )


def test_without_credentials_401_has_the_identity_services_shape(edge: Edge) -> None:
    answer = edge.request("GET /v1/containers", headers={"authorization": ""})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Basic realm="tierce"'
    assert answer.headers["x-openstack-request-id"].startswith("req-")
    assert answer.json == {
        "error": {
            "code": 401,
            "title": "Unauthorized",
            "message": "The request you have made requires authentication.",
        }
    }
    assert edge.control_calls() == []


def test_unknown_paths_are_no_way_around_authentication(edge: Edge) -> None:
    assert edge.request("GET /v1/nosuch", headers={"authorization": ""}).status_code == 401
    assert edge.request("GET /containers", headers={"authorization": ""}).status_code == 401
    assert edge.request("GET /v1/.json", headers={"authorization": ""}).status_code == 401


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "application/json;q=0", "nonsense"])
def test_a_client_that_takes_no_json_gets_406(edge: Edge, accept: str) -> None:
    answer = edge.request("GET /v1/containers", headers={"accept": accept})

    assert answer.status_code == 406
    assert the_error(answer)["code"] == "container.not-acceptable"


@pytest.mark.parametrize("accept", ["", "*/*", "application/json", "text/html, application/json;q=0.1"])
def test_a_client_that_takes_json_gets_it(edge: Edge, accept: str) -> None:
    assert edge.request("POST /v1/containers/web/start", headers={"accept": accept}).status_code == 202


def test_every_error_of_the_model_that_a_caller_may_read_has_a_line() -> None:
    opaque = {"TierceError", "NoValidHost", "RemoteFailure"}
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.TierceError) and kind.__name__ not in opaque
    ]
    assert [
        kind.__name__ for kind in kinds if not any(parent in public.DOMAIN for parent in kind.__mro__)
    ] == []


@pytest.mark.parametrize(
    ("inbound", "kept"),
    [
        ("req-7c1e0f6e-54b7-4f7e-9b8e-7d8d1f5e0c22", True),
        ("req-7c1e0f6e54b74f7e9b8e7d8d1f5e0c22", True),
        ("7c1e0f6e-54b7-4f7e-9b8e-7d8d1f5e0c22", False),
        ("req-7c1e0f6e-54b7-4f7e-9b8e-7d8d1f5e0c22 injected", False),
        ("", False),
    ],
)
def test_a_request_id_from_outside_is_kept_as_the_global_one(edge: Edge, inbound: str, kept: bool) -> None:
    answer = edge.request("POST /v1/containers/web/start", headers={"x-openstack-request-id": inbound})

    context = edge.services.lifecycle.only_call("start")["context"]
    assert context.global_request_id == (inbound if kept else None)
    assert context.request_id == answer.headers["x-openstack-request-id"] != inbound
