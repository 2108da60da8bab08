"""A cloud of programs under load: the API's two workers and four nodes on RabbitMQ and MariaDB.

    python -m benchmarks.many_nodes [load | engine | cost | idle]...

load: 500 creates, stops and starts from 20 clients, on nodes with fake engines; of one project, and of ten
in the same cloud: those of one wait for each other while its quota is counted. engine: POST run to Running
of one node with a private Engine, against docker-py (see `create`). cost: what a request costs the
database and the bus, as they count it. idle: the same of nodes that nobody asks anything, their intervals
a tenth of the defaults. All of them when none is named. `engine` needs root.
"""

import contextlib
import dataclasses
import itertools
import pathlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import docker
import psutil
from sqlalchemy import Engine, create_engine, text

from benchmarks.create import DockerPy, Tierce, one_after_another
from benchmarks.support import IMAGE, pss_mib
from tests.support.databases import Servers
from tests.support.engines import private_engine
from tests.support.engines import url as engine_url
from tests.support.programs import TIERCE, Programs
from tests.support.rabbitmq import RabbitMQ
from tests.support.service import Http
from tierce.identity.accounts import Role
from tierce.identity.users import UserFiles

NODES = [f"node{number}" for number in range(1, 5)]
PROJECTS = 10
CONTAINERS = 500
CLIENTS = 20
REQUESTS = 20
"""Of each kind, of which the mean cost is told."""

IDLE_MINUTES = 2.0
FASTER = 10
_DEFAULT = {"rpc_response_timeout": 60, "service_down_time": 180, "periodic_interval_max": 60}
_POLL, _UPKEEP = 60, 600
_STATEMENTS = ("select", "insert", "update", "delete")
_ENDS = ("commit", "rollback")


@dataclasses.dataclass
class Cloud:
    """Programs that run, their database and their bus."""

    programs: Programs
    database: Engine
    bus: RabbitMQ
    asked: int = 0
    """Queries of our own by `rows`."""
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def client(self, project: int = 0) -> Http:
        """A client of the project's user, who is an administrator and may choose nodes."""
        return Http(self.programs, _user(project))

    def rows(self, query: str) -> Sequence[Any]:
        with self._lock:
            self.asked += 1
        with self.database.connect() as connection:
            return connection.execute(text(query)).all()

    def wait(self, query: str, seconds: float = 300) -> None:
        """Wait until a query of ours has no rows."""
        deadline = time.monotonic() + seconds
        while found := self.rows(query):
            assert time.monotonic() < deadline, found[:3]
            time.sleep(0.02)


def _user(project: int) -> tuple[str, str]:
    """Name and password."""
    return f"user{project}", f"password {project}"


@contextlib.contextmanager
def cloud(hosts: Sequence[str], **options: Mapping[str, object]) -> Iterator[Cloud]:
    bus, servers = RabbitMQ(), Servers()
    groups: dict[str, Mapping[str, object]] = {
        "agent": {"poll_interval": _POLL},
        "compute": {"initial_cpu_allocation_ratio": 1000},
        **options,
        "DEFAULT": {"default_image_pull_policy": "ifnotpresent", **_DEFAULT, **options.get("DEFAULT", {})},
    }
    try:
        with tempfile.TemporaryDirectory() as directory, servers.database("mariadb") as url:
            home = pathlib.Path(directory)
            user_file, project_file = home / "users", home / "projects"
            users = UserFiles(user_file, project_file, rounds=4)
            for project in range(PROJECTS):
                name, password = _user(project)
                users.add(name, f"project{project}", Role.ADMIN, password)
            groups["api"] = {
                "auth_strategy": "http_basic",
                "http_basic_auth_user_file": user_file,
                "http_basic_project_file": project_file,
            }
            programs = Programs(home, bus.url(), url, hosts, command=TIERCE, **groups)
            programs.admin = _user(0)
            # What looks on is not to be seen in the counters of transactions.
            database = create_engine(url, isolation_level="AUTOCOMMIT", pool_reset_on_return=None)
            try:
                programs.start()
                yield Cloud(programs, database, bus)
            finally:
                programs.stop()
                database.dispose()
    finally:
        servers.stop()
        bus.close()


# --- load -------------------------------------------------------------------------------------------


class Watcher:
    """When each container was first seen Running, on a connection of its own, 50 times a second."""

    def __init__(self, found: Cloud) -> None:
        self.seen: dict[str, float] = {}
        self._cloud = found
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            running = self._cloud.rows("SELECT uuid FROM container WHERE status = 'Running'")
            now = time.perf_counter()
            for (uuid,) in running:
                self.seen.setdefault(uuid, now)


def parts(found: Cloud) -> dict[str, list[psutil.Process]]:
    """The processes of each part of the cloud."""
    api = psutil.Process(found.programs.api.pid)
    children = psutil.Process().children(recursive=True)
    return {
        "API": [api, *api.children()],
        "agents": [psutil.Process(agent.pid) for agent in found.programs.agents.values()],
        "database": [child for child in children if child.name().startswith("maria")],
        "bus": [child for child in children if child.name() == "beam.smp"],
        "clients": [psutil.Process()],
    }


