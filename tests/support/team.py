"""One service with passwords on the session's Engine, and the people who use it."""

import dataclasses
import pathlib
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.engines import url
from tests.support.service import Http, Service, running
from tests.support.waiting import until

PEOPLE = {
    "olga": ("ops", "admin"),
    "ann": ("red", "member"),
    "rita": ("red", "reader"),
    "bob": ("blue", "member"),
}
"""Name -> project and role."""


@dataclasses.dataclass(frozen=True)
class Team:
    service: Service
    passwords: dict[str, str] = dataclasses.field(repr=False)

    def client(self, name: str) -> Http:
        return Http(self.service, (name, self.passwords[name]))

    def delete_all(self) -> None:
        """Remove every container of every project."""
        delete_all(self.client("olga"))


def delete_all(administrator: Http) -> None:
    """Remove every container of every project, and wait until they are gone."""

    def containers() -> list[dict[str, Any]]:
        body = administrator.call("GET", "/containers?all_projects=true")
        return list(body["containers"])

    for container in containers():
        administrator.raw("DELETE", f"/containers/{container['uuid']}?force=true")
    until(lambda: not containers())


@pytest.fixture(scope="session")
def team(docker_engine_directory: pathlib.Path) -> Iterator[Team]:
    """The service runs for the session, in a home as `tierce home init` makes it."""
    # The Engine may see nothing but its own directory, and has to see the volumes.
    service = Service(
        docker_engine_directory / "team",
        url(docker_engine_directory),
        auth_strategy="http_basic",
        options={"docker": {"execute_timeout": 5}},
    )
    service.configure()
    service.tierce("home", "init", "--home", str(service.home))
    passwords = {name: secrets.token_urlsafe(12) for name in PEOPLE}
    for name, (project, role) in PEOPLE.items():
        service.add_user(name, project, role, passwords[name])
    with running(service):
        yield Team(service, passwords)


@pytest.fixture
def _cleared(team: Team) -> Iterator[None]:
    yield
    team.delete_all()


@pytest.fixture
def ann(team: Team, _cleared: None) -> Http:
    """A member of the project red; all containers are deleted at the end."""
    return team.client("ann")


@pytest.fixture
def bob(team: Team, _cleared: None) -> Http:
    """A member of the project blue; all containers are deleted at the end."""
    return team.client("bob")
