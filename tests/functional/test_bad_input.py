"""Every field of every request with every kind of bad value: 400 that names it, and nothing is done.

The fields are those of the models, and what is bad is what the document of the API does not allow: a new
field is tried here as soon as it exists.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import jsonschema_rs
import pytest
from sqlalchemy import func, select

from tests.support.client import IMAGE
from tests.support.cloud import Cloud
from tierce.api.http import versions_of
from tierce.api.openapi.document import OPERATIONS
from tierce.api.openapi.inputs import Input, described
from tierce.api.openapi.operations import Operation
from tierce.api.requests.schema import Params
from tierce.api.versions import MAXIMUM
from tierce.db.tables import Base

VALUES: Mapping[str, Any] = {
    "null": None,
    "boolean": True,
    "fraction": 1.5,
    "negative": -1,
    "huge": 2**63 - 1,
    "empty string": "",
    "word": "~",
    "non-ASCII": "\N{SNOWMAN}\u00e9",
    "NUL": "a\0b",
    "too long": "x" * 70_000,
    "array": [["x"]],
    "object": {"x": {"y": "z"}},
}

NEEDED: Mapping[str, Any] = {
    "image": IMAGE,
    "name": "web",
    "command": "true",
    "path": "/etc",
    "data": "",
    "repository": "copy",
    "repo": "nginx",
    "host": "node1",
    "binary": "zun-compute",
    "forced_down": True,
    "neutron_net_id": "kept",
    "domain": "registry.example.com",
    "h": 24,
    "w": 80,
    "exec_id": "0" * 64,
    "destination": "/data",
    "cmd": "true",
    "Name": "no",
}
"""A good value for every field that a request must have."""

BESIDE: Mapping[str, Mapping[str, Any]] = {"Mount": {"source": "data"}, "Net": {"network": "default"}}
"""What makes an item of these whole, beside the fields that it must have."""

IGNORING = {"RebuildContainer", "GetArchive", "PutArchive"}
"""These never looked at parameters that they do not know."""

OPAQUE = {"PutArchive.data"}
"""A file may have NUL characters."""

LENIENT = {("mounts[0].size", "empty string")}
"""Clients send the one of source and size that they do not use as an empty string."""

WITH_INPUTS = [each for each in OPERATIONS if each.inputs]


def required(model: type[Params]) -> dict[str, Any]:
    return {name: NEEDED[name] for name in described(model, MAXIMUM)[0].get("required", ())}


def bad_values(model: type[Params], *, nulls: bool) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Of each field: its path, the whole body with a bad value there, the kind of the value.

    `nulls`: whether null is a value, instead of leaving the field out.
    """
    shape, definitions = described(model, MAXIMUM)
    whole = required(model)
    for name, field in shape["properties"].items():
        allows = jsonschema_rs.validator_for(
            {**field, "components": {"schemas": definitions}}, validate_formats=True
        ).is_valid
        for kind, value in VALUES.items():
            if value is None and not nulls and name not in whole:
                continue
            opaque = f"{model.__name__}.{name}" in OPAQUE
            if not allows(value) or (kind == "NUL" and not opaque):
                yield name, {**whole, name: value}, kind
        for nested, is_item in nested_models(field):
            for path, body, kind in bad_items(nested, definitions):
                value = [body] if is_item else body
                yield f"{name}{'[0]' if is_item else ''}{path}", {**whole, name: value}, kind
    if model.__name__ not in IGNORING:
        yield "no_such_field", {**whole, "no_such_field": 1}, "unknown"


