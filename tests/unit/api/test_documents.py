"""What clients read: representations, links, pages."""

import collections
import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.api.edge import NOW, UUID, Edge, container_row
from tierce.api.views import times

FIELDS = set(
    "uuid name project_id user_id image image_driver cpu cpu_policy memory disk command entrypoint "
    "environment labels workdir hostname interactive tty auto_remove auto_heal restart_policy healthcheck "
    "security_groups addresses ports registry_id status status_reason status_detail task_state "
    "created_at updated_at".split()
)
ADMIN_FIELDS = {"host", "image_pull_policy", "privileged", "runtime"}


def shown(edge: Edge, **row: Any) -> dict[str, Any]:
    edge.services.containers.answers["get"] = container_row(**row)
    document: dict[str, Any] = edge.request("GET /v1/containers/web").json
    return document


# --- one container --------------------------------------------------------------------------------


def test_a_container_has_every_field_and_links(edge: Edge) -> None:
    document = shown(edge)

    assert set(document) == FIELDS | {"links"}
    assert document["links"] == [
        {"href": f"http://api:9517/v1/containers/{UUID}", "rel": "self"},
        {"href": f"http://api:9517/containers/{UUID}", "rel": "bookmark"},
    ]
    assert document["memory"] == "256"
    assert document["registry_id"] == "5f0a0000-0000-0000-0000-000000000000"
    assert document["created_at"] == "2026-11-01 09:54:00"
    assert document["updated_at"] is None


def test_fields_that_policy_hides_are_absent(edge: Edge) -> None:
    edge.services.containers.answers["hidden_fields"] = frozenset({"uuid", "image", "status_detail"})

    document = shown(edge)

    assert set(document) == (FIELDS | ADMIN_FIELDS) - {"uuid", "image", "status_detail"}


def test_policy_is_asked_about_every_field(edge: Edge) -> None:
    shown(edge)

    assert set(edge.services.containers.only_call("hidden_fields")["fields"]) == FIELDS | ADMIN_FIELDS


def test_nulls_of_old_rows_become_what_clients_expect(edge: Edge) -> None:
    document = shown(
        edge,
        command=None,
        labels=None,
        ports=None,
        tty=None,
        disk=None,
        cpu_policy=None,
        registry_uuid=None,
        memory=None,
    )

    expected = {
        "command": [],
        "labels": {},
        "ports": [],
        "tty": False,
        "disk": 0,
        "cpu_policy": "shared",
        "registry_id": None,
        "memory": None,
    }
    assert {field: document[field] for field in expected} == expected


def ago(**age: float) -> datetime.datetime:
    return NOW - datetime.timedelta(**age)


@pytest.mark.parametrize(
    ("row", "detail"),
    [
        ({"status": "Running", "started_at": ago(minutes=5)}, "Up 5 mins"),
        ({"status": "Running", "started_at": ago(seconds=0.2)}, "Up 0 seconds"),
        ({"status": "Running", "started_at": ago(seconds=-30)}, "Up 0 seconds"),
        ({"status": "Running", "started_at": ago(minutes=59, seconds=59)}, "Up 59 mins"),
        ({"status": "Running", "started_at": ago(hours=47)}, "Up 1 days"),
        ({"status": "Paused", "started_at": ago(seconds=3)}, "Up 3 seconds (paused)"),
        ({"status": "Stopped", "exit_code": 0, "finished_at": ago(minutes=2)}, "Exited(0) 2 mins ago "),
        ({"status": "Stopped", "exit_code": 137, "finished_at": ago(hours=2)}, "Exited(137) 2 hours ago "),
        ({"status": "Created", "started_at": None}, "Created"),
        ({"status": "Restarting"}, "Restarting"),
        ({"status": "Dead"}, "Dead"),
        # What is not known here is what a node stored.
        ({"status": "Running", "started_at": None, "status_detail": "Up 3 days"}, "Up 3 days"),
        ({"status": "Stopped", "status_detail": "Exited(1) 9 days ago "}, "Exited(1) 9 days ago "),
        ({"status": "Error", "status_detail": None}, None),
        ({"status": "Creating", "status_detail": None}, None),
    ],
)
def test_the_detail_of_the_status_ages(edge: Edge, row: dict[str, Any], detail: str | None) -> None:
    assert shown(edge, **row)["status_detail"] == detail


