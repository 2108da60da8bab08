"""Who may see and do what, with the passwords, projects and roles that `tierce user` gives."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.support.containers import FOREVER, run
from tests.support.engines import BUSYBOX
from tests.support.service import Http
from tests.support.team import Team
from tests.support.waiting import until

ADMIN_FIELDS = {"host", "image_pull_policy", "privileged", "runtime"}

READING = ["GET ", "GET /logs", "GET /top", "GET /stats", "GET /container_actions"]
CHANGING = [
    "DELETE ",
    "DELETE ?stop=true",
    "POST /start",
    "POST /stop",
    "POST /reboot",
    "POST /pause",
    "POST /unpause",
    "POST /kill",
    "POST /execute?command=true",
]
"""Requests on one container: method, and what follows its path."""


@pytest.fixture(scope="module")
def container(team: Team) -> Iterator[dict[str, Any]]:
    """A running container of ann's; nothing here may change it."""
    ann = team.client("ann")
    yield ann.wait(ann.create(name="web", image=BUSYBOX, command=FOREVER), "Running")
    team.delete_all()


@pytest.fixture
def unchanged(team: Team, container: dict[str, Any]) -> Iterator[None]:
    yield
    found = team.client("ann").call("GET", f"/containers/{container['uuid']}")
    assert (found["status"], found["name"], found["task_state"]) == ("Running", "web", None)


def ask(user: Http, request: str, ident: str) -> requests.Response:
    method, _, rest = request.partition(" ")
    return user.raw(method, f"/containers/{ident}{rest}")


class TestPasswords:
    @pytest.mark.parametrize("auth", [("ann", "wrong"), ("nobody", "wrong"), ("ann", ""), None])
    def test_who_has_none_that_is_right_is_nobody(self, team: Team, auth: tuple[str, str] | None) -> None:
        answer = Http(team.service, auth).raw("GET", "/containers")
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")

    def test_users_come_and_go_while_the_service_runs(self, team: Team) -> None:
        team.service.add_user("tom", "red", "member", "tom's own")
        tom = Http(team.service, ("tom", "tom's own"))
        assert tom.raw("GET", "/containers").status_code == 200
        team.service.tierce("user", "remove", "tom")
        assert tom.raw("GET", "/containers").status_code == 401

    def test_none_is_in_the_log(self, team: Team) -> None:
        assert not [name for name, password in team.passwords.items() if password in team.service.log]


@pytest.mark.usefixtures("unchanged")
class TestProjects:
    @pytest.mark.parametrize("request_", READING + CHANGING)
    @pytest.mark.parametrize("key", ["uuid", "name"])
    def test_one_does_not_find_the_other_s_container(
        self, team: Team, container: dict[str, Any], request_: str, key: str
    ) -> None:
        answer = ask(team.client("bob"), request_, container[key])
        assert answer.status_code == 404
        assert answer.json()["errors"][0]["code"] == "container.container-not-found"

    def test_a_list_has_one_s_own_alone(self, team: Team, container: dict[str, Any]) -> None:
        listed = {
            name: [each["uuid"] for each in team.client(name).call("GET", "/containers")["containers"]]
            for name in ("ann", "rita", "bob", "olga")
        }
        assert listed == {"ann": [container["uuid"]], "rita": [container["uuid"]], "bob": [], "olga": []}

    def test_a_name_may_be_used_in_each(self, team: Team, container: dict[str, Any]) -> None:
        bob, olga = team.client("bob"), team.client("olga")
        ident = bob.create(name="web", image=BUSYBOX, run=False)
        assert bob.call("GET", "/containers/web")["uuid"] == ident
        assert team.client("ann").call("GET", "/containers/web")["uuid"] == container["uuid"]
        assert olga.raw("GET", "/containers/web").status_code == 409
        bob.wait(ident, "Created")
        bob.call("DELETE", "/containers/web")
        bob.wait(ident, None)


