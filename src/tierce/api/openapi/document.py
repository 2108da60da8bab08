"""Put the document of one microversion together."""

import functools
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tierce.api.openapi import containers, others
from tierce.api.openapi.operations import Operation
from tierce.api.openapi.problems import SCHEMAS, problem_answers
from tierce.api.versions import HEADER, MAXIMUM, MINIMUM, SERVICE, Version
from tierce.api.views.shapes import STRING

OPERATIONS: Final = (*others.OPERATIONS, *containers.OPERATIONS)

_DESCRIPTION: Final = (
    "The Containers service, as it is at microversion {version} (of {minimum} to {maximum}). "
    f"A request gets the microversion that its header `{HEADER}: {SERVICE} {{version}}` names, and the "
    f"lowest without it. Every answer has the id of its request in `x-openstack-request-id`. "
    "Null is as good as leaving a parameter out. What a caller may not see, by the rules of the service, "
    "is left out of answers. A parameter that may be in the query string or in the body must not be in both."
)
_SECURITY: Final[Mapping[str, Any]] = {
    "token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"},
    "basic": {"type": "http", "scheme": "basic"},
}


@functools.cache
def rendered(version: Version) -> bytes:
    """The document of that microversion as JSON, over lines: it is a file of the manual too."""
    return (json.dumps(document(version), indent=1) + "\n").encode()


def document(version: Version) -> dict[str, Any]:
    """The document of that microversion."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = dict(SCHEMAS)
    for operation in OPERATIONS:
        if operation.is_there_at(version):
            entry, definitions = _operation(operation, version)
            schemas |= definitions
            paths.setdefault(operation.path, {})[operation.method.lower()] = entry
    responses = _shared_responses([entry for entries in paths.values() for entry in entries.values()])
    for path, entries in paths.items():
        entries["parameters"] = _path_parameters(path) + _headers(path)
    text = _DESCRIPTION.format(version=version, minimum=MINIMUM, maximum=MAXIMUM)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tierce", "version": str(version), "description": text},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": responses,
            "securitySchemes": _SECURITY,
            "parameters": {"Microversion": _microversion(version)},
        },
        "security": [{name: []} for name in _SECURITY],
    }


def _operation(operation: Operation, version: Version) -> tuple[dict[str, Any], dict[str, Any]]:
    """One operation, and the definitions that it refers to."""
    entry: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.path.partition("/v1/")[2].partition("/")[0] or "versions"],
        "parameters": operation.parameters(version),
    }
    definitions: dict[str, Any] = {}
    for each in operation.inputs:
        request_body, found = each.body(version)
        definitions |= found
        if request_body is not None:
            entry["requestBody"] = request_body
    problems = problem_answers(
        operation.problems,
        operation.framework,
        public=operation.public,
        negotiated=operation.path != "/",
    )
    success = {str(operation.status): _success(operation, version)}
    entry["responses"] = dict(sorted((success | problems).items()))
    if operation.public:
        entry["security"] = []
    return entry, definitions


def _success(operation: Operation, version: Version) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "Success"}
    shape = operation.shape(version)
    if shape is not None:
        answer["content"] = {"application/json": {"schema": shape}}
    if operation.located:
        answer["headers"] = {"Location": {"description": "Where it is.", "schema": STRING}}
    return answer


def _shared_responses(operations: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Answers of several operations, each put in one place that these now refer to.

    They are what most of the document would consist of.
    """
    users: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for operation in operations:
        for status, answer in operation["responses"].items():
            users.setdefault((status, json.dumps(answer)), []).append(operation["responses"])
    shared: dict[str, Any] = {}
    for (status, text), answers in users.items():
        if len(answers) > 1:
            name = f"{status}.{1 + sum(each.startswith(status) for each in shared)}"
            shared[name] = json.loads(text)
            for each in answers:
                each[status] = {"$ref": f"#/components/responses/{name}"}
    return shared


def _path_parameters(path: str) -> list[dict[str, Any]]:
    shape = {**STRING, "minLength": 1, "pattern": "^[^/]+$"}
    return [
        {"name": name, "in": "path", "required": True, "schema": shape}
        for name in re.findall(r"\{(\w+)\}", path)
    ]


def _headers(path: str) -> list[dict[str, Any]]:
    return [{"$ref": "#/components/parameters/Microversion"}] if path != "/" else []


def _microversion(version: Version) -> dict[str, Any]:
    return {
        "name": HEADER,
        "in": "header",
        "required": version > MINIMUM,
        "schema": {"type": "string", "enum": [f"{SERVICE} {version}"]},
    }
