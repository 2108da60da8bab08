"""What the Docker plug promises beyond the contract of all runtimes, on a real Engine."""

import concurrent.futures
import os
import pathlib
import threading
import uuid
from collections.abc import Iterator

import docker
import pytest

from tests.support.engines import BUSYBOX, NOSHELL
from tests.support.registry import ADDRESS
from tests.support.runtime_contract import Bench, commands
from tests.support.waiting import until
from tierce.model.container import BindMount, RuntimeState
from tierce.model.errors import ExecTimeout, ImageNotFound, ImagePullFailed, RuntimeBadRequest
from tierce.runtimes.docker import DockerRuntime, NodeDefaults

CAP_MKNOD = 1 << 27
SECURE = NodeDefaults(no_new_privileges=True, pids_limit=100, drop_capabilities=("MKNOD",))


@pytest.fixture
def bench(docker_engine: str) -> Iterator[Bench]:
    bench = Bench(DockerRuntime(docker_engine, defaults=SECURE), {"tierce.test": uuid.uuid4().hex})
    yield bench
    bench.clear()
    bench.runtime.close()


def _status(bench: Bench, name: str, field: str) -> str:
    """A field of /proc/self/status inside the container."""
    output: bytes = bench.containers.execute(name, ["grep", field, "/proc/self/status"], timeout=10).output
    return output.decode().split()[1]


def test_a_container_is_confined(bench: Bench, engine: docker.DockerClient) -> None:
    name = bench.start()
    assert _status(bench, name, "NoNewPrivs") == "1"
    assert not int(_status(bench, name, "CapBnd"), 16) & CAP_MKNOD
    assert engine.containers.get(name).attrs["HostConfig"]["PidsLimit"] == 100


def test_a_privileged_container_is_not_confined(bench: Bench, engine: docker.DockerClient) -> None:
    """Looked at, not started: not every machine that runs tests may run such a container."""
    config = engine.containers.get(bench.create(privileged=True)).attrs["HostConfig"]
    assert config["Privileged"] is True
    assert (config["PidsLimit"], config["CapDrop"]) == (None, None)
    assert "no-new-privileges" not in (config["SecurityOpt"] or [])


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="the machine has one CPU")
def test_a_container_runs_on_the_cpus_that_it_is_given_and_then_on_others(bench: Bench) -> None:
    name = bench.start(cpus=1, cpuset_cpus=(1,), cpuset_mems=(0,))
    assert _status(bench, name, "Cpus_allowed_list") == "1"
    assert _status(bench, name, "Mems_allowed_list") == "0"
    bench.containers.resize(name, None, 2, (0, 1))
    assert _status(bench, name, "Cpus_allowed_list") == "0-1"
    bench.containers.resize(name, None, 1, ())
    assert _status(bench, name, "Cpus_allowed_list") == "0-1"
    bench.containers.resize(name, None, 1, (0,))
    assert _status(bench, name, "Cpus_allowed_list") == "0"


def _pids(bench: Bench, name: str, ps_args: str | None) -> set[int]:
    table = bench.containers.top(name, ps_args)
    column = table["Titles"].index("PID")
    return {int(process[column]) for process in table["Processes"]}


@pytest.mark.parametrize("ps_args", [None, "aux", "-eo pid,args", "-eo user,pid,comm", "-ef 1"])
def test_no_process_outside_the_container_is_listed(bench: Bench, ps_args: str | None) -> None:
    name, _another = bench.start(), bench.start()
    assert _pids(bench, name, ps_args) == {bench.report(name).pid}


def test_nor_is_one_that_is_asked_for_by_its_id(bench: Bench) -> None:
    name, another = bench.start(), bench.start()
    for outside in (1, os.getpid(), bench.report(another).pid):
        assert _pids(bench, name, str(outside)) <= {bench.report(name).pid}


def test_an_image_without_a_shell_runs(bench: Bench) -> None:
    name = bench.start(image=NOSHELL, command=())
    report = bench.report(name)
    assert (report.state, report.entrypoint, report.command) == (
        RuntimeState.RUNNING,
        ("/bin/sleep",),
        ("3600",),
    )


