"""Words of JSON schema in which the views say what they answer.

Objects are closed: an answer with a key that its description lacks is a fault of one of the two.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

Shape = Mapping[str, Any]

STRING: Final[Shape] = {"type": "string"}
INTEGER: Final[Shape] = {"type": "integer"}
NUMBER: Final[Shape] = {"type": "number"}
BOOLEAN: Final[Shape] = {"type": "boolean"}
NULL: Final[Shape] = {"type": "null"}
TIME: Final[Shape] = {
    "type": ["string", "null"],
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?$",
    "description": "UTC.",
}


def nullable(shape: Shape) -> Shape:
    return {**shape, "type": [shape["type"], "null"]}


def array(items: Shape) -> Shape:
    return {"type": "array", "items": items}


def mapping(values: Shape) -> Shape:
    """An object whose keys are data."""
    return {"type": "object", "additionalProperties": values}


def record(fields: Mapping[str, Shape], optional: Collection[str] = ()) -> Shape:
    """An object with these keys, all but the `optional` always there."""
    required = [name for name in fields if name not in optional]
    return {
        "type": "object",
        "properties": dict(fields),
        "required": required,
        "additionalProperties": False,
    }


def page(collection: str, items: Shape) -> Shape:
    """One page of a list, with the link to the one after it."""
    return record({collection: array(items), "next": nullable(STRING)})
