"""Parameters of changing a node agent's service record."""

from typing import Annotated

from pydantic import PlainValidator, StringConstraints, WithJsonSchema

from tierce.api.requests.fields import NO, YES, HostName
from tierce.api.requests.schema import Params


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in YES + NO:
        return value.lower() in YES
    raise ValueError("It must be a boolean.")


def _any_case(word: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in word)


_Flag = Annotated[
    bool,
    PlainValidator(_flag),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "boolean"},
                {"type": "string", "pattern": f"^({'|'.join(map(_any_case, sorted(YES + NO)))})$"},
            ]
        }
    ),
]
_Short = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=255)]


class ServiceName(Params):
    """Which service. What only one of the changes means is taken, and without a meaning, by the others."""

    host: HostName
    binary: _Short
    disabled_reason: _Short | None = None
    forced_down: _Flag | None = None


class ForceDown(ServiceName):
    """`forced_down` is a boolean, or a word for one in any case: clients send it in either place."""

    forced_down: _Flag