@given(st.datetimes(), st.datetimes())
def test_an_age_is_never_negative_and_never_too_long(
    moment: datetime.datetime, now: datetime.datetime
) -> None:
    number, unit = times.age(moment, now).split()

    length = {"days": 86400, "hours": 3600, "mins": 60, "seconds": 1}[unit] * int(number)
    passed = max(0.0, (now - moment).total_seconds())
    assert 0 <= passed - length < {"days": 86400, "hours": 3600, "mins": 60, "seconds": 1}[unit]


# --- creating and deleting ------------------------------------------------------------------------


def test_create_answers_202_with_the_container_and_where_it_is(edge: Edge) -> None:
    answer = edge.request("POST /v1/containers", body={"image": "nginx"})

    assert answer.status_code == 202
    assert answer.headers["location"] == f"http://api:9517/v1/containers/{UUID}"
    assert answer.json["status"] == "Creating"
    assert answer.json["links"]


def test_delete_answers_204_with_nothing_at_all(edge: Edge) -> None:
    answer = edge.request("DELETE /v1/containers/web")

    assert answer.status_code == 204
    assert answer.content == b""
    assert "content-length" not in answer.headers
    assert "content-type" not in answer.headers


@pytest.mark.parametrize("action", ["start", "stop", "reboot", "pause", "unpause", "kill"])
def test_an_accepted_action_answers_202_null(edge: Edge, action: str) -> None:
    answer = edge.request(f"POST /v1/containers/web/{action}")

    assert (answer.status_code, answer.content) == (202, b"null")
    assert answer.headers["content-type"] == "application/json"


# --- lists ------------------------------------------------------------------------------------------


def next_of(answer: Any) -> tuple[str, list[tuple[str, str]]]:
    parts = urlsplit(answer.json["next"])
    return f"{parts.scheme}://{parts.netloc}{parts.path}", parse_qsl(parts.query)


def test_a_list_has_containers_without_links(edge: Edge) -> None:
    edge.services.containers.answers["list"] = [container_row()]

    answer = edge.request("GET /v1/containers")

    assert answer.status_code == 200
    assert set(answer.json) == {"containers", "next"}
    assert set(answer.json["containers"][0]) == FIELDS
    assert answer.json["next"] is None


def test_an_empty_list(edge: Edge) -> None:
    edge.services.containers.answers["list"] = []

    assert edge.request("GET /v1/containers").json == {"containers": [], "next": None}


def test_rows_of_a_list_may_be_named_tuples_in_any_order(edge: Edge) -> None:
    values = vars(container_row())
    row_type = collections.namedtuple("Row", sorted(values))
    edge.services.containers.answers["list"] = [row_type(**values)]
    in_list = edge.request("GET /v1/containers").json["containers"][0]

    assert in_list == {k: v for k, v in shown(edge).items() if k != "links"}


def test_the_next_page_is_linked_when_this_one_is_full_with_everything_that_was_asked(edge: Edge) -> None:
    edge.services.containers.answers["list"] = [container_row(), container_row()]

    answer = edge.request(
        "GET /v1/containers?limit=2&sort_key=name&sort_dir=desc&all_projects=1"
        "&status=Running&name=a%26b&name=c&auto_remove=True"
    )

    assert next_of(answer) == (
        "http://api:9517/v1/containers",
        [
            ("sort_key", "name"),
            ("sort_dir", "desc"),
            ("limit", "2"),
            ("marker", UUID),
            ("status", "Running"),
            ("name", "a&b"),
            ("name", "c"),
            ("auto_remove", "True"),
            ("all_projects", "1"),
        ],
    )


def test_a_list_asks_control_for(edge: Edge) -> None:
    edge.services.containers.answers["list"] = []

    edge.request(
        f"GET /v1/containers/?limit=5000&marker={UUID}&all_projects=True&status=Running&status=Error"
        "&auto_remove=off&host=node1"
    )

    arguments = edge.services.containers.only_call("list")
    query = arguments["query"]
    assert (query.limit, query.marker, query.sort_key, query.sort_dir) == (1000, UUID, "id", "asc")
    assert query.filters == {"status": ["Running", "Error"], "auto_remove": [False], "host": ["node1"]}
    assert arguments["all_projects"] is True


@pytest.mark.parametrize(
    ("query", "limit"), [("", 1000), ("?limit=7", 7), ("?limit=007", 7), (f"?limit={'9' * 5000}", 1000)]
)
def test_a_page_is_at_most_as_long_as_the_operator_allows(edge: Edge, query: str, limit: int) -> None:
    edge.services.containers.answers["list"] = []

    assert edge.request(f"GET /v1/containers{query}").status_code == 200
    assert edge.services.containers.only_call("list")["query"].limit == limit