@pytest.mark.usefixtures("unchanged")
class TestMembers:
    def test_they_do_not_see_what_is_the_administrator_s(self, team: Team, container: dict[str, Any]) -> None:
        ann = team.client("ann")
        [listed] = ann.call("GET", "/containers")["containers"]
        assert not ADMIN_FIELDS & (set(container) | set(listed))

    @pytest.mark.parametrize(
        "path",
        [
            "/containers?all_projects=true",
            "/containers?host=node1",
            "/containers?sort_key=host",
            "/hosts",
            "/hosts/node1",
            "/services",
            "/images",
        ],
    )
    def test_they_may_not_look_there(self, team: Team, path: str) -> None:
        assert team.client("ann").raw("GET", path).status_code == 403

    @pytest.mark.parametrize(
        "field",
        [{"host": "node1"}, {"image_pull_policy": "never"}, {"privileged": True}, {"runtime": "runc"}],
    )
    def test_they_may_not_ask_for_it(self, team: Team, field: dict[str, Any]) -> None:
        body = {"image": BUSYBOX, **field}
        assert team.client("ann").raw("POST", "/containers", json=body).status_code == 403

    def test_they_may_not_delete_by_force(self, team: Team, container: dict[str, Any]) -> None:
        assert ask(team.client("ann"), "DELETE ?force=true", container["uuid"]).status_code == 403

    def test_they_may_not_pull_images(self, team: Team) -> None:
        body = {"repo": BUSYBOX, "host": "node1"}
        assert team.client("ann").raw("POST", "/images", json=body).status_code == 403


class TestAdministrators:
    @pytest.mark.usefixtures("unchanged")
    def test_they_see_every_project_s_containers(self, team: Team, container: dict[str, Any]) -> None:
        olga = team.client("olga")
        listed = olga.call("GET", "/containers?all_projects=true")["containers"]
        assert [each["uuid"] for each in listed] == [container["uuid"]]
        assert listed[0]["project_id"] == "red"
        assert set(listed[0]) >= ADMIN_FIELDS
        assert olga.call("GET", f"/containers/{container['uuid']}?all_projects=true")["host"] == "node1"

    def test_they_manage_every_project_s_containers(self, team: Team) -> None:
        ann, olga = team.client("ann"), team.client("olga")
        ident = run(ann)
        assert ask(olga, "POST /execute?command=true", ident).json()["exit_code"] == 0
        assert ask(olga, "DELETE ?force=true&all_projects=true", ident).status_code == 204
        ann.wait(ident, None)

    def test_nobody_gets_a_privileged_container(self, team: Team) -> None:
        body = {"image": BUSYBOX, "privileged": True}
        assert team.client("olga").raw("POST", "/containers", json=body).status_code == 403


@pytest.mark.usefixtures("unchanged")
class TestReaders:
    @pytest.mark.parametrize("request_", READING)
    def test_they_read(self, team: Team, container: dict[str, Any], request_: str) -> None:
        assert ask(team.client("rita"), request_, container["uuid"]).status_code == 200

    @pytest.mark.parametrize("request_", CHANGING)
    def test_they_change_nothing(self, team: Team, container: dict[str, Any], request_: str) -> None:
        assert ask(team.client("rita"), request_, container["uuid"]).status_code == 403

    def test_they_create_nothing(self, team: Team) -> None:
        assert team.client("rita").raw("POST", "/containers", json={"image": BUSYBOX}).status_code == 403


def test_a_running_service_sees_a_change_of_the_policy(team: Team) -> None:
    ann, policy = team.client("ann"), team.service.home / "policy.yaml"
    ident = run(ann)
    assert ask(ann, "DELETE ?force=true", ident).status_code == 403
    before = policy.read_text()
    try:
        policy.write_text(before.replace('# "container:delete_force"', '"container:delete_force"'))
        until(lambda: ask(ann, "DELETE ?force=true", ident).status_code == 204)
    finally:
        policy.write_text(before)
    ann.wait(ident, None)
