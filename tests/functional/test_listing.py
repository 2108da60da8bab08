"""Lists of containers: pages, filters and whose they are."""

import datetime
import uuid as uuids
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import delete, text

from tests.support.client import Client
from tests.support.cloud import ADMIN, Cloud
from tierce.db.tables import Container

NewCloud = Callable[..., Cloud]


def fill(cloud: Cloud, *rows: dict[str, Any]) -> list[str]:
    """Containers that no node has, since a list only reads; their uuids."""
    defaults = {"project_id": "admin", "status": "Error", "container_type": 0, "generation": 0}
    containers = [Container(uuid=str(uuids.uuid4()), **{**defaults, **row}) for row in rows]
    cloud.database.write(lambda session: session.add_all(containers))
    return [container.uuid for container in containers]


def names(client: Client, query: str = "") -> list[str]:
    return [each["name"] for each in client.call(f"GET /containers?{query}")["containers"]]


def follow(client: Client, query: str) -> list[list[dict[str, Any]]]:
    """The pages of a list, by its own links."""
    pages, line = [], f"GET /containers?{query}"
    for _ in range(50):
        page = client.call(line)
        pages.append(page["containers"])
        if page["next"] is None:
            return pages
        link = urlsplit(page["next"])
        assert (link.netloc, link.path) == ("api", "/v1/containers")
        line = f"GET /containers?{link.query}"
    pytest.fail("the pages do not end")


# --- pages ----------------------------------------------------------------------------------------


def test_pages_have_every_container_once(cloud: Cloud, client: Client) -> None:
    expected = fill(cloud, *({"name": f"c{i:02d}"} for i in range(25)))
    pages = follow(client, "limit=10")
    assert [len(page) for page in pages] == [10, 10, 5]
    assert [each["uuid"] for page in pages for each in page] == expected


def test_a_page_that_is_just_full_is_followed_by_an_empty_one(cloud: Cloud, client: Client) -> None:
    fill(cloud, *({"name": f"c{i}"} for i in range(4)))
    assert [len(page) for page in follow(client, "limit=2")] == [2, 2, 0]


def test_the_next_page_is_of_the_same_list(cloud: Cloud, client: Client) -> None:
    """The link has everything that was asked for, or the second page would be of another list."""
    cloud.user("alice", project="p1")
    for project in ("admin", "p1"):
        fill(cloud, *({"name": n, "project_id": project, "status": "Error"} for n in ("b", "a&b", "a")))
        fill(cloud, {"name": "stopped", "project_id": project, "status": "Stopped"})
    query = "limit=1&sort_key=name&sort_dir=desc&all_projects=true&status=Error&name=a%26b&name=b"

    pages = follow(client, query)

    assert [(each["name"], each["status"]) for page in pages for each in page] == [
        ("b", "Error"),
        ("b", "Error"),
        ("a&b", "Error"),
        ("a&b", "Error"),
    ]
    link = parse_qs(urlsplit(client.call(f"GET /containers?{query}")["next"]).query)
    assert link.pop("marker")
    assert link == {
        "limit": ["1"],
        "sort_key": ["name"],
        "sort_dir": ["desc"],
        "all_projects": ["1"],
        "status": ["Error"],
        "name": ["a&b", "b"],
    }


def test_a_container_deleted_between_pages_makes_no_other_appear_twice(cloud: Cloud, client: Client) -> None:
    expected = fill(cloud, *({"name": f"c{i}"} for i in range(6)))
    first = client.call("GET /containers?limit=2")
    client.call(f"DELETE /containers/{expected[0]}")
    client.call(f"DELETE /containers/{expected[3]}")
    rest = follow(client, urlsplit(first["next"]).query)
    assert [each["uuid"] for page in rest for each in page] == [expected[i] for i in (2, 4, 5)]


def test_a_marker_that_is_gone_is_not_found(cloud: Cloud, client: Client) -> None:
    first, _ = fill(cloud, {"name": "a"}, {"name": "b"})
    client.call(f"DELETE /containers/{first}")
    assert client.error(f"GET /containers?marker={first}")[:2] == (404, "container.container-not-found")


def test_a_marker_of_another_project_is_not_found(cloud: Cloud) -> None:
    (theirs,) = fill(cloud, {"name": "a", "project_id": "p2"})
    alice = cloud.user("alice", project="p1")
    assert alice.error(f"GET /containers?marker={theirs}")[:2] == (404, "container.container-not-found")


