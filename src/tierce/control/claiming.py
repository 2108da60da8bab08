"""Taking what a new container needs of a node, in the transaction that writes the container."""

import dataclasses
import itertools
from collections.abc import Sequence

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control.quotas import Quotas
from tierce.db.tables import Container
from tierce.model.errors import ResourcesUnavailable
from tierce.placement import cores
from tierce.placement.base import Placement
from tierce.scheduler.filters import Demand, Node
from tierce.scheduler.scheduler import Selection


class Claiming:
    def __init__(self, conf: cfg.ConfigOpts, quotas: Quotas, placement: Placement) -> None:
        self._conf = conf
        self._quotas = quotas
        self._placement = placement

    def claim(self, session: Session, container: Container, demand: Demand, selection: Selection) -> str:
        """Take what the container needs of the best node that still has it; the node.

        The container's columns `cpuset` and `disk` are what it got there. Raises NoValidHost, and OverQuota
        for the disk that a node which can limit it gives it by default.
        """
        for _, alike in itertools.groupby(selection.nodes, lambda node: node.runtime_away):
            host = self._claim_of_any(session, container, list(alike), demand, selection)
            if host is not None:
                return host
        raise selection.no_valid_host()

    def _claim_of_any(
        self,
        session: Session,
        container: Container,
        alike: Sequence[Node],
        demand: Demand,
        selection: Selection,
    ) -> str | None:
        """Take it of the first of these nodes that has it; None when none does.

        One that somebody else is taking from is waited for only when no other has it: all who create at
        the same moment find the same node to be the best.
        """
        busy: list[Node] = []
        for wait, tried in ((False, alike), (True, busy)):
            for node in tried:
                try:
                    if self._claim_of(session, container, node, demand, wait=wait):
                        return node.host
                    busy.append(node)
                except ResourcesUnavailable as exc:
                    selection.filled_up(node, exc)
        return None

    def _claim_of(
        self, session: Session, container: Container, node: Node, demand: Demand, *, wait: bool
    ) -> bool:
        """Take it of this node. As `Placement.claim`; nothing is taken when it raises."""
        # GiB; 0 is no limit, or none possible.
        limit = container.disk or (self._conf.default_disk if node.limits_disk else 0)
        cpuset = cores.take(session, container, node.host) if demand.dedicated else {}
        asked = dataclasses.replace(demand.asked, disk_gb=limit)
        if not self._placement.claim(session, container.uuid, node.host, asked, wait=wait):
            return False
        container.cpuset = cpuset
        if limit != container.disk:
            self._quotas.reserve(session, container.project_id or "", {"disk": limit})
            container.disk = limit
        return True
