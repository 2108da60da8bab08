"""Clients that make, start, stop and delete containers of their own, and remember what was promised to them.

What is asked is decided by the seed; what is answered depends on the moment. An answer that says neither
yes nor no (a connection that ended, 5xx) leaves its container in doubt: it is not touched again.
"""

import collections
import contextlib
import dataclasses
import random
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import requests

from tests.support.service import Http, Served
from tests.support.waiting import DEADLINE

_MOST = 4
"""Containers that a client has at a time."""
_PAUSE = 0.15
"""The longest pause between two requests of a client, in seconds."""
_REFUSALS = (409, 503, 504)
"""What may be answered while something is broken: not in this state, not up, not now."""

DELETE = "delete"
_CHANGES = ("start", "stop", "reboot", "kill", "pause", "unpause", "start", "stop", DELETE, DELETE)


@dataclasses.dataclass(frozen=True)
class Accepted:
    """A request that was answered with yes."""

    uuid: str
    request_id: str
    what: str


@dataclasses.dataclass
class Record:
    """What the clients were told so far."""

    accepted: list[Accepted] = dataclasses.field(default_factory=list)
    deleted: set[str] = dataclasses.field(default_factory=set)
    doubtful: set[str] = dataclasses.field(default_factory=set)
    refused: collections.Counter[int] = dataclasses.field(default_factory=collections.Counter)
    unknown: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)
    """Answers that must not be given whatever is broken."""

    def accept(self, answer: requests.Response, uuid: str, what: str) -> None:
        """Note a request that was answered with yes."""
        self.accepted.append(Accepted(uuid, answer.headers["X-Openstack-Request-Id"], what))
        if what == DELETE:
            self.deleted.add(uuid)

    @property
    def kept(self) -> set[str]:
        """Containers that must be there."""
        return {each.uuid for each in self.accepted} - self.deleted - self.doubtful


class Load:
    def __init__(
        self, served: Served, seed: int, *, clients: int = 4, bodies: tuple[Mapping[str, Any], ...]
    ) -> None:
        """Each container is made from one of the `bodies`."""
        self.record = Record()
        self._served = served
        self._bodies = bodies
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(random.Random(f"{seed}/{number}"), f"c{number}"))
            for number in range(clients)
        ]

    @contextlib.contextmanager
    def running(self) -> Iterator[Record]:
        for thread in self._threads:
            thread.start()
        try:
            yield self.record
        finally:
            self._stopping.set()
            for thread in self._threads:
                thread.join()

    def wait_for_more(self, count: int, timeout: float = DEADLINE) -> None:
        """Wait until that many more requests have been accepted."""
        with self._changed:
            goal = len(self.record.accepted) + count
            enough = self._changed.wait_for(lambda: len(self.record.accepted) >= goal, timeout)
        assert enough, f"too little is accepted: {self.record}\n{self._served.log}"

    def _work(self, rng: random.Random, client: str) -> None:
        http = Http(self._served)
        own: list[str] = []
        with contextlib.closing(http):
            while not self._stopping.wait(rng.uniform(0, _PAUSE)):
                if not own or (len(own) < _MOST and rng.random() < 0.35):
                    self._create(http, rng, client, own)
                else:
                    self._change(http, rng.choice(own), rng.choice(_CHANGES), own)

    def _create(self, http: Http, rng: random.Random, client: str, own: list[str]) -> None:
        run = rng.random() < 0.8
        body = {**rng.choice(self._bodies), "nets": [{"network": f"of-{client}"}]}
        answer = self._ask(http, "POST", f"/containers?run={str(run).lower()}", json=body)
        if answer is not None and answer.ok:
            uuid = answer.json()["uuid"]
            own.append(uuid)
            self._accept(answer, uuid, "create")

    def _change(self, http: Http, uuid: str, what: str, own: list[str]) -> None:
        deletes = what == DELETE
        method, path = ("DELETE", "?stop=true") if deletes else ("POST", f"/{what}")
        answer = self._ask(http, method, f"/containers/{uuid}{path}")
        if answer is None or answer.status_code >= 500:
            own.remove(uuid)
            with self._changed:
                self.record.doubtful.add(uuid)
        elif answer.ok:
            if deletes:
                own.remove(uuid)
            self._accept(answer, uuid, what)

    def _ask(self, http: Http, method: str, path: str, **more: Any) -> requests.Response | None:
        """The answer; None when there was none."""
        try:
            answer = http.raw(method, path, **more)
        except requests.RequestException:
            with self._changed:
                self.record.unknown += 1
            return None
        if not answer.ok:
            with self._changed:
                self.record.refused[answer.status_code] += 1
                if answer.status_code not in _REFUSALS:
                    self.record.wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer

    def _accept(self, answer: requests.Response, uuid: str, what: str) -> None:
        with self._changed:
            self.record.accept(answer, uuid, what)
            self._changed.notify_all()