def test_a_file_can_be_mounted_read_only(bench: Bench, docker_engine_directory: pathlib.Path) -> None:
    source = docker_engine_directory / "data" / "a:b"
    source.write_text("hello")
    name = bench.start(mounts=(BindMount(str(source), "/srv/file", read_only=True),))
    assert bench.containers.execute(name, ["cat", "/srv/file"], timeout=10).output == b"hello"
    assert bench.containers.execute(name, ["sh", "-c", "echo > /srv/file"], timeout=10).exit_code != 0
    assert source.read_text() == "hello"


def test_a_mount_without_its_source_is_refused_and_nothing_made(bench: Bench, tmp_path: pathlib.Path) -> None:
    with pytest.raises(RuntimeBadRequest):
        bench.create(mounts=(BindMount(str(tmp_path / "absent"), "/srv"),))
    assert list(tmp_path.iterdir()) == []


def test_what_a_timed_out_command_started_ends_too(bench: Bench) -> None:
    name = bench.start()
    with pytest.raises(ExecTimeout):
        bench.containers.execute(name, ["sh", "-c", "sleep 888 & sleep 777"], timeout=0.5)

    def alive() -> list[str]:
        return [command for command in commands(bench, name) if "<defunct>" not in command]

    until(alive, lambda running: running == ["sleep 3600"])


def test_anonymous_volumes_go_with_their_container(bench: Bench, engine: docker.DockerClient) -> None:
    image = engine.containers.get(bench.create()).commit("tierce-test/volume", "1", changes="VOLUME /data")
    before = {volume.id for volume in engine.volumes.list()}
    name = bench.start(image=image.id)
    assert {volume.id for volume in engine.volumes.list()} > before
    bench.containers.remove(name)
    assert {volume.id for volume in engine.volumes.list()} == before
    bench.runtime.images.remove(image.id)


def test_of_long_logs_the_newest_bytes_are_given(bench: Bench) -> None:
    name = bench.finish(command=("sh", "-c", "seq 300000"))
    logs = bench.containers.logs(name, limit=1000)
    assert len(logs) == 1000
    assert logs.endswith(b"299999\n300000\n")


def test_programs_that_want_one_network_at_once_get_the_same(bench: Bench, docker_engine: str) -> None:
    """Each has a runtime of its own, so that no lock in this process keeps them apart."""
    runtimes = [DockerRuntime(docker_engine) for _ in range(6)]
    gate = threading.Barrier(len(runtimes))
    name = f"tierce-{uuid.uuid4()}"

    def ensure(runtime: DockerRuntime) -> str:
        gate.wait()
        return runtime.networks.ensure(name, bench.labels)

    with concurrent.futures.ThreadPoolExecutor(len(runtimes)) as pool:
        ids = list(pool.map(ensure, runtimes))
    assert len(set(ids)) == 1
    assert bench.runtime.networks.list(bench.labels) == [name]
    for runtime in runtimes:
        runtime.close()


def test_an_image_is_pulled_from_its_registry(bench: Bench, image_in_registry: str) -> None:
    bench.runtime.images.remove(image_in_registry)
    signs: list[None] = []
    facts = bench.runtime.images.pull(
        image_in_registry, auth=None, idle_timeout=30, progress=lambda: signs.append(None)
    )
    assert signs
    assert image_in_registry in facts.tags
    assert bench.runtime.images.find(image_in_registry) == facts
    assert bench.state(bench.start(image=image_in_registry, command=())) == RuntimeState.RUNNING


def test_an_image_that_its_registry_does_not_have_is_not_found(bench: Bench, image_in_registry: str) -> None:
    with pytest.raises(ImageNotFound):
        bench.runtime.images.pull(f"{ADDRESS}/team/absent:1", auth=None, idle_timeout=30)


def test_a_registry_that_does_not_answer_fails_the_pull(bench: Bench) -> None:
    with pytest.raises(ImagePullFailed, match="refused"):
        bench.runtime.images.pull("127.0.0.1:1/team/app:1", auth=None, idle_timeout=30)
    assert bench.runtime.images.find(BUSYBOX) is not None
