"""Who may do what: every route for every kind of caller, and an operator's own rules."""

import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import falcon.inspect
import pytest

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud, ShiftedClock
from tests.support.waiting import until
from tierce.api.middleware.authentication import PUBLIC
from tierce.control.policies import list_rules

_LINES = (pathlib.Path(__file__).parent / "policies.txt").read_text().splitlines()
CALLERS = _LINES[6].removeprefix("# ").split()[:-1]
TABLE = [
    (line.split("   ", 1)[1], dict(zip(CALLERS, map(int, line.split("   ", 1)[0].split()), strict=True)))
    for line in _LINES
    if line and not line.startswith("#")
]
STATES = {"start": "Created", "unpause": "Paused", "DELETE": "Created"}
"""The state in which an action is tried, by its name; Running for the others."""


@pytest.fixture(scope="module")
def shared_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """One for the whole table, as its lines do not disturb each other."""
    cloud = Cloud(tmp_path_factory.mktemp("policies"))
    yield cloud
    cloud.wait_sound()
    cloud.close()


@pytest.fixture(scope="module")
def callers(shared_cloud: Cloud) -> dict[str, Client]:
    cloud = shared_cloud
    return {
        "nobody": Client(lambda: cloud.app, None),
        "reader": cloud.user("rita", project="p1", role="reader"),
        "member": cloud.user("alice", project="p1"),
        "admin": cloud.user("anna", project="p1", role="admin"),
        "stranger": cloud.user("bob", project="p2"),
        "root": cloud.user("rob", project="p2", role="admin"),
    }


def routes(cloud: Cloud) -> set[str]:
    return {
        f"{method.method} {route.path}"
        for route in falcon.inspect.inspect_routes(cloud.app)
        for method in route.methods
        if not method.internal and method.method != "HEAD"
    }


def test_the_table_has_every_route(shared_cloud: Cloud) -> None:
    assert {request.split("?")[0].split(" {")[0] for request, _ in TABLE} == routes(shared_cloud)


def test_rules_name_the_requests_that_they_are_about(shared_cloud: Cloud) -> None:
    documented = {
        f"{operation['method']} {operation['path']}"
        for rule in list_rules()
        for operation in getattr(rule, "operations", ())
    }
    assert documented == routes(shared_cloud) - {f"GET {path}" for path in PUBLIC}


@pytest.mark.parametrize(("request_", "expected"), TABLE, ids=[request for request, _ in TABLE])
def test_every_caller_gets_the_answer_of_the_table(
    callers: dict[str, Client], request_: str, expected: dict[str, int]
) -> None:
    assert {name: attempt(callers, name, request_) for name in CALLERS} == expected


def attempt(callers: dict[str, Client], caller: str, request: str) -> int:
    """Send the request of a line of the table, its names filled in; the status of the answer."""
    line, brace, rest = request.partition(" {")
    body = json.loads(brace + rest) if brace else None
    if body is not None and "/containers" in line:
        body = {"image": IMAGE, **body}
    if body is not None and "/images" in line:
        body = {**body, "repo": f"{caller}/image"}
    version = "1.13" if "rename" in line or "security_group" in line else "1.40"
    answer = callers[caller].request(line.format(**names(callers, line)), body, version=version)
    return int(answer.status_code)


def names(callers: dict[str, Client], line: str) -> dict[str, str]:
    """What a line's placeholders stand for, made for it by the project's member or administrator."""
    if "/hosts/" in line:
        return {"ident": "node1"}
    if "/registries/" in line:
        made = callers["member"].call("POST /registries", {"registry": {"domain": "registry.example.com"}})
        return {"ident": made["registry"]["uuid"]}
    if "{network}" in line:
        made = callers["admin"].call("POST /networks", {"neutron_net_id": "kept"})
        return {"network": made["neutron_net_id"]}
    if "/images/" in line:
        return {"ident": image_record(callers["admin"])}
    if "/quota" in line:
        return {"project_id": "p1", "name": "default"}
    if "{ident}" not in line:
        return {}
    method, _, path = line.partition("?")[0].partition(" ")
    owner = callers["member"]
    container = in_state(owner, STATES.get(method) or STATES.get(path.rpartition("/")[2], "Running"))
    (action,) = owner.call(f"GET /containers/{container}/container_actions")["containerActions"][-1:]
    found = {"ident": container, "request_id": action["request_id"]}
    if "{exec_id}" in line:
        found |= owner.call(f"POST /containers/{container}/execute?command=sh&run=false")
    return found


