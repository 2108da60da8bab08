"""A node agent's service record as clients read it."""

from typing import Any

from tierce.api.views import times


def service(row: Any, default_zone: str) -> dict[str, Any]:
    """`default_zone` stands for that of a node which has named none."""
    return {
        "id": row.id,
        "host": row.host,
        "binary": row.binary,
        "state": row.state,
        "disabled": bool(row.disabled),
        "disabled_reason": row.disabled_reason,
        "forced_down": bool(row.forced_down),
        "report_count": row.report_count,
        "last_seen_up": times.microseconds(row.last_seen_up),
        "created_at": times.microseconds(row.created_at),
        "updated_at": times.microseconds(row.updated_at),
        "availability_zone": row.availability_zone or default_zone,
    }
