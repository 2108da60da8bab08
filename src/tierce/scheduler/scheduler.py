"""Choose nodes for a container: those that pass every filter and have room, the freest first."""

import datetime

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.db import nodes, services
from tierce.model.errors import InvalidValue, NoValidHost
from tierce.placement.base import Placement, Resources
from tierce.scheduler.filters import FILTERS, Demand, Node, requested_host


class Scheduler:
    def __init__(self, conf: cfg.ConfigOpts, placement: Placement) -> None:
        """Raises InvalidValue when `enabled_filters` names a filter that does not exist."""
        unknown = [name for name in conf.scheduler.enabled_filters if name not in FILTERS]
        if unknown:
            raise InvalidValue(
                f"[scheduler] enabled_filters names {', '.join(unknown)}; known are {', '.join(FILTERS)}"
            )
        self._conf = conf
        self._placement = placement
        self._filters = [requested_host, *(FILTERS[name] for name in conf.scheduler.enabled_filters)]

    def select(self, session: Session, demand: Demand, asked: Resources, now: datetime.datetime) -> list[str]:
        """Hosts to try, best first: most free memory, then name.

        Raises NoValidHost with each node's reason. A host may fill up until the claim: try the next.
        """
        candidates = {candidate.host: candidate for candidate in self._placement.candidates(session)}
        reasons, fitting = [], []
        for node in self._nodes(session, now):
            reason = next((why for check in self._filters if (why := check(node, demand))), None)
            candidate = candidates.get(node.host)
            if reason is None and candidate is None:
                reason = f"has not reported what it has (is {self._conf.container_driver} running there?)"
            elif reason is None and candidate is not None and (shortage := candidate.shortage(asked)):
                reason = f"has {shortage}"
            if reason is None and candidate is not None:
                fitting.append(candidate)
            else:
                reasons.append(f"{node.host} {reason}")
        if not fitting:
            raise NoValidHost(
                f"There are not enough hosts available. {'; '.join(reasons) or 'No node is registered'}."
            )
        fitting.sort(key=lambda c: (c.used.memory_mb - c.capacity.memory_mb, c.host))
        return [candidate.host for candidate in fitting]

    def _nodes(self, session: Session, now: datetime.datetime) -> list[Node]:
        runtimes = {node.hostname: node.runtimes for node in nodes.every(session)}
        return [
            Node(
                host=service.host or "",
                up=services.is_up(service, now, self._conf.service_down_time),
                disabled=bool(service.disabled),
                availability_zone=service.availability_zone or self._conf.default_availability_zone,
                runtimes=runtimes.get(service.host or "", ()),
            )
            for service in services.every(session)
            if service.binary == services.BINARY
        ]