def in_state(owner: Client, state: str) -> str:
    if state == "Created":
        return owner.created()
    uuid = owner.running(interactive=True)
    if state == "Paused":
        owner.call(f"POST /containers/{uuid}/pause")
        owner.wait(uuid, "Paused")
    return uuid


def image_record(admin: Client) -> str:
    found = admin.call("GET /images")["images"]
    made = found or [admin.call("POST /images", {"repo": "nginx", "host": "node1"})]
    uuid = str(made[0]["uuid"])
    until(lambda: admin.call(f"GET /images/{uuid}")["image_id"])
    return uuid


# --- details ----------------------------------------------------------------------------------------


def test_only_administrators_see_the_traceback_of_a_failed_action(cloud: Cloud, client: Client) -> None:
    alice = cloud.user("alice", project="p1")
    uuid = alice.create(run=True, command=["/nosuch/program"])
    alice.wait(uuid, "Error")
    (action,) = alice.call(f"GET /containers/{uuid}/container_actions")["containerActions"]
    line = f"GET /containers/{uuid}/container_actions/{action['request_id']}"

    (failed, created) = alice.call(line)["events"]
    assert (failed["event"], failed["result"], failed["traceback"]) == (
        "compute__do_container_start",
        "Error",
        None,
    )
    assert (created["event"], created["result"]) == ("compute__do_container_create", "Success")
    assert "File" in client.call(line)["events"][0]["traceback"]


