"""Whether a container's node is there to do what is asked."""

import datetime

from sqlalchemy.orm import Session

from tierce.db import services
from tierce.db.tables import Container
from tierce.model.errors import Conflict, ContainerHostNotUp


def is_up(session: Session, host: str, now: datetime.datetime, down_time: int) -> bool:
    service = services.get(session, host)
    return service is not None and services.is_up(service, now, down_time)


def any_up(session: Session, now: datetime.datetime, down_time: int) -> bool:
    return any(services.is_up(service, now, down_time) for service in services.every(session))


def require_up(session: Session, container: Container, now: datetime.datetime, down_time: int) -> str:
    """The container's host. Raises Conflict when it has none, ContainerHostNotUp when it is down."""
    if container.host is None:
        raise Conflict(f"Container {container.uuid} is not scheduled to a host.")
    if not is_up(session, container.host, now, down_time):
        raise ContainerHostNotUp(container.uuid, container.host)
    return container.host
