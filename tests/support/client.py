"""A user of the API whose requests go through the WSGI application."""

import base64
import json
from collections.abc import Callable
from typing import Any

import falcon.testing

from tests.support import contract
from tests.support.waiting import until

IMAGE = "tierce-test/busybox:1"
"""What every node has."""

FOREVER = ["sleep", "3600"]


class Client:
    """One user of the API. Paths may leave out `/v1`."""

    def __init__(
        self, app: Callable[[], Any], name: str | None, *, documented: Callable[[], bool] = lambda: True
    ) -> None:
        """`app` gives the application. Without a name the requests say nothing about who asks.

        While it is `documented`, every answer must be one that the document of the API has.
        """
        self._app = app
        self._documented = documented
        self._headers = {}
        if name is not None:
            credentials = base64.b64encode(f"{name}:password of {name}".encode()).decode()
            self._headers["Authorization"] = f"Basic {credentials}"

    def request(
        self, line: str, body: Any = None, *, raw: bytes | None = None, version: str = "1.40"
    ) -> falcon.testing.Result:
        """Send `METHOD /path?query`, with `body` as JSON, or `raw` as it is."""
        method, _, target = line.partition(" ")
        path, _, query = target.partition("?")
        headers = {**self._headers, "OpenStack-API-Version": f"container {version}", "Host": "api"}
        content: Any = raw
        if body is not None:
            content, headers["Content-Type"] = json.dumps(body), "application/json"
        client = falcon.testing.TestClient(self._app())
        answer = client.simulate_request(method, path, query_string=query, body=content, headers=headers)
        if method != "HEAD" and self._documented():
            decoded = answer.json if answer.content else None
            assert (wrong := contract.broken(line, version, answer.status_code, decoded)) is None, wrong
        return answer

    def call(self, line: str, body: Any = None, *, version: str = "1.40") -> Any:
        """The decoded answer. AssertionError unless it is a success."""
        answer = self.request(line, body, version=version)
        assert answer.status_code < 300, f"{line}: {answer.status_code} {answer.text}"
        return answer.json if answer.content else None

    def error(self, line: str, body: Any = None, *, version: str = "1.40") -> tuple[int, str, str]:
        """Status, code and text of a refusal."""
        answer = self.request(line, body, version=version)
        assert answer.status_code >= 400, f"{line}: {answer.status_code} {answer.text}"
        (error,) = answer.json["errors"]
        return answer.status_code, error["code"], error["detail"]

    def create(self, *, run: bool = False, **fields: Any) -> str:
        """Have a container accepted; its uuid."""
        body = {"image": IMAGE, "command": FOREVER, "memory": 64, "cpu": 0.1, **fields}
        return str(self.call(f"POST /containers?run={str(run).lower()}", body)["uuid"])

    def running(self, **fields: Any) -> str:
        """A container that runs; its uuid."""
        return str(self.wait(self.create(run=True, **fields), "Running")["uuid"])

    def created(self, **fields: Any) -> str:
        """A container that was never started; its uuid."""
        return str(self.wait(self.create(**fields), "Created")["uuid"])

    def show(self, ident: str) -> dict[str, Any] | None:
        """The container, or None when there is none."""
        answer = self.request(f"GET /containers/{ident}")
        if answer.status_code == 404:
            return None
        assert answer.status_code == 200, answer.text
        return dict(answer.json)

    def wait(self, ident: str, *statuses: str) -> dict[str, Any]:
        """Wait until it has one of these statuses and no action holds it; the container."""

        def rests(found: dict[str, Any] | None) -> bool:
            return found is not None and found["status"] in statuses and not found["task_state"]

        return until(lambda: self.show(ident), rests) or {}

    def wait_gone(self, ident: str) -> None:
        until(lambda: self.show(ident), lambda found: found is None)

    def actions(self, ident: str) -> list[tuple[str, str | None]]:
        """Name and message of every action of a container, the oldest first."""
        found = self.call(f"GET /containers/{ident}/container_actions")["containerActions"]
        return [(each["action"], each["message"]) for each in reversed(found)]
