"""Read the parameters of a request: query string, body, and the two merged.

Whatever a client sends comes back as values that every layer below can carry, or as a 400: no NUL
characters, no invalid UTF-8, no bottomless nesting.
"""

from typing import Any, Final
from urllib.parse import parse_qsl

import falcon
import orjson

from tierce.api.http import Request
from tierce.api.middleware.body_limit import too_large
from tierce.model.errors import InvalidValue, MalformedBody, SchemaInvalid

MAX_DEPTH: Final = 32
"""Levels of nesting in a body; no documented field has more than four."""

MAX_PAIRS: Final = 1000
"""Parameters of one query string or form."""


def query(req: Request) -> dict[str, list[str]]:
    """The query string, each key with all its values. Raises InvalidValue for one that is not UTF-8."""
    return _pairs(req.query_string.encode("latin-1"), "query string") if req.query_string else {}


def single(values: dict[str, list[str]]) -> dict[str, str]:
    """The values of keys that may be given once. Raises InvalidValue for a repeated one."""
    for key, given in values.items():
        if len(given) > 1:
            raise InvalidValue(f"Parameter '{key}' is given more than once.")
    return {key: given[0] for key, given in values.items()}


def body(req: Request) -> dict[str, Any]:
    """The body: a JSON object, or a form if it says so; empty means no parameters.

    Clients send JSON under any content type, so only forms go by their label. Raises MalformedBody.
    """
    raw = _read(req)
    if not raw:
        return {}
    if (req.content_type or "").partition(";")[0].strip().lower() == falcon.MEDIA_URLENCODED:
        return dict(single(_pairs(raw, "form")))
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as exc:
        raise MalformedBody(f"The request body is not valid JSON: {exc}") from exc
    if not isinstance(document, dict):
        raise MalformedBody("The request body must be a JSON object.")
    _require_carriable(document)
    return document


def merged(req: Request) -> dict[str, Any]:
    """Query string and body as one set: clients use either. Raises InvalidValue for a key in both."""
    in_query, in_body = single(query(req)), body(req)
    for key in in_query.keys() & in_body.keys():
        raise InvalidValue(f"Parameter '{key}' is given both in the query string and in the body.")
    return in_query | in_body


def require_json(req: Request) -> None:
    """Refuse (415) a body that does not declare itself JSON, where the contract asks for it."""
    declared = (req.content_type or "").partition(";")[0].strip().lower()
    if declared != falcon.MEDIA_JSON:
        raise falcon.HTTPUnsupportedMediaType(
            description=f"Content-Type must be application/json, not '{req.content_type or ''}'."
        )


def _read(req: Request) -> bytes:
    if req.content_length is not None:
        return req.bounded_stream.read()
    if not req.env.get("wsgi.input_terminated"):
        return b""
    raw: bytes = req.stream.read(req.body_limit + 1)
    if len(raw) > req.body_limit:
        raise too_large(req.body_limit)
    return raw


def _pairs(raw: bytes, where: str) -> dict[str, list[str]]:
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_PAIRS)
    except UnicodeDecodeError as exc:
        raise InvalidValue(f"The {where} is not valid UTF-8.") from exc
    except ValueError as exc:
        raise InvalidValue(f"The {where} has more than {MAX_PAIRS} parameters.") from exc
    values: dict[str, list[str]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    _require_carriable(values)
    return values


def _require_carriable(document: dict[str, Any]) -> None:
    """Refuse NUL characters, which end strings in databases and runtimes, and absurd nesting."""
    pending: list[tuple[str, Any, int]] = [(key, {key: value}, 0) for key, value in document.items()]
    while pending:
        field, value, depth = pending.pop()
        if isinstance(value, str):
            if "\0" in value:
                raise SchemaInvalid(
                    f"Invalid input for field '{field}'. It has a NUL character.".replace("\0", "\\0"), field
                )
        elif isinstance(value, dict | list):
            if depth > MAX_DEPTH:
                raise MalformedBody(f"Field '{field}' is nested more than {MAX_DEPTH} levels deep.")
            parts = (*value, *value.values()) if isinstance(value, dict) else value
            pending.extend((field, part, depth + 1) for part in parts)
