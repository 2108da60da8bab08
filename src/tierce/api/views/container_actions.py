"""The audit trail of a container as clients read it."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tierce.api.views import times
from tierce.api.views.shapes import STRING, TIME, Shape, array, nullable, record

_FIELDS: Final[Mapping[str, Shape]] = {
    "action": STRING,
    "container_uuid": STRING,
    "request_id": nullable(STRING),
    "user_id": nullable(STRING),
    "project_id": nullable(STRING),
    "start_time": TIME,
    "finish_time": TIME,
    "message": nullable(STRING),
}
_EVENT: Final[Shape] = record(
    {
        "event": STRING,
        "start_time": TIME,
        "finish_time": TIME,
        "result": nullable(STRING),
        "traceback": nullable(STRING),
    }
)
ACTION: Final[Shape] = record(_FIELDS)
ACTION_WITH_EVENTS: Final[Shape] = record({**_FIELDS, "events": array(_EVENT)})


def action(row: Any) -> dict[str, Any]:
    """One action, as in a list."""
    return {
        "action": row.action,
        "container_uuid": row.container_uuid,
        "request_id": row.request_id,
        "user_id": row.user_id,
        "project_id": row.project_id,
        "start_time": times.microseconds(row.start_time),
        "finish_time": times.microseconds(row.finish_time),
        "message": row.message,
    }


def action_with_events(row: Any, events: Iterable[Any], show_traceback: bool) -> dict[str, Any]:
    """One action and its events; who may not see tracebacks finds null in their place."""
    return action(row) | {
        "events": [
            {
                "event": event.event,
                "start_time": times.microseconds(event.start_time),
                "finish_time": times.microseconds(event.finish_time),
                "result": event.result,
                "traceback": event.traceback if show_traceback else None,
            }
            for event in events
        ]
    }
