"""The volumes of a container, as steps of an operation."""

from sqlalchemy.orm import Session

from tierce.agent.operations.base import Work
from tierce.db import volumes
from tierce.db.tables import Volume
from tierce.model.errors import Invalid
from tierce.volumes.base import VolumeSpec


def ensure(work: Work) -> None:
    """Ensure every volume is usable here, and note what to bind where. Raises Invalid for one of others."""
    if not work.mounts:
        return
    uuid = work.container.uuid
    rows = work.plugs.database.read(lambda session: volumes.mounts(session, uuid))
    for _, volume in rows:
        if volume.volume_provider != volumes.LOCAL:
            raise Invalid(
                f"Volume {volume.uuid} is one of {volume.volume_provider}, which nodes cannot mount."
            )
    work.binds = {
        mapping.container_path or "": work.plugs.volumes.ensure(_spec(volume)) for mapping, volume in rows
    }


def remove(work: Work) -> None:
    """Ensure nothing is left of the node's volumes that nobody else mounts."""
    if not work.mounts:
        return
    for volume in work.plugs.database.read(lambda session: _unshared(session, work.container.uuid)):
        work.plugs.volumes.remove(_spec(volume))


def _unshared(session: Session, uuid: str) -> list[Volume]:
    rows = volumes.mounts(session, uuid)
    return [
        volume
        for _, volume in rows
        if volume.volume_provider == volumes.LOCAL and not volumes.other_users(session, volume.id, uuid)
    ]


def _spec(volume: Volume) -> VolumeSpec:
    data = (volume.connection_info or {}).get("data") or {}
    return VolumeSpec(volume.uuid, volume.project_id or "", volume.contents, data.get("name"))
