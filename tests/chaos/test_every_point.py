"""The agent is killed at every point of every operation, and the next one finishes what it had begun.

Many actions stand still at once, each at its own point, when their agent is killed by SIGKILL.
"""

import datetime

import pytest
from sqlalchemy import func, select

from tests.chaos.conftest import HOSTS, Engines, NewStorm
from tests.support.chaos_program import Ports, SetClock
from tests.support.storm import Storm
from tests.support.victims import Story, Victim, Victims
from tests.support.waiting import until
from tierce.agent.operations import OPERATIONS
from tierce.db import actions
from tierce.db.tables import Container, ContainerAction, Image
from tierce.images.committed import name_for
from tierce.images.reference import parse
from tierce.runtimes.fake import FakeEngine

WORKERS = 400
"""More than there are actions that stand still."""

STORIES = [
    Story("create", (), "Running"),
    Story("create", (), "Created", run=False, starts=0),
    Story("create", (), "Running", nets=("own", "web"), networks=2),
    Story("start", ("POST /start",), "Running", run=False),
    Story("start", ("POST /stop", "POST /start"), "Running", starts=2),
    Story("stop", ("POST /stop",), "Stopped"),
    Story("reboot", ("POST /reboot",), "Running", starts=2),
    Story("pause", ("POST /pause",), "Paused"),
    Story("unpause", ("POST /pause", "POST /unpause"), "Running"),
    Story("kill", ("POST /kill",), "Stopped"),
    Story("delete", ("DELETE ",), None, run=False),
    Story("delete", ("DELETE ?stop=true",), None),
    Story("delete", ("DELETE ?force=true",), None),
    Story("rebuild", ("POST /rebuild",), "Running"),
    Story("rebuild", ("POST /rebuild?image=busybox:other",), "Created", run=False, starts=0),
    Story("resize", ("POST /resize_container?memory=128&cpu=0.5",), "Running", memory=128),
    Story("commit", ("POST /commit?repository=copy&tag=1",), "Running", commits=True),
    Story("network_attach", ("POST /network_attach?network=web",), "Running", networks=2),
    Story("network_detach", ("POST /network_detach?network=web",), "Running", nets=("own", "web")),
    Story(
        "add_security_group",
        ("POST /add_security_group?name=web",),
        "Running",
        groups=("web",),
        version="1.14",
    ),
    Story(
        "remove_security_group",
        (
            "POST /add_security_group?name=web",
            "POST /add_security_group?name=db",
            "POST /remove_security_group?name=web",
        ),
        "Running",
        groups=("db",),
        version="1.14",
    ),
]


def test_each_operation_has_a_story() -> None:
    """An operation that comes later must not be forgotten here."""
    assert {story.action for story in STORIES} == OPERATIONS.keys()


@pytest.mark.parametrize("database", ["mariadb", "postgresql"])
def test_agents_killed_at_each_point_of_each_operation(
    new_storm: NewStorm, engines: Engines, database: str
) -> None:
    storm = new_storm(database, agent={"workers": WORKERS}, network={"address_pool": ""})
    victims = Victims(storm.programs, storm.directory)
    unharmed = [victims.new(story) for story in STORIES]
    play(storm, victims, unharmed)
    storm.wait_rest()
    assert all(victims.points(each) for each in unharmed)

    harmed = [
        victims.new(each.story, at) for each in unharmed for at in range(1, len(victims.points(each)) + 1)
    ]
    play(storm, victims, harmed)
    victims.wait_cut_short(harmed)
    for host in HOSTS:
        storm.programs.agents[host].kill()
    storm.faults = len(harmed)
    for host in HOSTS:
        storm.programs.agents[host].start()

    def differences() -> list[str]:
        everybody = [*unharmed, *harmed]
        sentences = [
            f"{host} has an image that nobody can name"
            for host, engine in engines.items()
            for facts in engine.images.values()
            if not facts.tags
        ]
        return sentences + [
            each for victim in everybody for each in wrong(storm, victims.ports, engines[victim.host], victim)
        ]

    storm.account(f"kill -9 of an agent at a point of an action ({database})", victims.record, differences)


def play(storm: Storm, victims: Victims, cast: list[Victim]) -> None:
    """Ask for everything of each of them, all at the same time for what is to be cut short."""
    longest = max(len(each.story.asks) for each in cast)
    for turn in range(longest):
        early = [each for each in cast if turn < len(each.story.asks)]
        victims.ask(early, turn)
        storm.wait_rest()
    wait_next_second(storm)
    for turn in range(longest + 1):
        victims.ask([each for each in cast if turn == len(each.story.asks)], turn)


def wait_next_second(storm: Storm) -> None:
    """The database keeps the second of a start: one in the same second would pass for the one before."""

    def newest() -> datetime.datetime:
        started = storm.database.read(lambda session: session.scalar(select(func.max(Container.started_at))))
        assert isinstance(started, datetime.datetime)
        return started

    over = newest() + datetime.timedelta(seconds=1)
    until(SetClock(storm.directory).now, lambda now: now >= over)


def wrong(storm: Storm, ports: Ports, engine: FakeEngine, victim: Victim) -> list[str]:
    """Sentences about what is not as it must be with one of them."""
    story, row, found = victim.story, row_of(storm, victim), engine.find(f"zun-{victim.uuid}")
    if row is None or found is None:
        here = row is not None or found is not None
        return [f"{victim}: is there: {here}"] if here or story.ends is not None else []
    told = {
        "status": row.status,
        "reason": row.status_reason,
        "networks": len(row.addresses),
        "memory": int(row.memory or 0),
        "groups": list(row.security_groups),
        "images": images_of(storm, victim),
        "actions": ended(storm, victim),
    }
    done = {
        "starts": len(found.log),
        "networks": len(found.addresses),
        "memory": found.spec.memory,
        "groups": ports.groups(victim.uuid),
        "images": [facts.id for name, facts in engine.images.items() if name == image_name(victim)],
    }
    expected = {
        "status": story.ends,
        "reason": None,
        "starts": story.starts,
        "networks": story.networks,
        "memory": story.memory,
        "groups": list(story.groups),
        "images": done["images"] if story.commits else [],
        "actions": [actions.State.FINISHED] * (len(story.asks) + 1),
    }
    return [
        f"{victim}: {what} is {value!r}, and not {expected[what]!r}"
        for what, value in (*told.items(), *done.items())
        if value != expected[what]
    ]


def row_of(storm: Storm, victim: Victim) -> Container | None:
    return storm.database.read(
        lambda session: session.scalar(select(Container).where(Container.uuid == victim.uuid))
    )


def ended(storm: Storm, victim: Victim) -> list[str | None]:
    """How each of its actions ended."""
    states = select(ContainerAction.state).where(ContainerAction.container_uuid == victim.uuid)
    return storm.database.read(lambda session: list(session.scalars(states)))


def images_of(storm: Storm, victim: Victim) -> list[str | None]:
    """The ids of images that were made of it, by their records."""
    ids = select(Image.image_id).where(Image.project_id == victim.name)
    return storm.database.read(lambda session: list(session.scalars(ids)))


def image_name(victim: Victim) -> str:
    """What the engine calls the image that is made of it."""
    return name_for(victim.name, parse("copy:1")).engine_name
