"""Random requests from several threads at once, and an engine that does things by itself.

Whatever the order, in the end every action has ended, and the database says what the engine says.
"""

import dataclasses
import random
import threading
from collections.abc import Callable

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud, Killed
from tests.support.threads import at_once
from tests.support.waiting import until

NewCloud = Callable[..., Cloud]

REQUESTS = [
    *(f"POST /containers/{{}}/{action}" for action in ("start", "stop", "pause", "unpause", "reboot")),
    "POST /containers/{}/kill",
    "POST /containers/{}/kill?signal=HUP",
    "DELETE /containers/{}",
    "DELETE /containers/{}?force=true",
    "DELETE /containers/{}?stop=true",
]
DELETES = 3
ENDS_BY_ITSELF = "its process ends"
CONTAINERS = 2
THREADS = 3
STEPS = 4


@dataclasses.dataclass(frozen=True)
class Step:
    """One thing that happens to one of the containers, by its number."""

    what: str
    container: int


def draw(rng: random.Random) -> list[list[Step]]:
    """What each thread does, mostly without deleting."""
    weights = [5] * (len(REQUESTS) - DELETES) + [1] * DELETES + [3]
    return [
        [
            Step(rng.choices([*REQUESTS, ENDS_BY_ITSELF], weights)[0], rng.randrange(CONTAINERS))
            for _ in range(STEPS)
        ]
        for _ in range(THREADS)
    ]


def act(cloud: Cloud, client: Client, step: Step, uuids: list[str]) -> int:
    """Do it; the status of the answer."""
    uuid = uuids[step.container]
    if step.what != ENDS_BY_ITSELF:
        return int(client.request(step.what.format(uuid)).status_code)
    with cloud.engine.lock:
        container = cloud.engine.find(f"zun-{uuid}")
        if container is not None and container.pid:
            cloud.engine.exit(container.spec.name, 1)
    return 200


def play(cloud: Cloud, client: Client, rng: random.Random) -> list[str]:
    """One interleaving from accepted creates to accepted requests; the containers it was about."""
    policy = rng.choice([{}, {"restart_policy": {"Name": "on-failure"}}, {"auto_remove": True}])
    uuids = [client.create(run=rng.random() < 0.8, **policy) for _ in range(CONTAINERS)]
    script = draw(rng)
    answers = at_once(
        [lambda steps=steps: [act(cloud, client, step, uuids) for step in steps] for steps in script]
    )
    assert {answer for each in answers for answer in each} <= {200, 202, 204, 404, 409}, script
    return uuids


@pytest.mark.parametrize("seed", range(10))
def test_every_action_ends_and_the_database_agrees_with_the_engine(
    cloud: Cloud, client: Client, seed: int
) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        uuids = play(cloud, client, rng)
        cloud.wait_sound()
        for uuid in uuids:
            client.request(f"DELETE /containers/{uuid}?force=true")
    cloud.wait_sound()
    assert (cloud.rows(), cloud.claims(), cloud.engine.containers) == ([], {}, {})
    assert cloud.engine.networks.keys() == {"bridge"}


@pytest.mark.parametrize("seed", range(5))
def test_the_same_with_an_agent_that_dies_anywhere_and_is_started_again(
    new_cloud: NewCloud, seed: int
) -> None:
    rng = random.Random(seed)
    deaths = random.Random(seed)
    lock = threading.Lock()

    def observer(*_where: str) -> None:
        with lock:
            if deaths.random() < 0.1:
                raise Killed

    cloud = new_cloud(agent={"max_attempts": 1000})
    for _ in range(5):
        cloud.observer = observer
        uuids = play(cloud, cloud.client, rng)
        until(lambda: restarted_until_idle(cloud))
        cloud.wait_sound()
        for uuid in uuids:
            cloud.client.request(f"DELETE /containers/{uuid}?force=true")
        until(lambda: restarted_until_idle(cloud))
    cloud.wait_sound()
    assert (cloud.rows(), cloud.claims(), cloud.engine.containers) == ([], {}, {})


def restarted_until_idle(cloud: Cloud) -> bool:
    """Start the agent again, for its threads that died left their actions behind."""
    agent = cloud.nodes["node1"].agent
    assert agent is not None
    until(lambda: agent.wait_idle(0))
    if not cloud.unfinished():
        return True
    cloud.stop_node("node1")
    cloud.start_node("node1")
    return False