def cpu(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def memory(found: Cloud) -> str:
    api, agents = (parts(found)[part] for part in ("API", "agents"))
    workers = ", ".join(f"{pss_mib(process.pid):.0f}" for process in api)
    nodes = ", ".join(f"{pss_mib(process.pid):.0f}" for process in agents)
    return f"API (parent, workers) {workers} MiB PSS; agents {nodes} MiB PSS"


def storm(title: str, one: Callable[[Http, int], None], found: Cloud, unfinished: str, projects: int) -> None:
    """Have the clients ask for all of it, wait until it is done, and print its rate and what it cost."""
    clients = [found.client(number % projects) for number in range(CLIENTS)]
    numbers = itertools.count()

    def work(client: Http) -> None:
        while (number := next(numbers)) < CONTAINERS:
            one(client, number)

    processes = parts(found)
    meter, asked = Meter(found), found.asked
    before = {part: cpu(of) for part, of in processes.items()}
    begun = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, clients))
    accepted = time.perf_counter() - begun
    found.wait(unfinished)
    took = time.perf_counter() - begun
    shares = ", ".join(f"{part} {(cpu(of) - before[part]) / took:.2f}" for part, of in processes.items())
    counted = meter.read()
    statements = (_statements(counted) - (found.asked - asked)) / CONTAINERS
    waits = counted["row_lock_waits"]
    print(f"{title}: {CONTAINERS / accepted:.0f}/s accepted, {CONTAINERS / took:.0f}/s done; cores: {shares}")
    print(f"  each: {statements:.1f} statements, {counted['messages'] / CONTAINERS:.2f} messages;", end=" ")
    print(f"row locks: {waits} waits of {counted['row_lock_time'] / max(1, waits):.0f} ms (mean)")


def load() -> None:
    for projects in (1, PROJECTS):
        print(f"--- {CLIENTS} clients of {projects} project{'s'[: projects > 1]}")
        with cloud(NODES) as found:
            load_of(found, projects)


def load_of(found: Cloud, projects: int) -> None:
    for project, node in itertools.product(range(projects), NODES):  # each's code paths and network once
        http = found.client(project)
        http.wait(http.create(image=IMAGE, memory="32", cpu=0.1, host=node), "Running")
    time.sleep(2)
    print(f"Idle: {memory(found)}")
    posted: dict[int, tuple[float, float, str]] = {}

    def create(client: Http, number: int) -> None:
        begun = time.perf_counter()
        uuid = client.create(image=IMAGE, command=["sleep", "1000"], memory="32", cpu=0.1)
        posted[number] = begun, time.perf_counter(), uuid

    def power(action: str) -> Callable[[Http, int], None]:
        return lambda client, number: client.call("POST", f"/containers/{posted[number][2]}/{action}")

    unfinished = "SELECT uuid FROM container WHERE task_state IS NOT NULL OR status = 'Creating' LIMIT 1"
    with Watcher(found) as watcher:
        storm("Create, run", create, found, unfinished, projects)
        time.sleep(0.1)
    answers = [answered - begun for begun, answered, _ in posted.values()]
    running = [watcher.seen[uuid] - begun for begun, _, uuid in posted.values()]
    print(f"  answered after {_percentiles(answers)}; Running after {_percentiles(running)}")
    storm("Stop", power("stop"), found, unfinished, projects)
    storm("Start", power("start"), found, unfinished, projects)
    print(f"After: {memory(found)}")
    require_order(found, {uuid for *_, uuid in posted.values()})


def _percentiles(values: Sequence[float]) -> str:
    ordered = sorted(values)
    half, nearly_all = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    return f"{half * 1000:.0f} ms (median), {nearly_all * 1000:.0f} ms (99 %)"


def require_order(found: Cloud, uuids: set[str]) -> None:
    """Every action was done, once, and none before the one that was accepted before it had ended."""
    query = (
        "SELECT a.container_uuid, a.action, a.state, a.attempts, MIN(e.id), MAX(e.id), COUNT(e.id) "
        "FROM container_actions a JOIN container_actions_events e ON e.action_id = a.id "
        "WHERE e.result = 'Success' GROUP BY a.id ORDER BY a.id"
    )
    story: dict[str, list[Any]] = {uuid: [] for uuid in uuids}
    for uuid, *action in found.rows(query):
        if uuid in story:
            story[uuid].append(action)
    for uuid, done in story.items():
        names = [(name, state, attempts, events) for name, state, attempts, _, _, events in done]
        once = [("create", "finished", 1, 2), ("stop", "finished", 1, 1), ("start", "finished", 1, 1)]
        assert names == once, (uuid, names)
        bounds = [bound for *_, first, last, _ in done for bound in (first, last)]
        assert bounds == sorted(bounds), (uuid, bounds)
    print(f"Order: {len(story)} containers, each with its actions done once, in the order accepted")


# --- a real Engine ----------------------------------------------------------------------------------


