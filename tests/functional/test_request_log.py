"""The API's log has a line for each request that was to change something."""

import logging

import pytest
import webob

from tests.support.cloud import Cloud

NAME = "tierce.api.middleware.request_id"


def logged(caplog: pytest.LogCaptureFixture, cloud: Cloud, line: str) -> list[str]:
    """What the API says at its usual level of a request without credentials."""
    method, _, path = line.partition(" ")
    with caplog.at_level(logging.INFO, NAME):
        webob.Request.blank(path, method=method).get_response(cloud.served)
    return [record.getMessage() for record in caplog.records if record.name == NAME]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_request_that_was_to_change_something_is_logged_with_its_outcome(
    caplog: pytest.LogCaptureFixture, cloud: Cloud, method: str
) -> None:
    assert logged(caplog, cloud, f"{method} /v1/containers/c1") == [f"{method} /v1/containers/c1: 401"]


@pytest.mark.parametrize("line", ["GET /v1/containers", "HEAD /v1/containers", "GET /healthcheck"])
def test_a_request_that_only_reads_is_not(caplog: pytest.LogCaptureFixture, cloud: Cloud, line: str) -> None:
    assert logged(caplog, cloud, line) == []


def test_a_path_cannot_write_lines_of_its_own_and_no_endless_ones(
    caplog: pytest.LogCaptureFixture, cloud: Cloud
) -> None:
    (line,) = logged(caplog, cloud, f"POST /v1/containers/%0AFAKE{'x' * 10000}")
    assert line.startswith("POST /v1/containers/%0AFAKExxx")
    assert "\n" not in line
    assert len(line) < 700
