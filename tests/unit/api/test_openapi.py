"""The document of the API says what is there: every route, at every microversion, and nothing else."""

import functools
import json
import pathlib
from typing import Any

import falcon.inspect
import pytest
import schemathesis.openapi

from tests.unit.api.edge import Edge
from tierce.api.http import versions_of
from tierce.api.openapi.document import OPERATIONS, rendered
from tierce.api.openapi.operations import Operation
from tierce.api.versions import HISTORY, MAXIMUM, MINIMUM, Version
from tierce.cli.main import main

VERSIONS = [Version.of(text) for text, _ in HISTORY]
FILE = pathlib.Path(__file__).parents[3] / "docs/user/openapi.json"
LIMITED = [each for each in OPERATIONS if versions_of(each.responder) != (MINIMUM, MAXIMUM)]


@functools.cache
def document(version: Version) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(rendered(version))
    return found


def properties(version: str, line: str) -> dict[str, Any]:
    """The fields of the body of `METHOD /path` at a version."""
    method, _, path = line.partition(" ")
    operation = document(Version.of(version))["paths"][path][method.lower()]
    found: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
    return found


def test_it_has_every_route_and_no_other(edge: Edge) -> None:
    routes = {
        (method.method, route.path, f"{route.class_name.rpartition('.')[2]}.{method.function_name}")
        for route in falcon.inspect.inspect_routes(edge.client.app)
        for method in route.methods
        if not method.internal and method.method != "HEAD"
    }
    assert {(each.method, each.path, each.responder.__qualname__) for each in OPERATIONS} == routes


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_it_is_valid_at_every_microversion(version: Version) -> None:
    described = document(version)

    schemathesis.openapi.from_dict(described).validate()
    names = [
        entry["operationId"]
        for entries in described["paths"].values()
        for method, entry in entries.items()
        if method != "parameters"
    ]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("operation", LIMITED, ids=lambda each: f"{each.method} {each.path}")
def test_a_route_is_in_the_documents_of_the_versions_that_it_has_and_406_at_the_others(
    edge: Edge, operation: Operation
) -> None:
    line = f"{operation.method} {operation.path.replace('{', '').replace('}', '')}"
    for version in VERSIONS:
        there = operation.method.lower() in document(version)["paths"].get(operation.path, {})
        refused = edge.request(line, version=str(version)).status_code == 406
        assert there != refused, version


def test_there_are_routes_that_not_every_version_has() -> None:
    assert {each.path.rpartition("/")[2] for each in LIMITED} >= {"rename", "hosts", "network_list"}


@pytest.mark.parametrize(
    ("field", "first"),
    [
        ("auto_remove", "1.3"),
        ("runtime", "1.5"),
        ("hostname", "1.9"),
        ("mounts", "1.11"),
        ("privileged", "1.21"),
        ("healthcheck", "1.22"),
        ("exposed_ports", "1.24"),
        ("registry", "1.31"),
        ("host", "1.39"),
        ("entrypoint", "1.40"),
    ],
)
def test_a_field_is_there_from_its_microversion_on(field: str, first: str) -> None:
    before = str(VERSIONS[VERSIONS.index(Version.of(first)) - 1])
    assert field in properties(first, "POST /v1/containers")
    assert field not in properties(before, "POST /v1/containers")


def test_a_command_was_a_string_and_is_an_array() -> None:
    assert properties("1.19", "POST /v1/containers")["command"] == {"type": ["string", "null"]}
    kinds = [each["type"] for each in properties("1.20", "POST /v1/containers")["command"]["anyOf"]]
    assert kinds == ["array", "null"]


def test_the_manual_has_that_of_the_newest_microversion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["openapi"]) == 0
    assert capsys.readouterr().out == FILE.read_text(), (
        "Write it again: tierce openapi > docs/user/openapi.json"
    )


def test_the_command_prints_that_of_any_microversion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["openapi", "--microversion", "1.12"]) == 0
    assert json.loads(capsys.readouterr().out)["info"]["version"] == "1.12"
    for wrong in ("1.41", "latest"):
        with pytest.raises(SystemExit):
            main(["openapi", "--microversion", wrong])


def test_everybody_may_read_that_of_the_microversion_that_they_ask_for(edge: Edge) -> None:
    for line in ("GET /v1/openapi", "GET /v1/openapi.json", "GET /openapi.json"):
        answer = edge.request(line, version="1.12", headers={"authorization": ""})
        assert answer.status_code == 200
        assert answer.headers["openstack-api-version"] == "container 1.12"
        assert answer.json["info"]["version"] == "1.12"
        assert answer.json["security"]
