"""Choose nodes for a container: those that pass every filter and have room, the freest first."""

import dataclasses
import datetime
import random
from collections import Counter
from collections.abc import Mapping, Sequence

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.db import cores, services
from tierce.model.errors import NoValidHost, ResourcesUnavailable
from tierce.model.numa import Pin, cells_of
from tierce.placement.base import Candidate, Placement, Resources
from tierce.scheduler import configured
from tierce.scheduler.filters import (
    NO_ROOM,
    SUMMARIES,
    UNSUITABLE,
    Demand,
    Node,
    compute,
    dedicated_cpus,
    reported,
    requested_host,
    room,
)

_SAID_OF_NODES = 20
"""Nodes whose own reasons are told; of more, how many they are."""


@dataclasses.dataclass(slots=True)
class Selection:
    """Nodes to try, best first, and why the others are none of them."""

    nodes: list[Node] = dataclasses.field(default_factory=list)
    _refusals: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    def refuse(self, host: str, why: str, summary: str) -> None:
        self._refusals.append((f"{host} {why}", summary))

    def filled_up(self, node: Node, exc: ResourcesUnavailable) -> None:
        """Somebody else took its room after the look at it."""
        self.refuse(node.host, exc.why, NO_ROOM)

    def no_valid_host(self) -> NoValidHost:
        """The error to raise when no node could be had."""
        failure = "There are not enough hosts available"
        if not self._refusals:
            return NoValidHost(f"{failure}. No node is registered.")
        told = [why for why, _ in self._refusals[:_SAID_OF_NODES]]
        if more := len(self._refusals) - len(told):
            told.append(f"{more} more were refused")
        kinds = Counter(summary for _, summary in self._refusals)
        counted = ", ".join(f"{count} {summary}" for summary, count in kinds.items())
        return NoValidHost(f"{failure}. {'; '.join(told)}.", f"{failure}. Of all nodes: {counted}.")


class Scheduler:
    def __init__(self, conf: cfg.ConfigOpts, placement: Placement, rng: random.Random) -> None:
        """Raises InvalidValue when the configuration names a filter that does not exist."""
        self._conf = conf
        self._placement = placement
        self._rng = rng
        self._by_chance = conf.scheduler.driver == "chance_scheduler"
        chosen = [compute] if self._by_chance else configured.filters(conf)
        self._filters = [requested_host, dedicated_cpus, *chosen, reported, room]

    def select(self, session: Session, demand: Demand, now: datetime.datetime) -> Selection:
        """Nodes to try: of those that pass and have room, the one with the largest share of its memory
        free, then of its vCPUs, then by name. By chance, if so configured.

        Those whose runtime is away come last: it may be back when the container is made. A node may fill
        up until the claim: try the next.
        """
        candidates = {candidate.host: candidate for candidate in self._placement.candidates(session)}
        pins = cores.pins(session) if demand.dedicated else {}
        selection = Selection()
        for node in self._nodes(session, candidates, pins, now):
            refusal = self._refusal(node, demand)
            if refusal is None:
                selection.nodes.append(node)
            else:
                selection.refuse(node.host, *refusal)
        if self._by_chance:
            self._rng.shuffle(selection.nodes)
        else:
            selection.nodes.sort(key=_fullness)
        selection.nodes.sort(key=lambda node: node.runtime_away)
        return selection

    def _refusal(self, node: Node, demand: Demand) -> tuple[str, str] | None:
        """Why the first filter that does not accept the node does not: for operators, and for everybody."""
        for check in self._filters:
            why = check(node, demand)
            if why is not None:
                return why, SUMMARIES.get(check, UNSUITABLE)
        return None

    def _nodes(
        self,
        session: Session,
        candidates: Mapping[str, Candidate],
        pins: Mapping[str, Sequence[Pin]],
        now: datetime.datetime,
    ) -> list[Node]:
        return [
            Node(
                host=agent.host,
                up=agent.up,
                disabled=agent.disabled,
                availability_zone=agent.availability_zone or self._conf.default_availability_zone,
                runtimes=agent.runtimes,
                limits_disk=agent.limits_disk,
                labels=agent.labels,
                has=Resources(agent.cpus, agent.memory_mb, agent.disk_gb),
                candidate=candidates.get(agent.host),
                dedicates=agent.dedicates_cpus,
                cells=cells_of(agent.numa_topology) if agent.dedicates_cpus else (),
                pins=pins.get(agent.host, ()),
                runtime_away=agent.runtime_away,
            )
            for agent in services.agents(session, now, self._conf.service_down_time)
        ]


def _fullness(node: Node) -> tuple[float, float, str]:
    candidate = node.candidate
    assert candidate is not None  # it has reported
    capacity, used = candidate.capacity, candidate.used
    return _share(used.memory_mb, capacity.memory_mb), _share(used.vcpus, capacity.vcpus), node.host


def _share(used: int, capacity: int) -> float:
    return used / capacity if capacity else 1.0