# --- looking inside -----------------------------------------------------------------------------------


def test_logs_are_a_json_string(edge: Edge) -> None:
    edge.services.inspection.answers["logs"] = "hello\n𝄞\ufffd"

    answer = edge.request("GET /v1/containers/web/logs")

    assert (answer.status_code, answer.json) == (200, "hello\n𝄞\ufffd")


@pytest.mark.parametrize(
    ("line", "name", "document"),
    [
        (
            "POST /v1/containers/web/execute?command=ls",
            "execute",
            {"output": "x", "exit_code": 0, "exec_id": None, "proxy_url": None},
        ),
        ("GET /v1/containers/web/top", "top", {"Titles": ["PID"], "Processes": [["1"]]}),
        ("GET /v1/containers/web/stats", "stats", {"CONTAINER": "web", "CPU %": 0.5, "NET I/O(B)": "1/2"}),
    ],
)
def test_what_a_node_says_is_passed_on(edge: Edge, line: str, name: str, document: Any) -> None:
    edge.services.inspection.answers[name] = document

    answer = edge.request(line)

    assert (answer.status_code, answer.json) == (200, document)


# --- actions ------------------------------------------------------------------------------------------


class Action:
    action = "create"
    container_uuid = UUID
    request_id = "req-1"
    user_id = "alice"
    project_id = "p1"
    start_time = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
    finish_time = None
    message = None


class Event:
    event = "compute__do_container_create"
    start_time = datetime.datetime.fromisoformat("2026-11-01T10:00:01")
    finish_time = datetime.datetime.fromisoformat("2026-11-01T10:00:02.000005")
    result = "Success"
    traceback = "frames"


ACTION = {
    "action": "create",
    "container_uuid": UUID,
    "request_id": "req-1",
    "user_id": "alice",
    "project_id": "p1",
    "start_time": "2026-11-01T10:00:00.000000",
    "finish_time": None,
    "message": None,
}


def test_actions_of_a_container(edge: Edge) -> None:
    edge.services.actions.answers["list"] = [Action]

    answer = edge.request("GET /v1/containers/web/container_actions?ignored=1")

    assert (answer.status_code, answer.json) == (200, {"containerActions": [ACTION]})


@pytest.mark.parametrize(("may_see", "traceback"), [(True, "frames"), (False, None)])
def test_one_action_with_its_events(edge: Edge, may_see: bool, traceback: str | None) -> None:
    edge.services.actions.answers["get"] = (Action, [Event], may_see)

    answer = edge.request("GET /v1/containers/web/container_actions/req-1")

    assert answer.status_code == 200
    assert answer.json == ACTION | {
        "events": [
            {
                "event": "compute__do_container_create",
                "start_time": "2026-11-01T10:00:01.000000",
                "finish_time": "2026-11-01T10:00:02.000005",
                "result": "Success",
                "traceback": traceback,
            }
        ]
    }
    assert edge.services.actions.only_call("get")["request_id"] == "req-1"


# --- services, hosts, images ----------------------------------------------------------------------------


class Service:
    id = 1
    host = "node1"
    binary = "zun-compute"
    state = "up"
    disabled = False
    disabled_reason = None
    forced_down = False
    report_count = 12
    last_seen_up = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
    created_at = datetime.datetime.fromisoformat("2026-10-01T10:00:00")
    updated_at = None
    availability_zone = "nova"


def test_services(edge: Edge) -> None:
    edge.services.host_services.answers["list"] = [Service]

    answer = edge.request("GET /v1/services?ignored=1", version=None)

    assert answer.status_code == 200
    assert answer.json == {
        "services": [
            {
                "id": 1,
                "host": "node1",
                "binary": "zun-compute",
                "state": "up",
                "disabled": False,
                "disabled_reason": None,
                "forced_down": False,
                "report_count": 12,
                "last_seen_up": "2026-11-01T10:00:00.000000",
                "created_at": "2026-10-01T10:00:00.000000",
                "updated_at": None,
                "availability_zone": "nova",
            }
        ]
    }


