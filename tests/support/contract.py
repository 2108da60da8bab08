"""Whether an answer of the API is one that the document of the API has: its status, its body."""

import functools
import re
from typing import Any

import jsonschema_rs

from tierce.api.middleware.paths import canonical
from tierce.api.openapi.document import document
from tierce.api.versions import Version


def broken(line: str, version: str, status: int, body: Any) -> str | None:
    """What is wrong with the answer to `METHOD /path?query`; None if nothing is.

    `body` is the decoded one, None for nothing at all. Where there is no such operation any refusal is
    right.
    """
    method, _, target = line.partition(" ")
    path = _template(canonical(target.partition("?")[0]), version)
    operation = _document(version)["paths"].get(path, {}).get(method.lower())
    if operation is None:
        return None if status >= 400 else f"{line} is not in the document of {version} and answers {status}"
    if str(status) not in operation["responses"]:
        return f"{line} answers {status}, which the document of {version} does not have there"
    validator = _validator(version, path, method.lower(), str(status))
    if validator is None:
        return None if body is None else f"{line} has a body: {body}"
    error = next(validator.iter_errors(body), None)
    return f"{line} answers {status} with another body: {error}" if error else None


@functools.cache
def _document(version: str) -> dict[str, Any]:
    return document(Version.of(version))


def _template(path: str, version: str) -> str:
    """The path of the document that this one is of. Those without parameters come first."""
    for template in sorted(_document(version)["paths"], key=lambda each: each.count("{")):
        if _pattern(template).fullmatch(path):
            return str(template)
    return path


@functools.cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)))


@functools.cache
def _validator(version: str, path: str, method: str, status: str) -> jsonschema_rs.Validator | None:
    """Of the body of one answer; None where there is no body."""
    whole = _document(version)
    answer = whole["paths"][path][method]["responses"][status]
    if "$ref" in answer:
        answer = whole["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    if "content" not in answer:
        return None
    shape = answer["content"]["application/json"]["schema"]
    return jsonschema_rs.validator_for({**shape, "components": whole["components"]})