def nested_models(field: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The definitions that the field's values are of, and whether they are items of an array."""
    for each in (field, *field.get("anyOf", ())):
        if "$ref" in each:
            yield each["$ref"].rpartition("/")[2], False
        if "$ref" in each.get("items", ()):
            yield each["items"]["$ref"].rpartition("/")[2], True


def bad_items(name: str, definitions: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    shape = definitions[name]
    whole = {key: NEEDED[key] for key in shape.get("required", ())} | dict(BESIDE.get(name, {}))
    for key, field in shape["properties"].items():
        allows = jsonschema_rs.validator_for(field, validate_formats=True).is_valid
        for kind, value in VALUES.items():
            if not allows(value) or kind == "NUL":
                yield f".{key}", {**whole, key: value}, kind
    yield ".no_such_field", {**whole, "no_such_field": 1}, "unknown"


def in_query_strings(given: Input) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The same for the query string, which has words alone."""
    whole = {name: words(value) for name, value in required(given.model).items()}
    for parameter in given.parameters(MAXIMUM):
        name, shape = parameter["name"], parameter["schema"]
        allows = jsonschema_rs.validator_for(shape).is_valid
        for kind, value in VALUES.items():
            if not isinstance(value, str) or (allows(value) and kind != "NUL"):
                continue
            yield name, {**whole, name: value}, kind
    if given.model.__name__ not in IGNORING:
        yield "no_such_field", {**whole, "no_such_field": "1"}, "unknown"


def words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def requests(operation: Operation, path: str) -> Iterator[tuple[str, str, Any, str]]:
    """Of each bad value: the request, what its error must name, the body, the kind of the value."""
    line = f"{operation.method} {path}"
    for given in operation.inputs:
        if given.in_body:
            for name, fields, kind in bad_values(given.model, nulls=given.wrapped is not None):
                if (name, kind) in LENIENT:
                    continue
                body = {given.wrapped: fields} if given.wrapped else fields
                # NUL characters are looked for before any field is: the outermost is named.
                outermost = given.wrapped or name.partition(".")[0].partition("[")[0]
                yield line, outermost if kind == "NUL" else name, body, kind
        if given.in_query:
            for name, query, kind in in_query_strings(given):
                content = {"image": IMAGE} if operation.name == "Containers_post" else None
                yield f"{line}?{urlencode(query, quote_via=quote)}", name, content, kind


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    cloud = Cloud(tmp_path_factory.mktemp("bad-input"))
    cloud.client.running(name="web")
    cloud.wait_idle()
    yield cloud
    cloud.wait_sound()
    cloud.close()


def everything(cloud: Cloud) -> dict[str, Any]:
    """How many rows every table has, and what is on the node."""
    tables = Base.metadata.sorted_tables
    counts = cloud.database.read(
        lambda session: {
            table.name: session.scalar(select(func.count()).select_from(table)) for table in tables
        }
    )
    with cloud.engine.lock:
        return counts | {"containers of the engine": sorted(cloud.engine.containers)}


@pytest.mark.parametrize("operation", WITH_INPUTS, ids=lambda each: f"{each.method} {each.path}")
def test_a_bad_value_is_400_that_names_the_field_and_nothing_is_done(
    cloud: Cloud, operation: Operation, caplog: pytest.LogCaptureFixture
) -> None:
    path = operation.path.replace("{ident}", "web").replace("{", "").replace("}", "")
    _, last = versions_of(operation.responder)
    before, shown = everything(cloud), cloud.client.show("web")
    wrong = []
    with caplog.at_level(logging.INFO):
        for line, name, body, kind in requests(operation, path):
            answer = cloud.client.request(line, body, version=str(last))
            title = answer.json["errors"][0]["title"] if answer.status_code >= 400 else ""
            if answer.status_code != 400 or name.rpartition(".")[2] not in title:
                wrong.append(f"{name}, {kind}: {answer.status_code} {title[:200]}")
    assert wrong == []
    assert everything(cloud) == before
    assert (cloud.client.show("web") or {}).get("updated_at") == (shown or {}).get("updated_at")
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize(
    "operation", [each for each in OPERATIONS if each.filters], ids=lambda each: f"{each.method} {each.path}"
)
def test_a_bad_parameter_without_a_model_is_400_too(cloud: Cloud, operation: Operation) -> None:
    path = operation.path.replace("{ident}", "web").replace("{", "").replace("}", "")
    wrong = []
    for name, shape in operation.filters.items():
        allows = jsonschema_rs.validator_for(shape.get("items", shape)).is_valid
        for kind, value in VALUES.items():
            if isinstance(value, str) and (not allows(value) or kind == "NUL"):
                query = urlencode({name: value}, quote_via=quote)
                answer = cloud.client.request(f"GET {path}?{query}")
                if answer.status_code != 400:
                    wrong.append(f"{name}, {kind}: {answer.status_code}")
    assert wrong == []


def all_models(kind: type[Params] = Params) -> Iterator[type[Params]]:
    for child in kind.__subclasses__():
        yield child
        yield from all_models(child)


def test_every_model_is_that_of_an_operation() -> None:
    used = {given.model for each in OPERATIONS for given in each.inputs}
    parts = {name for model in used for name in described(model, MAXIMUM)[1]}
    private = {model for model in all_models() if model.__name__.startswith("_")}
    named = {model for model in all_models() if model.__name__ in parts}
    assert set(all_models()) - private == used | named


@pytest.mark.parametrize("model", {each.model for op in OPERATIONS for each in op.inputs})
def test_every_field_has_a_bad_value(model: type[Params]) -> None:
    bad = {name for name, _, kind in bad_values(model, nulls=False) if kind != "NUL"}
    assert bad >= set(described(model, MAXIMUM)[0]["properties"])
