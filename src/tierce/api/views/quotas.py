"""Limits as clients read them: control hands them out ready-made."""

from typing import Final

from tierce.api.views.shapes import INTEGER, NUMBER, Shape, record
from tierce.control.quotas import RESOURCES

LIMITS: Final[Shape] = {
    **record(dict.fromkeys(RESOURCES, INTEGER)),
    "description": "MiB, GiB and vCPUs; -1 is unlimited.",
}
USAGES: Final[Shape] = record(dict.fromkeys(RESOURCES, record({"limit": INTEGER, "in_use": NUMBER})))
