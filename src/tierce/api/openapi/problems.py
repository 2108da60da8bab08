"""Errors as the document shows them: statuses with their codes, from `tierce.api.errors`."""

import http
from collections.abc import Iterable
from typing import Any, Final

from tierce.api.errors import DOMAIN, FRAMEWORK, INTERNAL, VERSION_UNSUPPORTED
from tierce.api.views.links import LINKS
from tierce.api.views.shapes import INTEGER, STRING, Shape, record
from tierce.model.errors import TierceError

ENVELOPE: Final[Shape] = record(
    {
        "errors": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": record(
                {
                    "request_id": STRING,
                    "code": STRING,
                    "status": INTEGER,
                    "title": {**STRING, "minLength": 1},
                    "detail": {**STRING, "minLength": 1},
                    "links": LINKS,
                    "max_version": STRING,
                    "min_version": STRING,
                },
                optional=["max_version", "min_version"],
            ),
        }
    }
)
UNAUTHENTICATED: Final[Shape] = record(
    {"error": record({"code": INTEGER, "title": STRING, "message": STRING})}
)
SCHEMAS: Final[dict[str, Shape]] = {"Errors": ENVELOPE, "Unauthenticated": UNAUTHENTICATED}
"""What the answers refer to."""

_AT_ANY_PLACE: Final = ((500, INTERNAL), (413, FRAMEWORK[413]))
_NEGOTIATION: Final = ((406, FRAMEWORK[406]), (406, VERSION_UNSUPPORTED))


def problem_answers(
    errors: Iterable[type[TierceError]],
    framework: Iterable[int],
    *,
    public: bool,
    negotiated: bool,
) -> dict[str, Any]:
    """The answers of one operation that are errors: the domain's, and HTTP's own by status."""
    codes: dict[int, set[str]] = {}
    pairs = [DOMAIN[error] for error in errors]
    pairs += [(status, FRAMEWORK[status]) for status in framework]
    pairs += _AT_ANY_PLACE
    pairs += _NEGOTIATION if negotiated else ()
    for status, code in pairs:
        codes.setdefault(status, set()).add(code)
    answers = {str(status): _answer(status, found) for status, found in codes.items()}
    if not public:
        answers["401"] = _described(401, {"$ref": "#/components/schemas/Unauthenticated"})
    return answers


def _answer(status: int, codes: set[str]) -> dict[str, Any]:
    one_of = {"type": "object", "properties": {"code": {"enum": sorted(codes)}}}
    narrowed = {"type": "object", "properties": {"errors": {"type": "array", "items": one_of}}}
    answer = _described(status, {"allOf": [{"$ref": "#/components/schemas/Errors"}, narrowed]})
    if status == 503:
        answer["headers"] = {"Retry-After": {"description": "Seconds.", "schema": STRING}}
    return answer


def _described(status: int, shape: Shape) -> dict[str, Any]:
    return {
        "description": http.HTTPStatus(status).phrase,
        "content": {"application/json": {"schema": shape}},
    }
