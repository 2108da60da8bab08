"""Parameters of what concerns terminals."""

from typing import Annotated

from pydantic import PlainValidator, StringConstraints, WithJsonSchema

from tierce.api.requests.fields import between, whole, whole_schema
from tierce.api.requests.schema import Params
from tierce.model.container import MAX_CHARACTERS


def _characters(value: object) -> int:
    number = whole(value)
    between(number, 1, MAX_CHARACTERS)
    return number


Characters = Annotated[
    int,
    PlainValidator(_characters),
    WithJsonSchema(whole_schema(1, MAX_CHARACTERS, "Characters.")),
]
"""Height or width of a terminal: an integer or digits."""


class Resize(Params):
    h: Characters
    w: Characters


class ExecuteResize(Resize):
    exec_id: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-f0-9]{64}$")]
