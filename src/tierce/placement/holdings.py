"""What containers hold of nodes: their claims, and the size of those that a Zun process placed without one.

The containers are the account: a claim counts while its container is there, whoever removes that.
"""

from sqlalchemy import ColumnElement, and_, case, func, or_, select

from tierce.db.statements import leading_number, rounded_up
from tierce.db.tables import ALLOCATION, CONTAINER
from tierce.model.lifecycle import SIZED, Status

_CLAIMED = ALLOCATION.c.consumer_uuid.is_not(None)
_PLACED = and_(
    CONTAINER.c.container_type.in_(SIZED),
    # What has let its claim go: a delete by force of a node that is down, and a creation that failed. The
    # latter is claimed for when it is made anew; a Zun API writes before that what it is to become.
    CONTAINER.c.status.not_in((Status.DELETING, Status.DELETED)),
    or_(
        CONTAINER.c.container_id.is_not(None),
        CONTAINER.c.status.not_in((Status.ERROR, Status.REBUILDING, Status.RESTARTING)),
    ),
)


def _at_least(least: int, size: ColumnElement[int]) -> ColumnElement[int]:
    return case((size > least, size), else_=least)


HOLDINGS = (
    select(
        CONTAINER.c.host,
        CONTAINER.c.uuid,
        func.coalesce(ALLOCATION.c.vcpus, _at_least(1, rounded_up(CONTAINER.c.cpu))).label("vcpus"),
        func.coalesce(ALLOCATION.c.memory_mb, _at_least(1, leading_number(CONTAINER.c.memory))).label(
            "memory_mb"
        ),
        func.coalesce(ALLOCATION.c.disk_gb, CONTAINER.c.disk, 0).label("disk_gb"),
    )
    .outerjoin_from(CONTAINER, ALLOCATION, ALLOCATION.c.consumer_uuid == CONTAINER.c.uuid)
    .where(CONTAINER.c.host.is_not(None), or_(_CLAIMED, _PLACED))
)
"""Node, container, vCPUs, MiB and GiB, as `Resources.of` counts them. A container that is being deleted, and
has no claim, holds nothing."""
