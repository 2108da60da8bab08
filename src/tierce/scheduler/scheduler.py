"""Choose nodes for a container: those that pass every filter and have room, the freest first."""

import datetime
import operator

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.db import services
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

    def select(
        self, session: Session, demand: Demand, asked: Resources, now: datetime.datetime
    ) -> list[Node]:
        """Nodes to try, best first: most free memory, then name.

        Raises NoValidHost with each node's reason. A node may fill up until the claim: try the next.
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
                fitting.append((candidate.used.memory_mb - candidate.capacity.memory_mb, node.host, node))
            else:
                reasons.append(f"{node.host} {reason}")
        if not fitting:
            raise NoValidHost(
                f"There are not enough hosts available. {'; '.join(reasons) or 'No node is registered'}."
            )
        return [node for _, _, node in sorted(fitting, key=operator.itemgetter(0, 1))]

    def _nodes(self, session: Session, now: datetime.datetime) -> list[Node]:
        return [
            Node(
                host=agent.host,
                up=agent.up,
                disabled=agent.disabled,
                availability_zone=agent.availability_zone or self._conf.default_availability_zone,
                runtimes=agent.runtimes,
                limits_disk=agent.limits_disk,
            )
            for agent in services.agents(session, now, self._conf.service_down_time)
        ]
