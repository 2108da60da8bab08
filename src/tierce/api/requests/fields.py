"""Types of single fields, as the contract words them.

Validators raise ValueError with the reason as a sentence. Patterns are ASCII and anchored at the true
end: Python's `$` also matches before a trailing newline. What a validator takes is said beside it in JSON
schema, for the document of the API; bounds that are configured are left out there.
"""

import json
import re
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BeforeValidator,
    PlainValidator,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)

from tierce.api.requests.schema import rules_of

MAX_INT: Final = 2**31 - 1
"""The largest value of an integer column."""

MAX_TEXT: Final = 2**16 - 1
"""Bytes of a text column."""

LEGIBLE: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"
"""A text without control characters and line breaks."""

MAX_GRACE: Final = 3600
"""Seconds: a node keeps one of its workers for a stop as long as that lasts."""

YES: Final = ("1", "t", "true", "on", "y", "yes")
NO: Final = ("0", "f", "false", "off", "n", "no")
"""Words for a boolean where they are taken in any case: in lists, of services and of quotas."""

_TRUE: Final = frozenset({"True", "true"})
_FALSE: Final = frozenset({"False", "false"})
_TRUE_EXTENDED: Final = _TRUE | {"TRUE", "1", "ON", "On", "on", "YES", "Yes", "yes"}
_FALSE_EXTENDED: Final = _FALSE | {"FALSE", "0", "OFF", "Off", "off", "NO", "No", "no"}
_DECIMAL: Final = re.compile(r"(?=.)[0-9]*(\.[0-9]+)?")


def _boolean(value: object) -> bool:
    return _worded(value, _TRUE, _FALSE)


def _boolean_extended(value: object) -> bool:
    return _worded(value, _TRUE_EXTENDED, _FALSE_EXTENDED)


def _worded(value: object, true: frozenset[str], false: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in true | false:
        return value in true
    raise ValueError("It must be a boolean.")


def whole(value: object) -> int:
    """An integer, or a string of decimal digits. Raises ValueError; booleans are not numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch("[0-9]{1,18}", value):
        return int(value)
    raise ValueError("It must be an integer or a string of digits.")


def whole_schema(least: int, most: int | None, description: str) -> dict[str, Any]:
    """What `whole` and `between` take, as JSON schema."""
    bounds = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    digits = {"type": "string", "pattern": "^[0-9]{1,18}$"}
    return {"description": description, "anyOf": [{"type": "integer", **bounds}, digits]}


def between(value: float, least: float, most: float) -> None:
    """Raises ValueError outside the bounds, and for NaN."""
    if not least <= value <= most:
        raise ValueError(f"It must be between {least} and {most}.")


def _grace(value: object) -> int | None:
    if value == "":
        return None
    number = whole(value)
    between(number, 0, MAX_GRACE)
    return number


def _cpu(value: Any, info: ValidationInfo) -> float:
    conf = rules_of(info).conf
    decimal = isinstance(value, str) and _DECIMAL.fullmatch(value)
    if not decimal and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError("It must be a number.")
    number = float(value)
    between(number, conf.minimum_cpus, conf.maximum_cpus)
    return number


def _memory(value: object, info: ValidationInfo) -> int:
    conf = rules_of(info).conf
    number = whole(value)
    between(number, conf.minimum_memory, conf.maximum_memory)
    return number


def _disk(value: object, info: ValidationInfo) -> int:
    conf = rules_of(info).conf
    number = whole(value)
    between(number, conf.minimum_disk, conf.maximum_disk)
    return number


def fits_column(value: Any) -> Any:
    """The value itself, if its JSON fits a text column. Raises ValueError."""
    if len(json.dumps(value, default=list)) > MAX_TEXT:  # in ASCII, as it is stored
        raise ValueError(f"Its JSON may have at most {MAX_TEXT} bytes.")
    return value


def _boolean_schema(words: frozenset[str]) -> dict[str, Any]:
    return {"anyOf": [{"type": "boolean"}, {"type": "string", "enum": sorted(words)}]}


Bool = Annotated[bool, PlainValidator(_boolean), WithJsonSchema(_boolean_schema(_TRUE | _FALSE))]
"""true, false, or one of the words True true False false."""

BoolExtended = Annotated[
    bool,
    PlainValidator(_boolean_extended),
    WithJsonSchema(_boolean_schema(_TRUE_EXTENDED | _FALSE_EXTENDED)),
]
"""`Bool`, and the words 1 ON YES 0 OFF NO in the usual capitalizations."""

Grace = Annotated[
    int | None,
    PlainValidator(_grace),
    WithJsonSchema(
        {
            "description": "Seconds until it is killed; 0 is at once.",
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_GRACE},
                {"type": "string", "pattern": "^[0-9]{0,18}$"},
                {"type": "null"},
            ],
        }
    ),
]
"""Seconds that a container gets to end by itself: an integer or digits; the empty string is none."""

Cpu = Annotated[
    float,
    PlainValidator(_cpu),
    WithJsonSchema(
        {
            "description": "vCPUs, within the bounds that the service is configured with.",
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?|\.[0-9]+)$"},
            ],
        }
    ),
]
"""vCPUs within the configured bounds: a number or a decimal string."""

Memory = Annotated[
    int,
    PlainValidator(_memory),
    WithJsonSchema(whole_schema(0, None, "MiB, within the bounds that the service is configured with.")),
]
"""MiB within the configured bounds: an integer or digits, without any unit."""

Disk = Annotated[
    int,
    PlainValidator(_disk),
    WithJsonSchema(whole_schema(0, None, "GiB, within the bounds that the service is configured with.")),
]
"""GiB within the configured bounds: an integer or digits."""

Name = Annotated[
    str,
    StringConstraints(strict=True, min_length=2, max_length=255, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]+$"),
]
"""A name of a container or registry."""

LooseName = Annotated[
    str,
    StringConstraints(strict=True, min_length=2, max_length=255, pattern=r"[a-zA-Z0-9][a-zA-Z0-9_.-]"),
]
"""A name that has two neighbours of `Name` somewhere in it, and may have anything else."""

ImageName = LooseName
"""A name of an image: what it must be exactly depends on the image driver."""

Reference = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=255)]
"""A name or id of something that is looked up."""

Zone = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=255, pattern=LEGIBLE),
]
"""The name of an availability zone; none that nobody has is found out here."""

HostName = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=255, pattern=r"^[a-zA-Z0-9\-._]*$")
]
"""A compute host."""

Text = Annotated[str, StringConstraints(strict=True, max_length=255)]
"""A string that is kept in a column of 255 characters."""

PullPolicy = Annotated[
    str,
    StringConstraints(strict=True, pattern=r"^(never|always|ifnotpresent|Never|Always|IfNotPresent)$"),
    AfterValidator(str.lower),
]
"""A pull policy, in lower case: nodes compare it so."""


def _none_word(value: object) -> object:
    return None if value == "None" else value


def _empty_is_none(value: object) -> object:
    return None if value == "" else value


EmptyIsNone = BeforeValidator(_empty_is_none)
"""The empty string, which clients send for a value that they have not, is none."""

NoneWord = BeforeValidator(_none_word)
"""The word `None`, which python-zunclient sends for a value that it has not, is none."""
