"""Parameters of setting limits."""

import re
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from tierce.api.requests.fields import MAX_INT, NO, between
from tierce.api.requests.schema import Params


def _limit(value: object) -> int:
    """An integer, or its digits; -1 is unlimited. Raises ValueError."""
    if isinstance(value, str) and re.fullmatch("-?[0-9]{1,18}", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("It must be an integer or a string of digits.")
    between(value, -1, MAX_INT)
    return value


_Limit = Annotated[
    int,
    PlainValidator(_limit),
    WithJsonSchema(
        {
            "description": "-1 is unlimited.",
            "anyOf": [
                {"type": "integer", "minimum": -1, "maximum": MAX_INT},
                {"type": "string", "pattern": "^-?[0-9]{1,18}$"},
            ],
        }
    ),
]


class SetLimits(Params):
    """The limits to set; the others stay."""

    containers: _Limit | None = None
    memory: _Limit | None = None
    disk: _Limit | None = None
    cpu: _Limit | None = None

    def given(self) -> dict[str, int]:
        return {name: limit for name, limit in dict(self).items() if limit is not None}


def wants_usages(words: list[str]) -> bool:
    """Whether the query parameter `usages` asks for them: unless it is absent or a word for no."""
    return bool(words) and words[-1].lower() not in NO
