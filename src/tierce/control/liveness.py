"""Whether nodes are there to do what is asked, as their last heartbeats and operators say."""

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.db import services
from tierce.db.tables import Container, Service
from tierce.model.clock import Clock
from tierce.model.errors import Conflict, ContainerHostNotUp, HostNotUp


class Liveness:
    def __init__(self, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._conf = conf
        self._clock = clock

    def of(self, service: Service) -> bool:
        """Whether the node of this record is up."""
        return services.is_up(service, self._clock.now(), self._conf.service_down_time)

    def is_up(self, session: Session, host: str) -> bool:
        service = services.get(session, host)
        return service is not None and self.of(service)

    def any_up(self, session: Session) -> bool:
        return any(map(self.of, services.every(session)))

    def down_hosts(self, session: Session) -> frozenset[str]:
        """The nodes that nothing new is heard from: what is known of their containers may be old."""
        return services.down_hosts(session, self._clock.now(), self._conf.service_down_time)

    def require_up(self, session: Session, host: str) -> None:
        """Raises HostNotUp."""
        if not self.is_up(session, host):
            raise HostNotUp(host)

    def require_host_of(self, session: Session, container: Container) -> str:
        """The container's host. Raises Conflict when it has none, ContainerHostNotUp when it is down."""
        if container.host is None:
            raise Conflict(f"Container {container.uuid} is not scheduled to a host.")
        if not self.is_up(session, container.host):
            raise ContainerHostNotUp(container.uuid, container.host)
        return container.host
