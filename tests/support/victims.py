"""Containers that each have one action cut short at one of its points, and what must have become of them.

A container is its own project, with an image, a network and a volume of its own: what an action has in hand
while it stands still, no other one waits for.
"""

import contextlib
import dataclasses
import functools
import itertools
import json
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

from tests.support.chaos_program import Ports
from tests.support.load import Record
from tests.support.points import ACTION_LABEL, NUMBER_LABEL, Points
from tests.support.programs import Programs
from tests.support.service import Http
from tests.support.threads import at_once
from tests.support.waiting import until

_CLIENTS = 6


@dataclasses.dataclass(frozen=True)
class Story:
    """What is asked for a container after its creation, and how it is when all is done.

    `asks` are requests for it, of microversion `version`. The last one, or the creation if there is none, is
    the agent's `action` that is cut short. `ends` is its status, None when it is gone; `starts` is how often
    its program has begun.
    """

    action: str
    asks: Sequence[str]
    ends: str | None
    starts: int = 1
    run: bool = True
    nets: Sequence[str] = ("own",)
    networks: int = 1
    memory: int = 64
    groups: Sequence[str] = ()
    commits: bool = False
    version: str = "1.40"


@dataclasses.dataclass
class Victim:
    story: Story
    name: str
    host: str
    at: int
    """The number of the point where its action ends; 0: none."""
    uuid: str = ""

    def __str__(self) -> str:
        asked = ", ".join(["create", *self.story.asks])
        return f"{self.name} ({asked}), whose {self.story.action} ends at its point {self.at}"

    def body(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "host": self.host,
            "image": f"busybox:{self.name}",
            "command": ["sh", "-c", "echo started; sleep 1000"],
            "memory": "64",
            "labels": {ACTION_LABEL: self.story.action, NUMBER_LABEL: str(self.at)},
            "nets": [{"network": name} for name in self.story.nets],
            "mounts": [{"type": "volume", "size": 1, "destination": "/scratch"}],
        }


class Victims:
    """All of one cloud, and what was accepted for them."""

    def __init__(self, programs: Programs, directory: pathlib.Path) -> None:
        self.record = Record()
        self.ports = Ports(directory)
        self._programs = programs
        self._points = Points(directory)
        self._hosts = itertools.cycle(programs.agents)
        self._names = (f"victim-{number}" for number in itertools.count(1))

    def new(self, story: Story, at: int = 0) -> Victim:
        """One that does not exist yet. They take turns on the nodes."""
        return Victim(story, next(self._names), next(self._hosts), at)

    def points(self, victim: Victim) -> list[str]:
        return self._points.reached(victim.uuid)

    def ask(self, victims: Iterable[Victim], turn: int) -> None:
        """Ask for the next thing of each of the victims: 0 is its creation."""
        waiting = list(victims)
        shares = [waiting[first::_CLIENTS] for first in range(_CLIENTS)]
        at_once([functools.partial(self._ask_all, share, turn) for share in shares])

    def wait_cut_short(self, victims: Sequence[Victim]) -> None:
        """Wait until each action stands where it is to end. AssertionError with those that do not."""

        def on_the_way() -> list[str]:
            return [
                f"{victim}, has come to {reached}"
                for victim in victims
                if len(reached := self.points(victim)) != victim.at
            ]

        until(on_the_way, lambda left: not left)

    def _ask_all(self, victims: Sequence[Victim], turn: int) -> None:
        with contextlib.closing(Http(self._programs)) as http:
            for victim in victims:
                self._ask(http, victim, turn)

    def _ask(self, http: Http, victim: Victim, turn: int) -> None:
        if turn == 0:
            run = json.dumps(victim.story.run)
            headers = {"X-Project-Id": victim.name}
            answer = http.raw("POST", f"/containers?run={run}", json=victim.body(), headers=headers)
        else:
            method, _, path = victim.story.asks[turn - 1].partition(" ")
            headers = {"OpenStack-API-Version": f"container {victim.story.version}"}
            answer = http.raw(method, f"/containers/{victim.uuid}{path}", headers=headers)
        assert answer.ok, f"{victim}: {answer.text} {victim.uuid and http.show(victim.uuid)}"
        victim.uuid = victim.uuid or answer.json()["uuid"]
        what = victim.story.action if turn == len(victim.story.asks) else "prepare"
        self.record.accept(answer, victim.uuid, what)
