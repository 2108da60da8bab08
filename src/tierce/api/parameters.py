"""Read the parameters of a request: query string, body, and the two merged.

Whatever a client sends comes back as values that every layer below can carry, or as a 400: no NUL
characters, no invalid UTF-8, no bottomless nesting.
"""

import itertools
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qsl

import falcon
import orjson

from tierce.api.http import Request
from tierce.api.received import received
from tierce.model.errors import InvalidValue, MalformedBody, SchemaInvalid

MAX_DEPTH: Final = 32
"""Levels of nesting in a body; no documented field has more than four."""

MAX_ELEMENTS: Final = 100_000
"""Keys and values of a body, at all levels together."""

MAX_PAIRS: Final = 1000
"""Parameters of one query string or form."""

_END: Final = object()


def query(req: Request) -> dict[str, list[str]]:
    """The query string, each key with all its values. Raises InvalidValue for one that is not UTF-8."""
    return _pairs(req.query_string.encode("latin-1"), "query string") if req.query_string else {}


def single(values: dict[str, list[str]]) -> dict[str, str]:
    """The values of keys that may be given once. Raises InvalidValue for a repeated one."""
    for key, given in values.items():
        if len(given) > 1:
            raise InvalidValue(f"Parameter '{key}' is given more than once.")
    return {key: given[0] for key, given in values.items()}


def body(req: Request, opaque: str | None = None) -> dict[str, Any]:
    """The body: a JSON object, or a form if it says so; empty means no parameters.

    Clients send JSON under any content type, so only forms go by their label. The string in the field
    `opaque` may hold anything, NUL characters too. Raises MalformedBody.
    """
    with received(req) as raw:
        if not raw:
            return {}
        if (req.content_type or "").partition(";")[0].strip().lower() == falcon.MEDIA_URLENCODED:
            return dict(single(_pairs(bytes(raw), "form")))
        try:
            document = raw.json(opaque)
        except orjson.JSONDecodeError as exc:
            raise MalformedBody(f"The request body is not valid JSON: {exc}") from exc
    if not isinstance(document, dict):
        raise MalformedBody("The request body must be a JSON object.")
    _require_carriable(
        {field: value for field, value in document.items() if field != opaque or not isinstance(value, str)}
    )
    return document


def merged(req: Request, opaque: str | None = None) -> dict[str, Any]:
    """Query string and body as one set: clients use either. Raises InvalidValue for a key in both.

    `opaque` as for `body`.
    """
    in_query, in_body = single(query(req)), body(req, opaque)
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
    """Refuse NUL characters, which end strings in databases and runtimes, and absurd nesting or size."""
    count = 0
    for field, value in document.items():
        for part, depth in _parts(field, value):
            count += 1
            if count > MAX_ELEMENTS:
                raise MalformedBody(f"The request body has more than {MAX_ELEMENTS} elements.")
            if isinstance(part, str) and "\0" in part:
                raise SchemaInvalid(
                    f"Invalid input for field '{field}'. It has a NUL character.".replace("\0", "\\0"), field
                )
            if isinstance(part, dict | list) and depth > MAX_DEPTH:
                raise MalformedBody(f"Field '{field}' is nested more than {MAX_DEPTH} levels deep.")


def _parts(field: str, value: Any) -> Iterator[tuple[Any, int]]:
    """Every key and value of a field with its depth. Copies nothing: bodies can be large."""
    open_levels: list[Iterator[Any]] = [iter((field, value))]
    while open_levels:
        part = next(open_levels[-1], _END)
        if part is _END:
            open_levels.pop()
            continue
        yield part, len(open_levels)
        if isinstance(part, dict):
            open_levels.append(itertools.chain(part, part.values()))
        elif isinstance(part, list):
            open_levels.append(iter(part))
