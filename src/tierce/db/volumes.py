"""Queries of volumes and mounts."""

import datetime
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tierce.db.tables import Volume, VolumeMapping

LOCAL: Final = "local"
"""The provider of volumes that nodes keep. Another process of a cloud may know others."""


def mounts(session: Session, container_uuid: str) -> Sequence[tuple[VolumeMapping, Volume]]:
    """A container's mounts in the order of the request, each with its volume."""
    rows = session.execute(
        select(VolumeMapping, Volume)
        .join(Volume, Volume.id == VolumeMapping.volume_id)
        .where(VolumeMapping.container_uuid == container_uuid)
        .order_by(VolumeMapping.id)
    )
    return [(mapping, volume) for mapping, volume in rows]


def mount(
    session: Session,
    container_uuid: str,
    mappings: Iterable[Mapping[str, Any]],
    now: datetime.datetime | None,
) -> None:
    """Insert a container's mounts of volumes that are there, from columns of volume_mapping."""
    for columns in mappings:
        given = {name: columns.get(name) for name in ("project_id", "user_id", "container_path", "volume_id")}
        session.add(
            VolumeMapping(uuid=str(uuid.uuid4()), container_uuid=container_uuid, created_at=now, **given)
        )


def uuids(session: Session) -> set[str]:
    """The volumes of all nodes."""
    return set(session.scalars(select(Volume.uuid)))


def other_users(session: Session, volume_id: int, container_uuid: str) -> int:
    """How many other containers mount the volume."""
    return (
        session.scalar(
            select(func.count())
            .select_from(VolumeMapping)
            .where(VolumeMapping.volume_id == volume_id, VolumeMapping.container_uuid != container_uuid)
        )
        or 0
    )