def test_an_action_that_does_not_exist_is_not_found(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    assert client.error(f"GET /containers/{uuid}/container_actions/req-nosuch")[0] == 404


# --- an operator's rules ------------------------------------------------------------------------------


class Rules:
    """The operator's file, a second after it was written; each writing is later than the one before."""

    def __init__(self, file: pathlib.Path, clock: ShiftedClock) -> None:
        self._file = file
        self._clock = clock
        self._moment = 2_000_000_000

    def write(self, rules: dict[str, str]) -> None:
        self.write_text(json.dumps(rules))

    def write_text(self, text: str) -> None:
        self._file.write_text(text)
        self._moment += 1
        os.utime(self._file, (self._moment, self._moment))
        self._clock.advance(1)


@pytest.fixture
def rules(cloud: Cloud) -> Rules:
    return Rules(cloud.policy_file, cloud.clock)


def fields(client: Client, uuid: str) -> tuple[set[str], set[str]]:
    """Names of the container's fields when it is shown and when it is listed."""
    listed: list[dict[str, Any]] = client.call("GET /containers")["containers"]
    return set(client.show(uuid) or {}) - {"links"}, set(listed[0])


def test_a_field_can_be_hidden_and_then_neither_filters_nor_sorts(cloud: Cloud, rules: Rules) -> None:
    alice = cloud.user("alice", project="p1")
    uuid = alice.created()
    assert all("user_id" in shown for shown in fields(alice, uuid))

    rules.write({"container:get_one:user_id": "rule:context_is_admin"})

    assert all("user_id" not in shown for shown in fields(alice, uuid))
    assert "user_id" in (cloud.client.show(uuid) or {})
    for query in ("user_id=alice", "sort_key=user_id"):
        assert alice.error(f"GET /containers?{query}") == (
            403,
            "container.policy-not-authorized",
            "Policy doesn't allow container:get_one:user_id to be performed.",
        )
    cloud.client.call("GET /containers?user_id=alice&all_projects=1")


def test_rules_are_read_again_whenever_they_change(cloud: Cloud, rules: Rules) -> None:
    alice = cloud.user("alice", project="p1")
    line, body = "POST /containers", {"image": IMAGE, "image_pull_policy": "never"}
    answers = []
    for rule in ("role:member", "rule:context_is_admin", "role:member"):
        rules.write({"container:create:image_pull_policy": rule})
        answers.append(alice.request(line, body).status_code)
    assert answers == [202, 403, 202]


@pytest.mark.parametrize("text", ["{", "[1, 2]", "container:get_all: [[}"])
def test_a_file_that_cannot_be_read_changes_nothing(cloud: Cloud, rules: Rules, text: str) -> None:
    alice = cloud.user("alice", project="p1")
    rules.write({"container:get_all": "rule:context_is_admin"})
    assert alice.error("GET /containers")[0] == 403

    rules.write_text(text)
    assert alice.error("GET /containers")[0] == 403

    rules.write({})
    alice.call("GET /containers")


def test_nothing_is_asked_of_a_file_that_cannot_be_read(cloud: Cloud, rules: Rules) -> None:
    """Also not by the first request of its kind, before the file is looked at again."""
    alice = cloud.user("alice", project="p1")
    rules.write({})
    alice.call("GET /containers")
    cloud.policy_file.write_text("{")
    os.utime(cloud.policy_file, (3_000_000_000, 3_000_000_000))
    assert alice.error("GET /hosts")[0] == 403


def test_a_hidden_field_can_be_shown(cloud: Cloud, rules: Rules) -> None:
    alice = cloud.user("alice", project="p1")
    uuid = alice.created()
    rules.write({"container:get_one:host": "rule:admin_or_owner"})
    assert all("host" in shown for shown in fields(alice, uuid))
    alice.call("GET /containers?host=node1")


def test_readers_can_be_kept_from_changing_anything(cloud: Cloud, rules: Rules) -> None:
    alice, rita = cloud.user("alice", project="p1"), cloud.user("rita", project="p1", role="reader")
    uuid = alice.created()
    rules.write(
        {"container:create": "role:member", "container:delete": "role:member and rule:admin_or_owner"}
    )
    assert rita.error("POST /containers", {"image": IMAGE})[0] == 403
    assert rita.error(f"DELETE /containers/{uuid}")[0] == 403
    assert rita.show(uuid)
    alice.call(f"DELETE /containers/{uuid}")
    until(lambda: not cloud.rows())


def test_a_refused_request_changes_nothing(cloud: Cloud, rules: Rules) -> None:
    alice = cloud.user("alice", project="p1")
    uuid = alice.running()
    rules.write({"container:stop": "!", "container:delete": "!"})
    assert alice.error(f"POST /containers/{uuid}/stop")[0] == 403
    assert alice.error(f"DELETE /containers/{uuid}?stop=true")[0] == 403
    assert alice.actions(uuid) == [("create", None)]


def test_a_delete_that_stops_needs_the_right_to_stop(cloud: Cloud, rules: Rules) -> None:
    alice = cloud.user("alice", project="p1")
    running, created = alice.running(), alice.created()
    rules.write({"container:stop": "!"})
    assert alice.error(f"DELETE /containers/{running}?stop=true")[0] == 403
    alice.call(f"DELETE /containers/{created}?stop=true")


@pytest.mark.parametrize(("method", "rule"), [("GET", "image:get_one"), ("DELETE", "image:delete")])
def test_a_rule_about_an_image_record_looks_at_that_one(
    cloud: Cloud, rules: Rules, method: str, rule: str
) -> None:
    alice, carol = cloud.user("alice", project="p1"), cloud.user("carol", project="p1")
    rules.write({"image:pull": "role:member", "image:get_all": "role:member", rule: "user_id:%(user_id)s"})
    uuid = alice.call("POST /images", {"repo": "nginx", "host": "node1"})["uuid"]
    until(lambda: alice.call("GET /images")["images"][0]["image_id"])

    line = f"{method} /images/{uuid}"
    assert carol.error(line)[:2] == (403, "container.policy-not-authorized")
    alice.call(line)


def test_who_is_an_administrator_is_a_rule_too(cloud: Cloud, rules: Rules) -> None:
    alice = cloud.user("alice", project="p1")
    rules.write({"context_is_admin": "role:admin or user_id:alice"})
    alice.call("GET /services")


def test_a_user_without_a_project_may_use_nothing(cloud: Cloud) -> None:
    alice = cloud.user("alice", project="p1")
    (cloud.policy_file.parent / "projects").write_text("")
    assert alice.error("GET /containers") == (
        403,
        "container.not-authorized",
        "User alice has no project here.",
    )
    cloud.policy_file.parent.joinpath("projects").write_text("admin:admin:admin\n")
