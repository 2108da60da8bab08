"""A Zun API process, as far as a node sees it: the rows that it writes, and its messages as captured."""

import json
import pathlib
import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from tests.support.client import IMAGE
from tests.support.cloud import ADMIN, Cloud
from tierce.db.tables import Container, ContainerAction, Volume

_FRAMES = pathlib.Path(__file__).parents[1] / "wire" / "frames"


def captured(name: str) -> Any:
    """A captured message, or part of one."""
    return json.loads((_FRAMES / f"{name}.json").read_text())


def zun_creates(
    cloud: Cloud,
    *,
    to: str = "node1",
    volumes: Sequence[Volume] = (),
    networks: object = (),
    devices: object = None,
    **fields: Any,
) -> str:
    """What a Zun API does for a creation that it has placed: rows without our columns, and its message."""
    frame = captured("container_create")
    sent = frame["args"]["container"]["zun_object.data"]
    ident, now = str(uuid.uuid4()), cloud.clock.now()
    values: dict[str, Any] = {
        "uuid": ident,
        "name": sent["name"],
        "project_id": ADMIN,
        "image": IMAGE,
        "image_driver": "docker",
        "cpu": sent["cpu"],
        "memory": sent["memory"],
        "status": sent["status"],
        "host": sent["host"],
        "created_at": now,
        **fields,
    }
    action = ContainerAction(
        action="create", container_uuid=ident, request_id=frame["_context_request_id"], start_time=now
    )
    cloud.database.write(lambda session: session.add(Container(**values)))
    cloud.database.write(lambda session: session.add(action))
    sent |= {"uuid": ident, "image": IMAGE, "host": values["host"], "registry_id": None}
    (mount,) = frame["args"]["requested_volumes"].popitem()[1]
    mounts = [
        mount | {"zun_object.data": mount["zun_object.data"] | {"volume_id": stored(cloud, volume)}}
        for volume in volumes
    ]
    frame["args"] |= {"requested_networks": networks, "requested_volumes": {ident: mounts}}
    frame["args"] |= {"pci_requests": devices}
    cloud.send(to, frame)
    return ident


def zun_asks(cloud: Cloud, ident: str, action: str, method: str = "", **args: Any) -> str:
    """What a Zun API does for an action that it has accepted; the id of the request."""
    request = f"req-{uuid.uuid4()}"
    zun_records(cloud, ident, action, request)
    zun_sends(cloud, ident, method or f"container_{action}", request, **args)
    return request


def zun_records(cloud: Cloud, ident: str, action: str, request: str) -> None:
    row = ContainerAction(
        action=action, container_uuid=ident, request_id=request, start_time=cloud.clock.now()
    )
    cloud.database.write(lambda session: session.add(row))


def zun_sends(cloud: Cloud, ident: str, method: str, request: str, **args: Any) -> None:
    frame = captured("container_start")
    frame["args"]["container"]["zun_object.data"] |= {"uuid": ident, "host": "node1"}
    frame["args"] |= args
    cloud.send("node1", frame | {"method": method, "_context_request_id": request})


def stored(cloud: Cloud, volume: Volume) -> int:
    def write(session: Session) -> int:
        session.add(volume)
        session.flush()
        return volume.id

    return cloud.database.write(write)
