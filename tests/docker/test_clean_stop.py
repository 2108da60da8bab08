"""SIGTERM: what is under way is finished, or taken up by the next start; the exit code is 0 either way."""

import concurrent.futures
import pathlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

import docker
import pytest

from tests.support.containers import FOREVER, behind, run, states
from tests.support.engines import BUSYBOX
from tests.support.proxy import EngineProxy
from tests.support.service import Http, Service
from tests.support.team import delete_all
from tests.support.waiting import DEADLINE, until


@pytest.fixture
def proxy(docker_engine_directory: pathlib.Path) -> Iterator[EngineProxy]:
    run = docker_engine_directory / "run"
    proxy = EngineProxy(run / "stop.sock", run / "docker.sock")
    proxy.on()
    yield proxy
    proxy.off()


Start = Callable[..., Service]


@pytest.fixture
def start(proxy: EngineProxy, tmp_path: pathlib.Path) -> Iterator[Start]:
    """Starts a service; its containers are deleted at the end."""
    started: list[Service] = []

    def start(**agent: Any) -> Service:
        service = Service(tmp_path / "home", proxy.url, options={"agent": agent})
        service.start()
        started.append(service)
        return service

    yield start
    for service in started:
        if service.process is None:
            service.start()
        delete_all(Http(service))
        service.stop()


def terminate(service: Service) -> None:
    assert service.process is not None
    service.process.send_signal(signal.SIGTERM)
    until(lambda: "Stopping" in service.log)


def exit_code(service: Service) -> int:
    assert service.process is not None
    code = service.process.wait(DEADLINE)
    service.process = None
    return code


def test_a_create_under_way_is_finished_first(
    start: Start, proxy: EngineProxy, engine: docker.DockerClient
) -> None:
    service = start()
    proxy.hold("/containers/create")
    ident = Http(service).create(image=BUSYBOX, command=FOREVER)
    assert proxy.holding.wait(DEADLINE)
    terminate(service)
    assert service.process is not None
    assert service.process.poll() is None
    proxy.release()
    assert exit_code(service) == 0
    assert states(engine, ident) == ["running"]
    service.start()
    assert Http(service).wait(ident, "Running")["status_reason"] is None


def test_a_create_that_takes_too_long_is_taken_up_by_the_next_start(
    start: Start, proxy: EngineProxy, engine: docker.DockerClient
) -> None:
    service = start(graceful_stop=1)
    proxy.hold("/containers/create")
    ident = Http(service).create(image=BUSYBOX, command=FOREVER)
    assert proxy.holding.wait(DEADLINE)
    terminate(service)
    assert exit_code(service) == 0
    assert states(engine, ident) == []
    proxy.release()
    service.start()
    http = Http(service)
    http.wait(ident, "Running")
    assert states(engine, ident) == ["running"]
    [action] = http.call("GET", f"/containers/{ident}/container_actions")["containerActions"]
    assert action["action"] == "create"
    assert action["finish_time"]


def test_a_request_under_way_is_answered(start: Start, engine: docker.DockerClient) -> None:
    service = start()
    http = Http(service)
    ident = run(http)
    inside = behind(engine, ident)
    script = "touch /begun; until [ -e /go ]; do sleep 0.02; done; echo done"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        body = {"command": ["sh", "-c", script]}
        asked = pool.submit(http.call, "POST", f"/containers/{ident}/execute", json=body)
        until(lambda: inside.exec_run(["test", "-e", "/begun"]).exit_code == 0)
        terminate(service)
        inside.exec_run(["touch", "/go"])
        assert asked.result()["output"] == "done\n"
    assert exit_code(service) == 0
