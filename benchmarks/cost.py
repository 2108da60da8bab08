"""What one request costs: SQL statements, transactions, bus messages and runtime calls.

    python -m benchmarks.cost

Counted on the fake runtime in this process, in a network that exists already. One runtime call is one
call to the Engine, but for the network that a create makes sure of (one) and a delete looks for (one).
"""

import contextlib
import pathlib
import sqlite3
import tempfile
import time
from collections import Counter
from typing import Any

import requests
from sqlalchemy import Engine, event

from benchmarks.listing import configuration, displaced
from tierce.cli.standalone import Standalone
from tierce.rpc.inprocess import InProcessDriver
from tierce.runtimes.fake.engine import FakeEngine

REQUESTS = (
    ("create, run", "POST", "/v1/containers?run=true"),
    ("show", "GET", "/v1/containers/{ident}"),
    ("stop", "POST", "/v1/containers/{ident}/stop"),
    ("start", "POST", "/v1/containers/{ident}/start"),
    ("logs", "GET", "/v1/containers/{ident}/logs"),
    ("delete", "DELETE", "/v1/containers/{ident}?force=true"),
)
BODY = {"image": "demo:1", "memory": "32", "cpu": 0.1, "command": ["sleep", "1000"]}
HEADERS = {"OpenStack-API-Version": "container 1.40"}


class Counts:
    """Counts while a request and what it sets off are carried out."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        event.listen(Engine, "before_cursor_execute", self._statement)
        event.listen(Engine, "commit", lambda _: self._count("writes"))
        event.listen(Engine, "rollback", lambda _: self._count("reads"))
        self._wrap(InProcessDriver, "send", "messages")
        self._wrap(FakeEngine, "call", "runtime")

    def _count(self, what: str) -> None:
        self.found[what] += 1

    def _statement(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith("BEGIN"):
            self._count("SQL")

    def _wrap(self, owner: type, name: str, what: str) -> None:
        original = getattr(owner, name)

        def counting(*args: Any, **more: Any) -> Any:
            self._count(what)
            return original(*args, **more)

        setattr(owner, name, counting)


def settle(database: pathlib.Path) -> None:
    """Wait until every action has ended; asked on a connection of our own, which is not counted."""
    unfinished = "SELECT count(*) FROM container_actions WHERE state IN ('queued', 'running')"
    deadline = time.monotonic() + 10
    with contextlib.closing(sqlite3.connect(database)) as connection:
        while connection.execute(unfinished).fetchone()[0]:
            assert time.monotonic() < deadline, "an action does not end"
            time.sleep(0.01)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        conf = configuration(pathlib.Path(directory))
        conf.set_override("default_image_pull_policy", "ifnotpresent")
        counts = Counts()
        service = Standalone(conf, "cost", displaced)
        host, port = service.start()
        url = f"http://{host}:{port}"
        first = requests.post(f"{url}/v1/containers?run=true", json=BODY, headers=HEADERS, timeout=60)
        assert first.ok, first.text
        database = pathlib.Path(directory) / "tierce.sqlite"
        settle(database)
        columns = ("SQL", "writes", "reads", "messages", "runtime")
        print(f"{'':12}" + "".join(f"{column:>10}" for column in columns))
        ident = ""
        for title, method, path in REQUESTS:
            counts.found.clear()
            body = BODY if method == "POST" and not ident else None
            address = url + path.format(ident=ident)
            answer = requests.request(method, address, json=body, headers=HEADERS, timeout=60)
            assert answer.ok, answer.text
            ident = ident or answer.json()["uuid"]
            settle(database)
            print(f"{title:12}" + "".join(f"{counts.found[column]:>10}" for column in columns))
        service.stop()


if __name__ == "__main__":
    main()