class Node:
    uuid = UUID
    hostname = "node1"
    mem_total = 8000
    mem_used = 512
    cpus = 4
    cpu_used = 1.5
    disk_total = 100
    disk_used = 10
    total_containers = 3
    architecture = "x86_64"
    os_type = "linux"
    os = "Debian"
    kernel_version = "6.1"
    labels = {"dev": "true"}
    disk_quota_supported = False
    runtimes = ["runc"]
    enable_cpu_pinning = False
    rp_uuid = "not shown"


NODE = {
    name: value for name, value in vars(Node).items() if not name.startswith("__") and name != "rp_uuid"
} | {
    "links": [
        {"href": f"http://api:9517/v1/hosts/{UUID}", "rel": "self"},
        {"href": f"http://api:9517/hosts/{UUID}", "rel": "bookmark"},
    ]
}


@pytest.mark.parametrize(
    ("line", "method", "fields"),
    [
        ("enable?", "enable", {"disabled": False, "disabled_reason": None}),
        ("disable?", "disable", {"disabled": False, "disabled_reason": None}),
        ("force_down?forced_down=False&", "force_down", {"forced_down": False}),
    ],
)
def test_a_changed_service(edge: Edge, line: str, method: str, fields: dict[str, Any]) -> None:
    edge.services.host_services.answers[method] = Service

    answer = edge.request(f"PUT /v1/services/{line}host=node1&binary=zun-compute")

    assert (answer.status_code, answer.json) == (
        200,
        {"service": {"host": "node1", "binary": "zun-compute", **fields}},
    )


@pytest.mark.parametrize(
    "line", ["DELETE /v1/services?host=node1&binary=b", f"DELETE /v1/images/{UUID}", "DELETE /v1/quotas/p1"]
)
def test_deleting_what_is_an_operator_s_is_answered_with_null(edge: Edge, line: str) -> None:
    answer = edge.request(line)

    assert (answer.status_code, answer.text) == (200, "null")
    assert answer.headers["content-type"] == "application/json"


def test_availability_zones(edge: Edge) -> None:
    edge.services.zones.answers["list"] = ["a", "nova"]

    answer = edge.request("GET /v1/availability_zones?limit=2&marker=0&ignored=1", version="1.1")

    assert answer.json == {
        "availability_zones": [{"availability_zone": "a"}, {"availability_zone": "nova"}],
        "next": None,
    }
    query = edge.services.zones.only_call("list")["query"]
    assert (query.sort_key, query.limit, query.marker) == ("availability_zone", 2, "0")


def test_hosts(edge: Edge) -> None:
    edge.services.hosts.answers["list"] = [Node]

    answer = edge.request("GET /v1/hosts?limit=1&ignored=1", version="1.4")

    assert answer.status_code == 200
    assert answer.json["hosts"] == [NODE]
    assert next_of(answer) == (
        "http://api:9517/v1/hosts",
        [("sort_key", "hostname"), ("sort_dir", "asc"), ("limit", "1"), ("marker", UUID)],
    )


def test_one_host(edge: Edge) -> None:
    edge.services.hosts.answers["get"] = Node

    assert edge.request("GET /v1/hosts/node1").json == NODE


class ImageRecord:
    uuid = UUID
    repo = "nginx"
    tag = "latest"
    image_id = None
    size = None
    host = "node1"
    project_id = "p1"
    user_id = "not shown"


IMAGE = {
    "uuid": UUID,
    "repo": "nginx",
    "tag": "latest",
    "image_id": None,
    "size": None,
    "host": "node1",
    "project_id": "p1",
    "links": [
        {"href": f"http://api:9517/v1/images/{UUID}", "rel": "self"},
        {"href": f"http://api:9517/images/{UUID}", "rel": "bookmark"},
    ],
}


def test_images(edge: Edge) -> None:
    edge.services.images.answers["list"] = [ImageRecord]

    assert edge.request("GET /v1/images").json == {"images": [IMAGE], "next": None}


def test_one_image(edge: Edge) -> None:
    edge.services.images.answers["get"] = ImageRecord

    assert edge.request(f"GET /v1/images/{UUID}").json == IMAGE
    assert edge.services.images.only_call("get")["ident"] == UUID


def test_a_pull_answers_202_with_the_record_and_where_it_is(edge: Edge) -> None:
    edge.services.images.answers["pull"] = ImageRecord

    answer = edge.request("POST /v1/images?ignored=1", body={"repo": "nginx", "host": "node1"})

    assert (answer.status_code, answer.json) == (202, IMAGE)
    assert answer.headers["location"] == f"http://api:9517/v1/images/{UUID}"
