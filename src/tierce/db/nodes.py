"""Queries of compute nodes: what each is and has."""

import datetime
import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tierce.db import locks
from tierce.db.paging import paginate, require_sortable
from tierce.db.tables import ComputeNode
from tierce.model.errors import ComputeNodeNotFound, Conflict
from tierce.model.spec import ListQuery

SORTABLE = frozenset(
    "uuid hostname mem_total mem_used cpus cpu_used disk_total disk_used total_containers architecture "
    "os_type os kernel_version disk_quota_supported enable_cpu_pinning created_at updated_at".split()
)


def by_hostname(session: Session, hostname: str) -> ComputeNode | None:
    """The node's row; of several (two first starts that raced) the oldest counts."""
    return session.scalar(
        select(ComputeNode)
        .where(ComputeNode.hostname == hostname)
        .order_by(ComputeNode.created_at, ComputeNode.uuid)
        .limit(1)
    )


def get(session: Session, ident: str, *, by_uuid: bool) -> ComputeNode:
    """One node by uuid or host name. Raises ComputeNodeNotFound; Conflict when a name is not unique."""
    column = ComputeNode.uuid if by_uuid else ComputeNode.hostname
    found = session.scalars(select(ComputeNode).where(column == ident)).all()
    if not found:
        raise ComputeNodeNotFound(ident)
    if len(found) > 1:
        raise Conflict("Multiple compute nodes exist with same hostname. Please use the uuid instead.")
    return found[0]


def every(session: Session) -> Sequence[ComputeNode]:
    return session.scalars(select(ComputeNode).order_by(ComputeNode.hostname)).all()


def page(session: Session, query: ListQuery) -> Sequence[ComputeNode]:
    """One page of nodes. Raises ComputeNodeNotFound for a bad marker, InvalidParameterValue for a bad key."""
    require_sortable(query, SORTABLE)
    marker = None if query.marker is None else get(session, query.marker, by_uuid=True)
    key = getattr(ComputeNode, query.sort_key)
    return session.scalars(paginate(select(ComputeNode), key, ComputeNode.uuid, marker, query)).all()


def save(session: Session, hostname: str, now: datetime.datetime, values: dict[str, Any]) -> ComputeNode:
    """Write what a node is and has, making its row at its first start."""
    node = by_hostname(session, hostname)
    if node is None:
        # No key of the table keeps two first starts from leaving two rows.
        locks.hold(session, f"host {hostname}")
        node = by_hostname(session, hostname)
    if node is None:
        fresh = str(uuid.uuid4())
        node = ComputeNode(uuid=fresh, rp_uuid=fresh, hostname=hostname, created_at=now, **values)
        session.add(node)
        session.flush()
        return node
    if any(getattr(node, field) != value for field, value in values.items()):
        session.execute(
            update(ComputeNode).where(ComputeNode.uuid == node.uuid).values(updated_at=now, **values)
        )
    return node
