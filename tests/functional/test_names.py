"""Names of containers: unique where the operator says so, whoever asks at the same moment."""

import random
import uuid as uuids
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import update

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tests.support.threads import at_once
from tierce.control import naming
from tierce.db.tables import Container

NewCloud = Callable[..., Cloud]


def unique_in(scope: str) -> dict[str, dict[str, object]]:
    return {"compute": {"unique_container_name_scope": scope}}


def create(client: Client, name: str) -> int:
    return int(client.request("POST /containers", {"image": IMAGE, "name": name}).status_code)


def rename(client: Client, ident: str, name: str) -> int:
    return int(client.request(f"POST /containers/{ident}/rename?name={name}", version="1.13").status_code)


def test_of_many_creates_of_one_name_exactly_one_is_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    answers = at_once([lambda: create(cloud.client, "web")] * 50)
    assert Counter(answers) == {202: 1, 409: 49}
    assert len(cloud.rows()) == len(cloud.claims()) == 1


def test_of_many_spellings_of_one_name_exactly_one_is_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    spellings = ["web", "WEB", "Web", "wEB"]
    assert Counter(at_once([lambda name=name: create(cloud.client, name) for name in spellings])) == {
        202: 1,
        409: 3,
    }


def test_of_two_renames_to_one_name_one_is_accepted(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    for name in ("web", "api", "db"):
        uuids = [cloud.client.created(name=f"{name}{i}") for i in range(2)]
        answers = at_once([lambda uuid=uuid, name=name: rename(cloud.client, uuid, name) for uuid in uuids])
        assert Counter(answers) == {200: 1, 409: 1}
        names = {(cloud.client.show(uuid) or {})["name"] for uuid in uuids}
        assert (len(names), name in names) == (2, True)


def test_a_create_and_a_rename_race_for_a_name(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    uuid = cloud.client.created(name="old")
    answers = at_once([lambda: rename(cloud.client, uuid, "new"), lambda: create(cloud.client, "new")])
    assert sorted(answers) in ([200, 409], [202, 409])


@pytest.mark.parametrize(("scope", "second"), [("project", 202), ("global", 409), ("", 202)])
def test_a_name_of_another_project(new_cloud: NewCloud, scope: str, second: int) -> None:
    cloud = new_cloud(**unique_in(scope))
    alice, bob = cloud.user("alice", project="p1"), cloud.user("bob", project="p2")
    assert [create(alice, "web"), create(bob, "Web")] == [202, second]


def test_a_global_name_is_refused_to_a_rename_too(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("global"))
    alice, bob = cloud.user("alice", project="p1"), cloud.user("bob", project="p2")
    alice.created(name="web")
    assert rename(bob, bob.created(name="api"), "WEB") == 409


def test_an_administrator_s_rename_counts_in_the_container_s_project(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    alice = cloud.user("alice", project="p1")
    cloud.client.created(name="web")
    uuid = alice.created(name="api")
    alice.created(name="db")
    assert rename(cloud.client, uuid, "db") == 409
    assert rename(cloud.client, uuid, "web") == 200


@pytest.mark.parametrize(("before", "now"), [("", "project"), ("", "global"), ("project", "global")])
def test_names_from_before_they_had_to_be_unique_count(new_cloud: NewCloud, before: str, now: str) -> None:
    cloud = new_cloud(**unique_in(before))
    uuid = cloud.client.created(name="web")
    cloud.configure(**unique_in(now))
    cloud.restart()
    asking = cloud.client if now == "project" else cloud.user("alice", project="p1")
    assert create(asking, "WEB") == 409
    assert rename(asking, asking.created(name="api"), "Web") == 409
    assert rename(cloud.client, uuid, "Web") == 200


def test_the_former_name_of_one_that_the_reference_renamed_is_free(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    uuid = cloud.client.created(name="web")
    renaming = update(Container).where(Container.uuid == uuid).values(name="shop")
    cloud.database.write(lambda session: session.execute(renaming))
    assert [create(cloud.client, name) for name in ("Shop", "web", "WEB")] == [409, 202, 409]


def test_a_container_without_a_name_gets_one_that_is_free(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("global"))
    usual = {next(naming.candidates(random.Random(seed))) for seed in range(10_000)}
    rows = [
        Container(uuid=str(uuids.uuid4()), name=name, status="Error", container_type=0, generation=0)
        for name in usual
    ]
    cloud.database.write(lambda session: session.add_all(rows))
    found = cloud.client.show(cloud.client.created()) or {}
    assert found["name"] not in usual


def test_the_refusal_names_the_name(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    cloud.client.created(name="web")
    assert cloud.client.error("POST /containers", {"image": IMAGE, "name": "WEB"}) == (
        409,
        "container.container-already-exists",
        "A container with name web already exists.",
    )


def test_a_name_is_free_again_when_its_container_is_gone(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    uuid = cloud.client.created(name="web")
    cloud.client.call(f"DELETE /containers/{uuid}")
    cloud.client.wait_gone(uuid)
    assert create(cloud.client, "web") == 202


def test_a_container_may_change_the_case_of_its_name_but_not_keep_it(new_cloud: NewCloud) -> None:
    cloud = new_cloud(**unique_in("project"))
    uuid = cloud.client.created(name="web")
    assert rename(cloud.client, uuid, "Web") == 200
    assert cloud.client.error(f"POST /containers/{uuid}/rename?name=Web", version="1.13") == (
        409,
        "container.conflict",
        "The new name for the container is the same as the old name.",
    )


# --- finding by name ------------------------------------------------------------------------------


def test_a_name_that_two_have_is_a_conflict_for_every_action(cloud: Cloud, client: Client) -> None:
    for _ in range(2):
        client.created(name="twin")
    for line in ("GET /containers/twin", "POST /containers/twin/start", "DELETE /containers/twin"):
        status, code, text = client.error(line)
        assert (status, code) == (409, "container.conflict")
        assert "Multiple containers exist with same name" in text


def test_an_administrator_s_own_container_comes_before_others_of_the_same_name(
    cloud: Cloud, client: Client
) -> None:
    theirs = cloud.user("alice", project="p1").created(name="web")
    assert (client.show("web") or {})["uuid"] == theirs
    own = client.created(name="web")
    assert (client.show("web") or {})["uuid"] == own
    client.call("DELETE /containers/web")
    client.wait_gone(own)
    assert (client.show("web") or {})["uuid"] == theirs


def test_a_container_is_found_by_every_spelling_of_its_uuid(cloud: Cloud, client: Client) -> None:
    uuid = client.created(name="web")
    for spelling in (uuid.upper(), uuid.replace("-", ""), f"%7B{uuid}%7D", f"urn:uuid:{uuid}"):
        assert (client.show(spelling) or {})["uuid"] == uuid


def test_a_name_that_looks_like_a_uuid_is_a_name(cloud: Cloud, client: Client) -> None:
    uuid = client.created(name="0" * 32)
    assert (client.show("0" * 32) or {})["uuid"] == uuid


def test_other_projects_containers_are_not_found(cloud: Cloud) -> None:
    theirs = cloud.user("alice", project="p1").created(name="web")
    bob = cloud.user("bob", project="p2")
    for ident in (theirs, "web"):
        assert bob.error(f"GET /containers/{ident}") == (
            404,
            "container.container-not-found",
            f"Container {ident} could not be found.",
        )
