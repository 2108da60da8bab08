"""A node agent's service record as clients read it."""

from collections.abc import Mapping
from typing import Any, Final

from tierce.api.views import times
from tierce.api.views.shapes import BOOLEAN, INTEGER, STRING, TIME, Shape, nullable, record

SERVICE: Final[Shape] = record(
    {
        "id": INTEGER,
        "host": STRING,
        "binary": STRING,
        "state": {**STRING, "enum": ["up", "down"]},
        "disabled": BOOLEAN,
        "disabled_reason": nullable(STRING),
        "forced_down": BOOLEAN,
        "report_count": INTEGER,
        "last_seen_up": TIME,
        "created_at": TIME,
        "updated_at": TIME,
        "availability_zone": STRING,
    }
)
_NAME: Final[Mapping[str, Shape]] = {"host": STRING, "binary": STRING}
DISABLED: Final[Shape] = record(
    {"service": record({**_NAME, "disabled": BOOLEAN, "disabled_reason": nullable(STRING)})}
)
FORCED_DOWN: Final[Shape] = record({"service": record({**_NAME, "forced_down": BOOLEAN})})


def service(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "host": row.host,
        "binary": row.binary,
        "state": row.state,
        "disabled": row.disabled,
        "disabled_reason": row.disabled_reason,
        "forced_down": row.forced_down,
        "report_count": row.report_count,
        "last_seen_up": times.microseconds(row.last_seen_up),
        "created_at": times.microseconds(row.created_at),
        "updated_at": times.microseconds(row.updated_at),
        "availability_zone": row.availability_zone,
    }


def changed(row: Any, *fields: str) -> dict[str, Any]:
    """The answer to a change: which service, and the fields that it was about."""
    return {
        "service": {"host": row.host, "binary": row.binary} | {name: getattr(row, name) for name in fields}
    }
