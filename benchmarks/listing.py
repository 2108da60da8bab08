"""Lists and shows of containers against a bare route that returns a prepared body of the same size.

    python -m benchmarks.listing

Two API processes and two of a bare Falcon route, on the same server with the same threads; 8 clients
(`wrk`, from Debian's package). Then where the time of a list goes that nobody has asked for before.
"""

import cProfile
import pathlib
import pstats
import re
import subprocess
import tempfile
import uuid

import falcon.testing
import requests
from oslo_config import cfg

from benchmarks.workers import await_answer, workers
from tests.support.service import free_port
from tierce import config
from tierce.api.front import Wsgi
from tierce.cli import wiring
from tierce.db import engine, schema
from tierce.db.tables import Container
from tierce.model.clock import SystemClock
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_transport

ROWS = 1000
MANY_ROWS = 10_000
CLIENTS = 8
SECONDS = 10
PROFILED = 30


def configuration(home: pathlib.Path) -> cfg.ConfigOpts:
    return config.load(
        overrides=[
            ("DEFAULT", "host", "node1"),
            ("DEFAULT", "state_path", str(home)),
            ("DEFAULT", "container_driver", "fake"),
            ("DEFAULT", "transport_url", "inprocess:///listing"),
            ("DEFAULT", "auth_encryption_key", ["32 characters that nobody guards"]),
            ("api", "port", free_port()),
            ("api", "auth_strategy", "noauth"),
        ]
    )


def displaced() -> None:
    """What a service is to do when another agent takes its node: nobody else knows of this one."""


def api(conf: cfg.ConfigOpts) -> Wsgi:
    """The API on a database that is there."""
    transport = build_transport(conf)
    return wiring.build_application(conf, engine.connect(conf), transport, ComputeClient(transport, conf))


def insert_rows(conf: cfg.ConfigOpts, count: int = ROWS) -> list[str]:
    """Containers of one project; their uuids."""
    database = engine.connect(conf)
    schema.upgrade(database)
    now = SystemClock().now()
    # On another node, so that this one does not look for them in its runtime.
    rows = [
        Container(
            uuid=str(uuid.uuid4()), name=f"web-{number}", project_id="admin", user_id="admin",
            host="elsewhere", image="nginx:1.27", image_driver="docker", status="Running",
            status_detail="Up", cpu=0.5,
            memory="256", disk=0, command=["nginx", "-g", "daemon off;"], environment={"A": "1", "B": "two"},
            labels={"app": "web"}, ports=[80], hostname=f"web-{number}", runtime="runc", security_groups=[],
            addresses={"net": [{"addr": "10.0.0.3", "version": 4, "port": str(uuid.uuid4()),
                                "subnet_id": str(uuid.uuid4()), "preserve_on_delete": False}]},
            restart_policy={"Name": "always", "MaximumRetryCount": "0"}, healthcheck={}, exposed_ports={},
            cpuset={}, entrypoint=[], created_at=now, updated_at=now, started_at=now,
        )
        for number in range(count)
    ]  # fmt: skip
    database.write(lambda session: session.add_all(rows))
    database.close()
    return [row.uuid for row in rows]


def rate(url: str) -> tuple[float, float]:
    """Requests per second and mean latency (ms) of CLIENTS clients."""
    done = subprocess.run(
        ["wrk", "-t1", f"-c{CLIENTS}", f"-d{SECONDS}", "--timeout", "10", url],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Non-2xx" not in done.stdout, done.stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    latency = re.search(r"Latency\s+([\d.]+)(us|ms|s)", done.stdout)
    assert found is not None, done.stdout
    assert latency is not None, done.stdout
    scale = {"us": 0.001, "ms": 1.0, "s": 1000.0}[latency[2]]
    return float(found[1]), float(latency[1]) * scale


def profile(home: pathlib.Path) -> None:
    """The costliest parts of a request that no kept page answers, by the function that spends the time."""
    client = falcon.testing.TestClient(api(configuration(home)))
    # Each time another page, so that each is rendered.
    paths = [f"/v1/containers?limit={ROWS - number}" for number in range(PROFILED)]
    client.simulate_get(paths[0])
    profiler = cProfile.Profile()
    profiler.enable()
    for path in paths:
        client.simulate_get(path)
    profiler.disable()
    stats = pstats.Stats(profiler)
    total = stats.total_tt  # type: ignore[attr-defined]  # typeshed leaves it out
    costs = sorted(
        ((tottime, name) for name, (_, _, tottime, _, _) in stats.stats.items()),  # type: ignore[attr-defined]  # this too
        reverse=True,
    )
    print(
        f"Where a fresh list spends its time ({total / PROFILED * 1000:.1f} ms with the profiler), own time:"
    )
    for own, (file, line, function) in costs[:6]:
        place = "/".join(pathlib.Path(file).parts[-3:])
        print(f"  {own / total * 100:5.1f} %  {function} ({place}:{line})")


def compare(title: str, path: str, home: pathlib.Path) -> None:
    """The rate of a route, and of the bare one with the same body."""
    with workers("benchmarks.wsgi:application", home) as url:
        await_answer(url)
        body = requests.get(url + path, timeout=60).content
        found, latency = rate(url + path)
    (home / "body").write_bytes(body)
    with workers("benchmarks.bare:application", home) as url:
        await_answer(url)
        floor, floor_latency = rate(url)
    print(
        f"  {title:24} {len(body) / 1024:7.0f} KiB {found:9.1f}/s {latency:8.2f} ms   "
        f"bare {floor:9.1f}/s {floor_latency:7.2f} ms   ratio {found / floor:.2f}"
    )


def main() -> None:
    print(f"{CLIENTS} clients, two API processes")
    for count in (ROWS, MANY_ROWS):
        with tempfile.TemporaryDirectory() as directory:
            home = pathlib.Path(directory)
            uuids = insert_rows(configuration(home), count)
            if count == ROWS:
                compare("list of 1,000", "/v1/containers", home)
                compare("list, limit=20", "/v1/containers?limit=20", home)
                compare("show", f"/v1/containers/{uuids[0]}", home)
                profile(home)
            else:
                compare("1,000 of 10,000", "/v1/containers", home)
                compare("20 of 10,000", "/v1/containers?limit=20", home)


if __name__ == "__main__":
    main()