@pytest.mark.parametrize("limit", ["0", "-1", "x", "", "1.5", "%2B1"])
def test_a_limit_is_a_positive_integer(client: Client, limit: str) -> None:
    assert client.error(f"GET /containers?limit={limit}") == (
        400,
        "container.invalid-value",
        "Limit must be positive integer",
    )


def test_the_largest_page_is_the_operator_s(new_cloud: NewCloud) -> None:
    cloud = new_cloud(api={"max_limit": 3})
    fill(cloud, *({"name": f"c{i}"} for i in range(5)))
    for query in ("", "limit=4", "limit=99999999999999999999999"):
        assert [len(page) for page in follow(cloud.client, query)] == [3, 2]


# --- order ----------------------------------------------------------------------------------------


def test_a_row_that_makes_no_sense_spoils_no_list(cloud: Cloud) -> None:
    client = Client(lambda: cloud.served, ADMIN, documented=lambda: False)
    fill(cloud, {"name": "before"}, {"name": "odd", "status": "Melting"}, {"name": "after"})
    broken = text("UPDATE container SET environment = '{', ports = '7', cpuset = '[1]' WHERE name = 'odd'")
    cloud.database.write(lambda session: session.execute(broken))
    assert names(client) == ["before", "odd", "after"]
    assert (client.show("odd") or {})["environment"] == {}
    cloud.database.write(lambda session: session.execute(delete(Container).where(Container.name == "odd")))


def test_values_that_are_missing_come_first(cloud: Cloud, client: Client) -> None:
    moment = datetime.datetime.fromisoformat("2026-11-01T10:00:00")
    fill(
        cloud,
        {"name": "old", "started_at": moment, "cpu": 2.0},
        {"name": "never", "started_at": None, "cpu": None},
        {"name": "new", "started_at": moment + datetime.timedelta(days=1), "cpu": 0.5},
    )
    assert names(client, "sort_key=started_at") == ["never", "old", "new"]
    assert names(client, "sort_key=started_at&sort_dir=desc") == ["new", "old", "never"]
    assert names(client, "sort_key=cpu") == ["never", "new", "old"]


def test_yes_and_no_can_be_sorted_and_paged_by(cloud: Cloud, client: Client) -> None:
    fill(cloud, *({"name": f"c{i}", "interactive": bool(i % 2)} for i in range(4)))
    pages = follow(client, "sort_key=interactive&limit=1&sort_dir=desc")
    assert [each["name"] for page in pages for each in page] == ["c3", "c1", "c2", "c0"]


def test_every_field_that_is_one_value_can_be_sorted_by(client: Client) -> None:
    shown = client.show(client.created()) or {}
    plain = [field for field, value in shown.items() if not isinstance(value, dict | list)]
    assert "registry_id" in plain
    for field in plain:
        assert len(client.call(f"GET /containers?sort_key={field}")["containers"]) == 1


@pytest.mark.parametrize("key", ["websocket_token", "name_key", "labels", "nosuch"])
def test_only_what_is_shown_can_be_sorted_by(client: Client, key: str) -> None:
    assert client.error(f"GET /containers?sort_key={key}") == (
        400,
        "container.invalid-parameter-value",
        f'The sort_key value "{key}" is an invalid field for sorting',
    )


# --- filters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("name=web", ["web"]),
        ("name=WEB", []),
        ("name=web&name=db", ["web", "db"]),
        ("image=nginx", ["web"]),
        ("user_id=u2", ["db"]),
        ("memory=512", ["db"]),
        ("status=Error", ["web", "tmp"]),
        ("status=Stopped&status=Error&name=db", ["db"]),
        ("task_state=container_stopping", ["tmp"]),
        ("host=h2", ["db"]),
        ("auto_remove=true", ["tmp"]),
        ("auto_remove=False", ["web", "db"]),
        ("auto_remove=1", ["tmp"]),
        ("project_id=p1", []),
        ("name=", []),
    ],
)
def test_a_filter_matches_exactly(cloud: Cloud, client: Client, query: str, expected: list[str]) -> None:
    fill(
        cloud,
        {
            "name": "web",
            "image": "nginx",
            "user_id": "u1",
            "host": "node1",
            "memory": "64",
            "auto_remove": False,
        },
        {
            "name": "db",
            "image": "postgres",
            "user_id": "u2",
            "host": "h2",
            "memory": "512",
            "auto_remove": False,
            "status": "Stopped",
        },
    )
    # This one is in the middle of something.
    (busy,) = fill(
        cloud, {"name": "tmp", "task_state": "container_stopping", "host": "node1", "auto_remove": True}
    )
    assert names(client, query) == expected
    client.call(f"DELETE /containers/{busy}?force=true")


