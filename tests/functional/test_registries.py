"""Registries: their life, who sees them, and how their passwords are kept."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from tests.support.client import Client
from tests.support.cloud import Cloud
from tierce.db.tables import Registry

NewCloud = Callable[..., Cloud]

SECRET = "correct-horse-battery"
DOMAIN = "reg.example.com:5000"
NOBODY = "6b9d3c5e-0000-4000-8000-000000000000"


def create(client: Client, **fields: str) -> dict[str, Any]:
    return dict(client.call("POST /registries", {"registry": {"domain": DOMAIN, **fields}})["registry"])


def tokens(cloud: Cloud) -> list[str | None]:
    return cloud.database.read(lambda session: list(session.scalars(select(Registry.password))))


def listed(client: Client, query: str = "") -> list[str]:
    return [each["name"] for each in client.call(f"GET /registries?{query}")["registries"]]


@pytest.fixture
def alice(cloud: Cloud) -> Client:
    return cloud.user("alice", project="red")


@pytest.fixture
def bob(cloud: Cloud) -> Client:
    return cloud.user("bob", project="blue")


# --- their life ---------------------------------------------------------------------------------------


def test_a_registry_is_created_where_its_location_says(alice: Client) -> None:
    body = {"registry": {"name": "mine", "domain": DOMAIN, "username": "robot", "password": SECRET}}
    answer = alice.request("POST /registries?run=true", body)
    made = answer.json["registry"]
    uuid = made["uuid"]

    assert answer.status_code == 201
    assert answer.headers["location"] == f"http://api/v1/registries/{uuid}"
    assert made == {
        "uuid": uuid,
        "name": "mine",
        "domain": DOMAIN,
        "username": "robot",
        "password": "***",
        "project_id": "red",
        "user_id": "alice",
        "links": [
            {"href": f"http://api/v1/registries/{uuid}", "rel": "self"},
            {"href": f"http://api/registries/{uuid}", "rel": "bookmark"},
        ],
    }
    for ident in (uuid, uuid.upper(), uuid.replace("-", ""), "mine"):
        assert alice.call(f"GET /registries/{ident}")["registry"] == made
    (item,) = alice.call("GET /registries")["registries"]
    assert item == {key: value for key, value in made.items() if key != "links"}


def test_a_registry_needs_no_more_than_a_domain(cloud: Cloud, alice: Client) -> None:
    made = create(alice)
    assert (made["name"], made["username"], made["password"]) == (None, None, "***")
    assert tokens(cloud) == [None]


def test_every_microversion_has_registries(alice: Client) -> None:
    body = {"registry": {"domain": DOMAIN}}
    assert alice.request("POST /registries", body, version="1.1").status_code == 201


def test_a_patch_changes_what_it_gives_and_nothing_else(cloud: Cloud, alice: Client) -> None:
    made = create(alice, name="mine", username="robot", password=SECRET)
    before = tokens(cloud)

    changed = alice.call("PATCH /registries/mine", {"registry": {"name": "ours.com"}})["registry"]
    assert changed == {**made, "name": "ours.com"}
    assert tokens(cloud) == before

    same = alice.call("PATCH /registries/ours.com", {"registry": {}})["registry"]
    assert same == changed
    alice.call("PATCH /registries/ours.com", {"registry": {"password": "another"}})
    assert tokens(cloud) != before


def test_a_password_does_not_follow_its_registry_to_another_host(cloud: Cloud, alice: Client) -> None:
    """Nobody is shown a password, and nobody may have it sent to a host of their own either."""
    uuid = create(alice, username="robot", password=SECRET)["uuid"]
    before = tokens(cloud)
    moved = {"registry": {"domain": "evil.example:5000", "name": "moved"}}
    status, code, text = alice.error(f"PATCH /registries/{uuid}", moved)
    assert (status, code) == (400, "container.invalid-value")
    assert "'domain'" in text
    assert "'password'" in text
    kept = alice.call(f"GET /registries/{uuid}")["registry"]
    assert (kept["domain"], kept["name"], tokens(cloud)) == (DOMAIN, None, before)

    alice.call(f"PATCH /registries/{uuid}", {"registry": {"domain": f"{DOMAIN.upper()}/team"}})
    alice.call(f"PATCH /registries/{uuid}", {"registry": {"domain": "new.example", "password": "other"}})
    plain = create(alice)["uuid"]
    alice.call(f"PATCH /registries/{plain}", {"registry": {"domain": "new.example"}})


def test_a_deleted_registry_is_gone_and_the_answer_is_empty(cloud: Cloud, alice: Client) -> None:
    uuid = create(alice)["uuid"]
    answer = alice.request(f"DELETE /registries/{uuid}?force=true")
    assert (answer.status_code, answer.content) == (204, b"")
    for line in (f"GET /registries/{uuid}", f"DELETE /registries/{uuid}"):
        assert alice.error(line) == (
            404,
            "container.registry-not-found",
            f"Registry {uuid} could not be found.",
        )
    assert alice.error(f"PATCH /registries/{uuid}", {"registry": {}})[0] == 404
    assert tokens(cloud) == []


def test_a_replacement_is_not_offered(alice: Client) -> None:
    answer = alice.request(f"PUT /registries/{create(alice)['uuid']}", {"registry": {}})
    assert answer.status_code == 405


def test_names_need_not_be_unique_but_must_be_to_find_one(alice: Client) -> None:
    for _ in range(2):
        create(alice, name="mine")
    status, code, text = alice.error("GET /registries/mine")
    assert (status, code) == (409, "container.conflict")
    assert "use the registry uuid" in text


def test_a_bad_request_stores_nothing(cloud: Cloud, alice: Client) -> None:
    body = {"registry": {"domain": DOMAIN, "password": SECRET * 10, "username": "robot"}}
    answer = alice.request("POST /registries", body)
    assert answer.status_code == 400
    assert SECRET not in answer.text
    assert tokens(cloud) == []


@pytest.mark.parametrize(
    "inner",
    [
        {"password": SECRET},
        [{"domain": DOMAIN, "password": SECRET}],
        {"domain": 5, "password": SECRET},
        {"domain": DOMAIN, "password": [SECRET]},
        {"domain": DOMAIN, "password": {"value": SECRET}},
        {"domain": DOMAIN, "pasword": SECRET},
    ],
)
def test_a_refusal_does_not_repeat_the_password(alice: Client, inner: Any) -> None:
    answer = alice.request("POST /registries", {"registry": inner})
    assert answer.status_code == 400
    assert SECRET not in answer.text


# --- lists --------------------------------------------------------------------------------------------


def test_lists_filter_and_the_next_page_keeps_what_was_asked(alice: Client) -> None:
    for name, username in (("r1", "robot"), ("r2", "robot"), ("r3", "human"), ("r4", "robot")):
        create(alice, name=name, username=username)

    assert listed(alice, "name=r1&name=r3") == ["r1", "r3"]
    assert listed(alice, f"domain={DOMAIN}&user_id=alice&project_id=red") == ["r1", "r2", "r3", "r4"]
    assert listed(alice, "sort_key=name&sort_dir=desc") == ["r4", "r3", "r2", "r1"]

    page = alice.call("GET /registries?username=robot&limit=2&sort_key=name")
    assert [each["name"] for each in page["registries"]] == ["r1", "r2"]
    following = alice.call("GET " + page["next"].removeprefix("http://api"))
    assert [each["name"] for each in following["registries"]] == ["r4"]
    assert following["next"] is None


@pytest.mark.parametrize("key", ["password", "nosuch", "metadata"])
def test_lists_are_sorted_by_what_is_shown_alone(alice: Client, key: str) -> None:
    assert alice.error(f"GET /registries?sort_key={key}")[:2] == (400, "container.invalid-parameter-value")


def test_a_marker_out_of_sight_is_not_found(alice: Client, bob: Client) -> None:
    for marker in (NOBODY, create(bob)["uuid"]):
        assert alice.error(f"GET /registries?marker={marker}")[:2] == (404, "container.registry-not-found")


def test_another_projects_registry_does_not_exist(cloud: Cloud, alice: Client, bob: Client) -> None:
    uuid = create(alice, name="mine")["uuid"]
    create(bob, name="his")

    assert listed(bob) == ["his"]
    for ident in (uuid, "mine"):
        assert bob.error(f"GET /registries/{ident}")[0] == 404
        assert bob.error(f"PATCH /registries/{ident}", {"registry": {"domain": "evil.example"}})[0] == 404
        assert bob.error(f"DELETE /registries/{ident}")[0] == 404
    assert cloud.client.call("GET /registries/mine")["registry"]["uuid"] == uuid
    assert listed(cloud.client) == []
    assert listed(cloud.client, "all_projects=1") == ["mine", "his"]


def test_an_operator_may_hide_a_field(cloud: Cloud, alice: Client) -> None:
    uuid = create(alice, name="mine", username="robot")["uuid"]
    cloud.policy_file.write_text('{"registry:get_one:username": "rule:context_is_admin"}')
    cloud.restart()

    assert "username" not in alice.call(f"GET /registries/{uuid}")["registry"]
    assert "username" not in alice.call("GET /registries")["registries"][0]
    for query in ("username=robot", "sort_key=username"):
        assert alice.error(f"GET /registries?{query}")[0] == 403
    assert cloud.client.call(f"GET /registries/{uuid}")["registry"]["username"] == "robot"


# --- passwords at rest ---------------------------------------------------------------------------------


def test_a_password_of_the_longest_kind_is_stored_and_used(cloud: Cloud, alice: Client) -> None:
    password = "é" * 63 + "x"
    cloud.engine.logins[DOMAIN] = {"robot": password}
    registry = create(alice, username="robot", password=password)["uuid"]
    alice.created(image="team/app", registry=registry)


def test_an_undecryptable_password_spoils_no_list_and_can_be_replaced(cloud: Cloud, alice: Client) -> None:
    uuid = create(alice, name="mine", username="robot", password=SECRET)["uuid"]
    cloud.database.write(lambda session: session.execute(update(Registry).values(password="of another key")))
    cloud.engine.logins[DOMAIN] = {"robot": SECRET}

    assert listed(alice) == ["mine"]
    assert alice.call("GET /registries/mine")["registry"]["uuid"] == uuid
    reason = alice.wait(alice.create(image="team/app", registry="mine"), "Error")["status_reason"]
    assert uuid in reason
    assert "password again" in reason

    alice.call("PATCH /registries/mine", {"registry": {"password": SECRET}})
    alice.created(image="team/app", registry="mine")
    spoilt = create(alice, password=SECRET)["uuid"]
    cloud.database.write(
        lambda session: session.execute(
            update(Registry).where(Registry.uuid == spoilt).values(password="of another key")
        )
    )
    alice.call(f"DELETE /registries/{spoilt}")
