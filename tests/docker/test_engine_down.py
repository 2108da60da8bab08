"""The Engine goes away, hangs and comes back; the service stays, tells so, and goes on by itself."""

import contextlib
import pathlib
import time
from collections.abc import Iterator

import docker
import pytest

from tests.support import dockerd
from tests.support.containers import FOREVER, POLITE, behind, execute, run, states
from tests.support.engines import BUSYBOX, SUITE, private_engine, url
from tests.support.proxy import EngineProxy
from tests.support.service import Http, Service, running
from tests.support.team import delete_all
from tests.support.waiting import until

BOUNDED = 5.0
"""Seconds in which a request must be answered though the Engine does not."""

OPTIONS = {
    "DEFAULT": {"sync_container_state_interval": 1},
    "docker": {"default_timeout": 2},
    "agent": {"retry_interval": 1},
}


@pytest.fixture(scope="module")
def proxy(docker_engine_directory: pathlib.Path) -> Iterator[EngineProxy]:
    run = docker_engine_directory / "run"
    proxy = EngineProxy(run / "proxy.sock", run / "docker.sock")
    yield proxy
    proxy.off()


@pytest.fixture(scope="module")
def service(proxy: EngineProxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Started while no Engine answers."""
    with running(Service(tmp_path_factory.mktemp("down"), proxy.url, options=OPTIONS)) as service:
        yield service


@pytest.fixture
def http(service: Service, proxy: EngineProxy) -> Iterator[Http]:
    """A client of the service, which has met the Engine; at the end it is there, and has nothing."""
    http = Http(service)
    proxy.on()
    until(lambda: http.call("GET", "/hosts")["hosts"][0]["cpus"])
    yield http
    proxy.release()
    proxy.on()
    delete_all(http)


class TestNeverSeen:
    """The Engine comes with the second one."""

    def test_the_api_is_there_and_a_create_tells_what_is_missing(self, service: Service) -> None:
        http = Http(service)
        assert http.call("GET", "/services")["services"][0]["state"] == "up"
        found = http.wait(http.create(image=BUSYBOX, command=FOREVER), "Error")
        assert "Docker" in found["status_reason"]
        http.call("DELETE", f"/containers/{found['uuid']}")
        http.wait(found["uuid"], None)

    def test_it_works_when_the_engine_comes(self, http: Http) -> None:
        assert execute(http, run(http), "echo", "here") == (0, "here\n")


class TestGone:
    def test_statuses_are_kept(self, http: Http, proxy: EngineProxy, service: Service) -> None:
        ident, paused = run(http), run(http)
        http.call("POST", f"/containers/{paused}/pause")
        http.wait(paused, "Paused")
        before = {each["uuid"]: each["status"] for each in http.call("GET", "/containers")["containers"]}
        proxy.off()
        assert http.raw("GET", f"/containers/{ident}/logs").status_code == 503
        told = len(service.log)
        until(lambda: "periodic" in service.log[told:])  # a comparison of everything was tried
        after = {each["uuid"]: each["status"] for each in http.call("GET", "/containers")["containers"]}
        assert after == before == {ident: "Running", paused: "Paused"}

    def test_looking_inside_is_refused_and_docker_named(self, http: Http, proxy: EngineProxy) -> None:
        ident = run(http)
        proxy.off()
        for method, verb in (
            ("GET", "logs"),
            ("POST", "execute?command=true"),
            ("GET", "top"),
            ("GET", "stats"),
        ):
            began = time.monotonic()
            answer = http.raw(method, f"/containers/{ident}/{verb}")
            assert time.monotonic() - began < BOUNDED
            assert answer.status_code == 503
            assert "Docker" in answer.json()["errors"][0]["detail"]
            assert int(answer.headers["Retry-After"]) > 0

    def test_a_create_fails_and_docker_is_named(self, http: Http, proxy: EngineProxy) -> None:
        proxy.off()
        assert "Docker" in http.wait(http.create(image=BUSYBOX), "Error")["status_reason"]

    def test_a_stop_fails_and_leaves_the_status(self, http: Http, proxy: EngineProxy) -> None:
        ident = run(http)
        proxy.off()
        http.call("POST", f"/containers/{ident}/stop")
        found = http.wait(ident, "Running")
        assert "Docker" in found["status_reason"]

    def test_a_delete_is_done_when_it_is_back(
        self, http: Http, proxy: EngineProxy, engine: docker.DockerClient
    ) -> None:
        ident = run(http, command=POLITE, nets=[{"network": "of-its-own"}])
        [network] = http.call("GET", f"/containers/{ident}")["addresses"]
        proxy.off()
        http.call("DELETE", f"/containers/{ident}?stop=true")
        waiting = until(
            lambda: http.call("GET", f"/containers/{ident}"), lambda found: found["status_reason"]
        )
        assert waiting["status"] == "Deleting"
        assert "Docker" in waiting["status_reason"]
        proxy.on()
        http.wait(ident, None)
        assert states(engine, ident) == []
        assert not engine.networks.list(names=[network])

    def test_what_happened_meanwhile_is_seen_when_it_is_back(
        self, http: Http, proxy: EngineProxy, engine: docker.DockerClient
    ) -> None:
        killed, paused, removed, same = (run(http) for _ in range(4))
        proxy.off()
        behind(engine, killed).kill()
        behind(engine, paused).pause()
        behind(engine, removed).remove(force=True)
        proxy.on()
        assert http.wait(killed, "Stopped")["status_detail"].startswith("Exited(137)")
        http.wait(paused, "Paused")
        http.wait(removed, "Error")
        http.wait(same, "Running")


class TestHung:
    """The Engine takes requests and does not answer."""

    def test_looking_inside_ends_in_bounded_time(self, http: Http, proxy: EngineProxy) -> None:
        ident = run(http)
        proxy.hold()
        began = time.monotonic()
        answer = http.raw("GET", f"/containers/{ident}/logs")
        assert time.monotonic() - began < BOUNDED
        assert answer.status_code == 504
        assert "Docker" in answer.json()["errors"][0]["detail"]
        assert http.call("GET", f"/containers/{ident}")["status"] == "Running"

    def test_a_create_that_it_carries_out_late_leaves_nothing(
        self, http: Http, proxy: EngineProxy, engine: docker.DockerClient
    ) -> None:
        proxy.hold("/containers/create")
        ident = http.create(image=BUSYBOX, command=FOREVER)
        assert "Docker" in http.wait(ident, "Error")["status_reason"]
        of_it = {"container": f"zun-{ident}", "event": "create"}
        with contextlib.closing(engine.events(since=0, filters=of_it, decode=True)) as events:
            proxy.release()
            next(events)
        until(lambda: states(engine, ident) == [])
        assert http.call("GET", f"/containers/{ident}")["status"] == "Error"


@pytest.fixture(scope="module")
def own_engine() -> Iterator[pathlib.Path]:
    """The directory of an Engine that nobody else is in the way of."""
    with private_engine(SUITE) as directory:
        yield directory


def test_a_restart_of_the_engine_ends_containers_and_the_api_follows(
    own_engine: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with running(Service(tmp_path, url(own_engine), options=OPTIONS)) as service:
        http = Http(service)
        ended = run(http, command=POLITE)
        stays = run(http, command=POLITE, restart_policy={"Name": "always"})
        dockerd.restart(own_engine)
        assert http.wait(ended, "Stopped")["status_detail"].startswith("Exited(")
        http.wait(stays, "Running")
        until(lambda: http.raw("GET", f"/containers/{stays}/logs").ok)
        run(http)
        delete_all(http)


def test_of_stopped_containers_a_restart_of_the_engine_starts_those_that_always_run(
    own_engine: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with running(Service(tmp_path, url(own_engine), options=OPTIONS)) as service:
        http = Http(service)
        always, unless_stopped = (
            run(http, command=POLITE, restart_policy={"Name": policy})
            for policy in ("always", "unless-stopped")
        )
        for ident in (always, unless_stopped):
            http.call("POST", f"/containers/{ident}/stop")
            http.wait(ident, "Stopped")
        dockerd.restart(own_engine)
        http.wait(always, "Running")
        assert http.call("GET", f"/containers/{unless_stopped}")["status"] == "Stopped"
        delete_all(http)


def test_containers_that_outlive_a_restart_of_the_engine_are_left_as_they_are(tmp_path: pathlib.Path) -> None:
    with (
        private_engine(SUITE) as directory,
        contextlib.closing(docker.DockerClient(url(directory))) as engine,
    ):
        dockerd.start(directory, [*dockerd.stop(directory), "--live-restore"])
        with running(Service(tmp_path, url(directory), options=OPTIONS)) as service:
            http = Http(service)
            until(lambda: http.call("GET", "/hosts")["hosts"][0]["cpus"])
            witness, *idents = (run(http, command=POLITE) for _ in range(3))
            before = [behind(engine, ident).attrs["State"]["Pid"] for ident in idents]
            dockerd.restart(directory)
            until(lambda: http.raw("GET", f"/containers/{idents[0]}/logs").ok)
            behind(engine, witness).kill()
            http.wait(witness, "Stopped")  # the service looks at the Engine again
            for ident in idents:
                assert http.call("GET", f"/containers/{ident}")["status"] == "Running"
                actions = http.call("GET", f"/containers/{ident}/container_actions")["containerActions"]
                assert [each["action"] for each in actions] == ["create"]
            assert [behind(engine, ident).attrs["State"]["Pid"] for ident in idents] == before
            delete_all(http)