def engine() -> None:
    with (
        private_engine() as directory,
        cloud(
            NODES[:1],
            DEFAULT={"container_driver": "docker"},
            docker={"api_url": engine_url(directory)},
        ) as found,
    ):
        url = engine_url(directory)
        client = docker.DockerClient(url)
        client.networks.create("own", driver="bridge")
        client.close()
        one_after_another(DockerPy(url, "own"), DockerPy(url, "bridge"), Tierce(found.client()))


# --- what it costs ----------------------------------------------------------------------------------


class Meter:
    """What database and bus have counted since it was made, but for what its own connection asked."""

    def __init__(self, found: Cloud) -> None:
        self._bus = found.bus
        self._connection = found.database.connect()
        self._before = self._now()

    def read(self) -> dict[str, int]:
        now = self._now()
        self._connection.close()
        return {name: value - self._before[name] for name, value in now.items()}

    def wait(self, query: str) -> None:
        """Wait until a query has no rows; not counted."""
        while self._connection.execute(text(query)).first():
            time.sleep(0.02)

    def _now(self) -> dict[str, int]:
        def status(scope: str, prefix: str) -> dict[str, int]:
            named = prefix.replace("_", "\\_")
            rows = self._connection.execute(text(f"SHOW {scope} STATUS LIKE '{named}%'"))
            return {name.removeprefix(prefix): int(value) for name, value in rows}

        everybody, ours = status("GLOBAL", "Com_"), status("SESSION", "Com_")
        of_others = {name: everybody[name] - ours[name] for name in (*_STATEMENTS, *_ENDS, "set_option")}
        locks = status("GLOBAL", "Innodb_row_lock_")
        waits = {"row_lock_waits": locks["waits"], "row_lock_time": locks["time"]}  # number, ms
        return {**of_others, **waits, "messages": self._bus.received()}


def _statements(counted: Mapping[str, int]) -> int:
    return sum(counted[kind] for kind in _STATEMENTS)


def cost() -> None:
    print(f"{'':14}{'statements':>12}{'transactions':>14}{'messages':>10}   (means of {REQUESTS})")
    with cloud(NODES[:1]) as found:
        http = found.client()
        first = http.create(image=IMAGE, memory="32", cpu=0.1)
        http.wait(first, "Running")
        uuids: list[str] = []
        requests: list[tuple[str, Callable[[int], object]]] = [
            ("create, run", lambda _: uuids.append(http.create(image=IMAGE, memory="32", cpu=0.1))),
            ("show", lambda number: http.show(uuids[number])),
            ("stop", lambda number: http.call("POST", f"/containers/{uuids[number]}/stop")),
            ("start", lambda number: http.call("POST", f"/containers/{uuids[number]}/start")),
            ("logs", lambda number: http.call("GET", f"/containers/{uuids[number]}/logs")),
            ("delete", lambda number: http.call("DELETE", f"/containers/{uuids[number]}?force=true")),
        ]
        for title, ask in requests:
            meter = Meter(found)
            for number in range(REQUESTS):
                ask(number)
                meter.wait("SELECT 1 FROM container WHERE task_state IS NOT NULL LIMIT 1")
            time.sleep(0.2)  # what the end of the last one sets off
            counted = meter.read()
            means = (_statements(counted), sum(counted[end] for end in _ENDS), counted["messages"])
            print(
                f"{title:14}{means[0] / REQUESTS:12.1f}{means[1] / REQUESTS:14.1f}{means[2] / REQUESTS:10.1f}"
            )


def idle() -> None:
    options = {
        "DEFAULT": {
            "periodic_interval_max": 60 // FASTER,
            "sync_container_state_interval": _UPKEEP // FASTER,
        },
        "agent": {"poll_interval": _POLL // FASTER, "upkeep_interval": _UPKEEP // FASTER},
    }
    with cloud(NODES, **options) as found:
        http = found.client()
        for node in NODES:
            http.wait(http.create(image=IMAGE, memory="32", cpu=0.1, host=node), "Running")
        time.sleep(60 / FASTER + 1)  # what these have changed is reported once
        meter, before = Meter(found), cpu(parts(found)["agents"])
        time.sleep(IDLE_MINUTES * 60)
        used = cpu(parts(found)["agents"]) - before
        counted = meter.read()
        minutes = IDLE_MINUTES * FASTER * len(NODES)
        kinds = ", ".join(
            f"{counted[kind] / minutes:.2f} {kind}" for kind in (*_STATEMENTS, *_ENDS, "set_option")
        )
        each = _statements(counted) / minutes
        print(
            f"An idle node, each minute: {each:.2f} statements, {counted['messages'] / minutes:.2f} messages"
        )
        print(f"  ({kinds}; {used / minutes:.3f} s of CPU)")
        print(f"10,000 such nodes: {each * 10_000 / 60:.0f} statements a second")


def main() -> None:
    every = {"load": load, "engine": engine, "cost": cost, "idle": idle}
    for name in sys.argv[1:] or every:
        every[name]()


if __name__ == "__main__":
    main()