def test_an_unknown_parameter_is_refused_by_name(client: Client) -> None:
    assert client.error("GET /containers?resource_url=http://evil&statu=x") == (
        400,
        "container.invalid-value",
        "Unknown parameters: resource_url, statu",
    )


def test_a_filter_that_is_no_boolean_is_refused(client: Client) -> None:
    assert client.error("GET /containers?auto_remove=perhaps")[0] == 400


# --- whose they are -------------------------------------------------------------------------------


def test_a_list_is_the_project_s_unless_an_administrator_asks_for_all(cloud: Cloud, client: Client) -> None:
    fill(cloud, {"name": "ours"}, {"name": "theirs", "project_id": "p1"})
    alice = cloud.user("alice", project="p1")
    assert names(alice) == ["theirs"]
    assert names(client) == names(client, "all_projects=false") == ["ours"]
    assert names(client, "all_projects=1") == names(client, "all_projects=True") == ["ours", "theirs"]
    assert names(client, "all_projects=true&project_id=p1") == ["theirs"]


def test_all_projects_are_for_administrators(cloud: Cloud) -> None:
    alice = cloud.user("alice", project="p1")
    assert alice.error("GET /containers?all_projects=true") == (
        403,
        "container.policy-not-authorized",
        "Policy doesn't allow container:get_all_all_projects to be performed.",
    )


@pytest.mark.parametrize("value", ["perhaps", "2"])
def test_all_projects_is_yes_or_no(client: Client, value: str) -> None:
    status, code, text = client.error(f"GET /containers?all_projects={value}")
    assert (status, code) == (400, "container.invalid-value")
    assert text.startswith("Valid all_projects values are")


@pytest.mark.parametrize("field", ["host", "image_pull_policy", "privileged", "runtime"])
def test_members_do_not_see_what_is_the_operator_s(cloud: Cloud, field: str) -> None:
    alice = cloud.user("alice", project="p1")
    uuid = alice.created()
    assert field not in (alice.show(uuid) or {field: None})
    assert all(field not in each for each in alice.call("GET /containers")["containers"])
    assert field in (cloud.client.show(uuid) or {})
    assert field in cloud.client.call("GET /containers?all_projects=1")["containers"][0]


def test_who_asks_for_one_list_at_a_time_sees_each_what_he_may(cloud: Cloud) -> None:
    """A long list is kept for a moment, also for others: not what only some of them may see."""
    alice, boss = cloud.user("alice", project="p1"), cloud.user("boss", project="p1", role="admin")
    alice.created()
    for client, sees in ((boss, True), (alice, False), (boss, True)):
        (listed,) = client.call("GET /containers")["containers"]
        assert ("host" in listed) is sees


def test_members_cannot_find_out_hosts_by_filter_or_order(cloud: Cloud) -> None:
    alice = cloud.user("alice", project="p1")
    for query in ("host=node1", "sort_key=host", "sort_key=runtime"):
        status, code, text = alice.error(f"GET /containers?{query}")
        assert (status, code) == (403, "container.policy-not-authorized")
        assert text.startswith("Policy doesn't allow container:get_one:")


# --- the other lists ------------------------------------------------------------------------------


def test_hosts_are_paged_by_name(new_cloud: NewCloud) -> None:
    cloud = new_cloud(hosts=("n1", "n2", "n3"))
    first = cloud.client.call("GET /hosts?limit=2")
    second = cloud.client.call(f"GET /hosts?{urlsplit(first['next']).query}")
    assert [each["hostname"] for each in (*first["hosts"], *second["hosts"])] == ["n1", "n2", "n3"]
    assert second["next"] is None
    assert cloud.client.error(f"GET /hosts?marker={uuids.uuid4()}")[:2] == (
        404,
        "container.compute-node-not-found",
    )


def test_images_are_the_project_s_own_pulls(cloud: Cloud, client: Client) -> None:
    for repo in ("nginx", "reg:5000/app:1", "nginx:1.27"):
        client.call("POST /images", {"repo": repo, "host": "node1"})
    other = cloud.user("root", project="p1", role="admin")
    assert other.call("GET /images")["images"] == []
    found = client.call("GET /images?sort_key=repo")["images"]
    assert [(each["repo"], each["tag"]) for each in found] == [
        ("nginx", "latest"),
        ("nginx", "1.27"),
        ("reg:5000/app", "1"),
    ]
