"""What the edge lets through to control, and what it refuses: the tables in accept/ and reject/.

A case is a request and what must come of it; what it does not say it takes from the head of its file.
`base` is merged under the body.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.api.edge import Edge, container_row

HERE = Path(__file__).parent


def cases(table_name: str) -> list[Any]:
    """The cases of one table, or of all in a folder."""
    found = []
    for path in sorted(HERE.glob(f"{table_name}.json")):
        table = json.loads(path.read_text())
        for case in table.pop("cases"):
            merged = table | case
            if "body" in case:
                merged["body"] = table.get("base", {}) | case["body"]
            shown = case.get("raw") or json.dumps(case.get("body", ""))
            version = case.get("version", "")
            label = f"{path.stem} {case.get('request', '')} {version} {shown}"
            found.append(pytest.param(merged, id=label[:120]))
    return found


def as_json(value: Any) -> Any:
    """A value as JSON shows it, tuples being arrays and dataclasses objects."""
    return json.loads(json.dumps(value, default=dataclasses.asdict))


@pytest.mark.parametrize("case", cases("reject/*"))
def test_a_bad_request_is_400_naming_the_field_and_reaches_nothing(edge: Edge, case: dict[str, Any]) -> None:
    raw = case["raw"].encode() if "raw" in case else None

    answer = edge.request(
        case["request"], body=case.get("body"), raw=raw, version=case.get("version", "1.40")
    )

    assert answer.status_code == 400, answer.text
    (error,) = answer.json["errors"]
    assert error["code"] == case.get("code", "container.schema-validation-error")
    assert case["names"] in error["title"]
    assert error["title"] == " ".join(error["detail"].splitlines())
    assert edge.control_calls() == []


@pytest.mark.parametrize("case", cases("accept/create"))
def test_a_create_request_means(edge: Edge, case: dict[str, Any]) -> None:
    answer = edge.request("POST /v1/containers", body=case["body"], version=case.get("version", "1.40"))

    assert answer.status_code == 202, answer.text
    spec = as_json(dataclasses.asdict(edge.services.containers.only_call("create")["spec"]))
    assert {field: spec[field] for field in case["spec"]} == case["spec"]


@pytest.mark.parametrize("case", cases("accept/actions") + cases("accept/operators"))
def test_a_request_reaches_control(edge: Edge, case: dict[str, Any]) -> None:
    area, method = case["calls"].split(".")
    edge.services.containers.answers["get"] = container_row()

    raw = case["raw"].encode() if "raw" in case else None
    edge.request(case["request"], body=case.get("body"), raw=raw, version=case.get("version", "1.40"))

    arguments = as_json(
        {k: v for k, v in getattr(edge.services, area).only_call(method).items() if k != "context"}
    )
    assert {name: arguments.get(name) for name in case["with"]} == case["with"]


@pytest.mark.parametrize(
    ("query", "body", "run"),
    [
        ("", {}, False),
        ("?run=true", {}, True),
        ("?run=YES", {}, True),
        ("?run=0", {}, False),
        ("", {"run": True}, True),
        ("", {"run": "on"}, True),
        ("?run=false", {"run": True}, False),
    ],
)
def test_run_may_be_in_the_query_or_in_the_body_and_the_query_wins(
    edge: Edge, query: str, body: dict[str, Any], run: bool
) -> None:
    edge.request(f"POST /v1/containers{query}", body={"image": "nginx"} | body)

    assert edge.services.containers.only_call("create")["run"] is run


def test_bounds_of_resources_are_those_of_the_configuration_at_the_time_of_the_request(edge: Edge) -> None:
    def ask() -> int:
        body = {"image": "nginx", "memory": 16000, "cpu": 32, "disk": 500}
        return edge.request("POST /v1/containers", body=body).status_code

    assert ask() == 400
    edge.conf.set_override("maximum_memory", 16000)
    edge.conf.set_override("maximum_cpus", 32)
    edge.conf.set_override("maximum_disk", 500)
    assert ask() == 202


def test_values_of_the_environment_and_of_injected_files_are_not_repeated_in_errors(edge: Edge) -> None:
    bodies = [
        {"image": "nginx", "environment": {"PASSWORD": "hunter2", "N": 1}},
        {"image": "nginx", "mounts": [{"destination": "/x", "source": {"hunter2": 1}}]},
        {"image": "nginx", "mounts": [{"type": "bind", "source": "hunter2="}]},
        {"image": "nginx", "mounts": [{"type": "bind", "source": "hunter2=", "destination": "/x"}] * 2},
        {"image": "nginx", "mounts": {"/x": {"type": "bind", "source": "hunter2="}}},
    ]
    for body in bodies:
        answer = edge.request("POST /v1/containers", body=body)
        assert answer.status_code == 400
        assert "hunter2" not in answer.text


def test_an_error_shows_only_the_beginning_of_a_long_value(edge: Edge) -> None:
    answer = edge.request("POST /v1/containers", body={"image": "nginx", "name": "/" * 1_000_000})

    assert answer.status_code == 400
    assert len(answer.text) < 1000


@pytest.mark.parametrize("field", ["environment", "labels"])
def test_what_no_column_holds_is_refused(edge: Edge, field: str) -> None:
    answer = edge.request("POST /v1/containers", body={"image": "nginx", field: {"A": "x" * 70_000}})

    assert answer.status_code == 400
    assert field in answer.json["errors"][0]["title"]


def test_a_command_line_that_would_take_long_to_split_is_refused_before(edge: Edge) -> None:
    answer = edge.request("POST /v1/containers/web/execute", body={"command": "x " * 40_000})

    assert answer.status_code == 400
    assert "characters" in answer.json["errors"][0]["title"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"stdout": True, "stderr": True, "timestamps": False, "tail": None, "since": None}),
        ("?stdout=True&stderr=False", {"stdout": True, "stderr": False}),
        ("?stdout=0&stderr=off", {"stdout": True, "stderr": True}),
        ("?timestamps=1", {"timestamps": True}),
        ("?tail=all", {"tail": None}),
        ("?tail=0", {"tail": 0}),
        ("?tail=25", {"tail": 25}),
        ("?tail=-1", {"tail": None}),
        ("?tail=x", {"tail": None}),
        ("?tail=99999999999999999999", {"tail": None}),
        ("?since=0", {"since": 0.0}),
        ("?since=1514764800", {"since": 1514764800.0}),
        ("?since=2018-01-01%2000:00:00,123", {"since": 1514764800.123}),
        ("?since=2018-01-01T00:00:00Z", {"since": 1514764800.0}),
        ("?since=2018-01-01T02:00:00%2B02:00", {"since": 1514764800.0}),
        ("?since=2018-01-01", {"since": 1514764800.0}),
    ],
)
def test_parameters_of_logs_mean(edge: Edge, query: str, expected: dict[str, Any]) -> None:
    answer = edge.request(f"GET /v1/containers/web/logs{query}")

    assert answer.status_code == 200
    request = dataclasses.asdict(edge.services.inspection.only_call("logs")["request"])
    assert {name: request[name] for name in expected} == expected
