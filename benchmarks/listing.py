"""A list of 1,000 containers against a bare route that returns a prepared body of the same size.

    python -m benchmarks.listing

Same server, same threads, 8 clients (`wrk`, from Debian's package). Then where the time of the list goes.
"""

import cProfile
import pathlib
import pstats
import re
import subprocess
import tempfile
import uuid

import falcon
import falcon.testing

from tests.support.service import free_port
from tierce import config
from tierce.api.server import ApiServer
from tierce.cli.standalone import Standalone
from tierce.db import engine, schema
from tierce.db.tables import Container
from tierce.model.clock import SystemClock

ROWS = 1000
CLIENTS = 8
SECONDS = 10
PROFILED = 30


def configuration(home: pathlib.Path) -> config.cfg.ConfigOpts:
    return config.load(
        overrides=[
            ("DEFAULT", "host", "node1"),
            ("DEFAULT", "state_path", str(home)),
            ("DEFAULT", "container_driver", "fake"),
            ("DEFAULT", "transport_url", "inprocess:///listing"),
            ("api", "port", free_port()),
            ("api", "auth_strategy", "noauth"),
        ]
    )


def insert_rows(conf: config.cfg.ConfigOpts) -> None:
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
        for number in range(ROWS)
    ]  # fmt: skip
    database.write(lambda session: session.add_all(rows))
    database.close()


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


class Bare:
    """A route that does nothing but answer."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def on_get(self, _req: falcon.Request, resp: falcon.Response) -> None:
        resp.content_type = "application/json"
        resp.data = self._body


def profile(service: Standalone) -> None:
    """The three costliest parts of a request, by the function in whose call they are spent."""
    client = falcon.testing.TestClient(service.application)
    path = f"/v1/containers?limit={ROWS}"
    client.simulate_get(path)
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(PROFILED):
        client.simulate_get(path)
    profiler.disable()
    stats = pstats.Stats(profiler)
    total = stats.total_tt  # type: ignore[attr-defined]  # typeshed leaves it out
    costs = sorted(
        ((tottime, name) for name, (_, _, tottime, _, _) in stats.stats.items()),  # type: ignore[attr-defined]  # this too
        reverse=True,
    )
    print(f"Where the time goes ({total / PROFILED * 1000:.1f} ms a request under the profiler), own time:")
    for own, (file, line, function) in costs[:6]:
        place = "/".join(pathlib.Path(file).parts[-3:])
        print(f"  {own / total * 100:5.1f} %  {function} ({place}:{line})")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        conf = configuration(pathlib.Path(directory))
        insert_rows(conf)
        service = Standalone(conf)
        host, port = service.start()
        body = falcon.testing.TestClient(service.application).simulate_get("/v1/containers").content
        bare_app = falcon.App()
        bare_app.add_route("/bare", Bare(body))
        bare = ApiServer(bare_app, "127.0.0.1", free_port(), conf.api.threads)
        bare_host, bare_port = bare.start()

        floor, floor_latency = rate(f"http://{bare_host}:{bare_port}/bare")
        listed, latency = rate(f"http://{host}:{port}/v1/containers")
        page, page_latency = rate(f"http://{host}:{port}/v1/containers?limit=20")
        print(f"List of {ROWS} containers ({len(body) / 1024:.0f} KiB), {CLIENTS} clients")
        print(f"  bare route {floor:8.1f} requests/s  {floor_latency:7.2f} ms")
        print(f"  list       {listed:8.1f} requests/s  {latency:7.2f} ms   ratio {listed / floor:.3f}")
        print(f"  limit=20   {page:8.1f} requests/s  {page_latency:7.2f} ms")
        profile(service)
        bare.stop()
        service.stop()


if __name__ == "__main__":
    main()
