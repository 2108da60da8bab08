"""The contract of `runtimes/base.py` as tests: one suite for every runtime, the fake included.

A subclass provides the fixture `runtime`; the runtime has the image BUSYBOX on its node.
"""

import concurrent.futures
import contextlib
import dataclasses
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.engines import BUSYBOX
from tests.support.waiting import until
from tierce.model.container import (
    ContainerReport,
    NetworkAttachment,
    RestartPolicy,
    RuntimeSpec,
    RuntimeState,
)
from tierce.model.errors import (
    ExecTimeout,
    RuntimeBadRequest,
    RuntimeConflict,
    RuntimeFailure,
    RuntimeNotFound,
)
from tierce.runtimes.base import Runtime

FOREVER = ("sleep", "3600")
DEADLINE = 30.0  # seconds


@dataclasses.dataclass
class Bench:
    """A runtime with helpers around it, and labels by which all that a test made is found again."""

    runtime: Runtime
    labels: dict[str, str]

    @property
    def containers(self) -> Any:
        return self.runtime.containers

    def spec(self, **changes: Any) -> RuntimeSpec:
        base = RuntimeSpec(
            name=f"zun-{uuid.uuid4()}", image=BUSYBOX, command=FOREVER, owner_labels=self.labels
        )
        return dataclasses.replace(base, **changes)

    def create(self, **changes: Any) -> str:
        """A new container; returns its name."""
        spec = self.spec(**changes)
        self.containers.create(spec)
        return spec.name

    def start(self, **changes: Any) -> str:
        """A new container, started; returns its name."""
        name = self.create(**changes)
        self.containers.start(name)
        return name

    def finish(self, **changes: Any) -> str:
        """A new container whose process has ended by itself; returns its name."""
        name = self.start(**changes)
        self.until(name, lambda report: report is not None and report.state == RuntimeState.EXITED)
        return name

    def state(self, name: str) -> RuntimeState:
        return self.report(name).state

    def report(self, name: str) -> ContainerReport:
        report = self.runtime.containers.inspect(name)
        assert report is not None
        return report

    def until(self, name: str, condition: Callable[[ContainerReport | None], bool]) -> None:
        """Look at the container at each of its events until the condition holds."""
        with self.listening(since_ns=0) as events:
            if condition(self.runtime.containers.inspect(name)):
                return
            for _ in events:
                if condition(self.runtime.containers.inspect(name)):
                    return
        pytest.fail(f"{name} did not get there in {DEADLINE:g} s")

    def hear(self, name: str, action: str) -> None:
        """Wait for this event of the container, past or to come."""
        with self.listening(since_ns=0) as events:
            for event in events:
                if (event.container_name, event.action) == (name, action):
                    return
        pytest.fail(f"no {action} of {name} in {DEADLINE:g} s")

    @contextlib.contextmanager
    def listening(self, since_ns: int | None = None) -> Iterator[Any]:
        """An open stream of events, which ends at the deadline."""
        stream = self.runtime.containers.events(self.labels, since_ns)
        timer = threading.Timer(DEADLINE, stream.close)
        timer.start()
        try:
            yield stream
        finally:
            timer.cancel()
            timer.join()
            stream.close()

    def network(self) -> str:
        """A new bridge network; returns its name."""
        name = f"tierce-{uuid.uuid4()}"
        self.runtime.networks.ensure(name, self.labels)
        return name

    def clear(self) -> None:
        for report in self.runtime.containers.list(self.labels):
            self.runtime.containers.remove(report.id)
        for name in self.runtime.networks.list(self.labels):
            self.runtime.networks.remove(name)


class RuntimeContract:
    @pytest.fixture
    def bench(self, runtime: Runtime) -> Iterator[Bench]:
        bench = Bench(runtime, {"tierce.test": uuid.uuid4().hex})
        yield bench
        bench.clear()

    # --- create -------------------------------------------------------------------------------

    def test_a_created_container_has_never_run(self, bench: Bench) -> None:
        spec = bench.spec(
            labels={"colour": "red"}, hostname="box", exposed_ports=("80/tcp", "53/udp", "80/udp")
        )
        container_id = bench.containers.create(spec)
        report = bench.report(spec.name)
        assert report.id == container_id
        assert report.name == spec.name
        assert report.state == RuntimeState.CREATED
        assert (report.exit_code, report.started_at, report.finished_at) == (None, None, None)
        assert report.labels == {"colour": "red", **bench.labels}
        assert (report.image, report.hostname, report.command) == (BUSYBOX, "box", FOREVER)
        assert report.ports == [53, 80]
        assert report.endpoints == ()

    def test_creating_it_again_gives_the_same_container(self, bench: Bench) -> None:
        spec = bench.spec()
        first = bench.containers.create(spec)
        bench.containers.start(spec.name)
        assert bench.containers.create(spec) == first
        assert bench.state(spec.name) == RuntimeState.RUNNING

    def test_a_name_taken_by_somebody_else_is_a_conflict(self, bench: Bench) -> None:
        spec = bench.spec()
        bench.containers.create(spec)
        with pytest.raises(RuntimeConflict):
            bench.containers.create(dataclasses.replace(spec, owner_labels={"tierce.test": "somebody else"}))

    def test_the_owner_labels_win_over_the_users(self, bench: Bench) -> None:
        name = bench.create(labels={"tierce.test": "mine"})
        assert bench.report(name).labels == bench.labels

    def test_creating_without_the_image_says_not_found(self, bench: Bench) -> None:
        with pytest.raises(RuntimeNotFound):
            bench.containers.create(bench.spec(image="tierce-test/absent:1"))

    def test_an_image_can_be_given_by_its_id(self, bench: Bench) -> None:
        facts = bench.runtime.images.find(BUSYBOX)
        assert facts is not None
        name = bench.start(image=facts.id)
        assert bench.state(name) == RuntimeState.RUNNING

    # --- start, stop --------------------------------------------------------------------------

    def test_starting_twice_leaves_one_run(self, bench: Bench) -> None:
        name = bench.start()
        first = bench.report(name)
        bench.containers.start(name)
        second = bench.report(name)
        assert first.state == second.state == RuntimeState.RUNNING
        assert first.pid > 0
        assert first.pid == second.pid
        assert first.started_at is not None
        assert first.exit_code is None

    def test_a_command_that_cannot_be_executed_is_a_bad_request_and_leaves_its_reason(
        self, bench: Bench
    ) -> None:
        name = bench.create(command=("/nosuch/program",))
        with pytest.raises(RuntimeBadRequest) as refused:
            bench.containers.start(name)
        report = bench.report(name)
        assert report.state == RuntimeState.CREATED
        assert report.exit_code == 127
        assert "/nosuch/program" in report.error
        assert "/nosuch/program" in refused.value.message

    def test_an_exit_code_is_reported(self, bench: Bench) -> None:
        name = bench.finish(command=("sh", "-c", "exit 3"))
        report = bench.report(name)
        assert (report.exit_code, report.pid) == (3, 0)
        assert report.started_at is not None
        assert report.finished_at is not None

    def test_stopping_twice_is_a_success(self, bench: Bench) -> None:
        name = bench.start()
        bench.containers.stop(name, timeout=0)
        bench.containers.stop(name, timeout=0)
        assert bench.state(name) == RuntimeState.EXITED

    def test_stopping_what_never_ran_changes_nothing(self, bench: Bench) -> None:
        name = bench.create()
        bench.containers.stop(name)
        assert bench.state(name) == RuntimeState.CREATED

    def test_a_paused_container_can_be_stopped(self, bench: Bench) -> None:
        name = bench.start()
        bench.containers.pause(name)
        bench.containers.stop(name, timeout=0)
        assert bench.state(name) == RuntimeState.EXITED

    def test_a_restart_runs_it_anew(self, bench: Bench) -> None:
        name = bench.start()
        before = bench.report(name)
        bench.containers.restart(name, timeout=0)
        after = bench.report(name)
        assert after.state == RuntimeState.RUNNING
        assert after.pid != before.pid
        assert after.started_at != before.started_at

    def test_a_restart_starts_what_does_not_run(self, bench: Bench) -> None:
        name = bench.create()
        bench.containers.restart(name, timeout=0)
        assert bench.state(name) == RuntimeState.RUNNING

    def test_a_failing_process_under_a_policy_of_restarts_does_not_stay_stopped(self, bench: Bench) -> None:
        policy = RestartPolicy("on-failure", 0)
        name = bench.start(command=("false",), restart_policy=policy)
        bench.until(name, lambda report: report is not None and report.state == RuntimeState.RESTARTING)
        bench.containers.stop(name, timeout=0)
        assert bench.state(name) == RuntimeState.EXITED

    def test_auto_remove_takes_it_away_at_its_end(self, bench: Bench) -> None:
        name = bench.start(command=("true",), auto_remove=True)
        bench.until(name, lambda report: report is None)
        assert bench.containers.list(bench.labels) == []

    # --- pause, kill, remove ------------------------------------------------------------------

    def test_pausing_twice_is_a_success(self, bench: Bench) -> None:
        name = bench.start()
        bench.containers.pause(name)
        bench.containers.pause(name)
        assert bench.state(name) == RuntimeState.PAUSED

    def test_unpausing_twice_is_a_success(self, bench: Bench) -> None:
        name = bench.start()
        bench.containers.pause(name)
        bench.containers.unpause(name)
        bench.containers.unpause(name)
        assert bench.state(name) == RuntimeState.RUNNING

    def test_pausing_what_does_not_run_is_a_conflict(self, bench: Bench) -> None:
        name = bench.create()
        with pytest.raises(RuntimeConflict):
            bench.containers.pause(name)

    def test_starting_a_paused_container_is_a_conflict(self, bench: Bench) -> None:
        name = bench.start()
        bench.containers.pause(name)
        with pytest.raises(RuntimeConflict):
            bench.containers.start(name)

    # --- resize, commit -----------------------------------------------------------------------

    @pytest.mark.parametrize("state", ["created", "running", "paused", "exited"])
    def test_limits_can_be_raised_and_lowered_in_any_state_and_again(self, bench: Bench, state: str) -> None:
        name = bench.create(memory=64, cpus=0.5) if state == "created" else bench.start(memory=64, cpus=0.5)
        if state == "paused":
            bench.containers.pause(name)
        elif state == "exited":
            bench.containers.stop(name, timeout=0)
        for memory, cpus in ((256, 2.0), (256, 2.0), (32, 0.1)):
            bench.containers.resize(name, memory, cpus)
        assert bench.state(name) == state

    def test_a_new_limit_holds(self, bench: Bench) -> None:
        name = bench.start(memory=64)
        bench.containers.resize(name, 128, None)
        assert bench.containers.stats(name).memory_limit == 128 * 1024 * 1024
        bench.containers.resize(name, None, 1.0)
        assert bench.containers.stats(name).memory_limit == 128 * 1024 * 1024

    @pytest.mark.parametrize("paused", [False, True])
    def test_an_image_of_a_container_can_be_run_under_its_name(self, bench: Bench, paused: bool) -> None:
        name, tag = bench.start(), uuid.uuid4().hex
        if paused:
            bench.containers.pause(name)
        made = bench.containers.commit(name, "committed.invalid/test/copy", tag)
        assert bench.state(name) == ("paused" if paused else "running")
        image = f"committed.invalid/test/copy:{tag}"
        found = bench.runtime.images.find(image)
        assert (found and found.id, made.tags, made.command) == (made.id, (image,), FOREVER)
        copy = bench.start(image=image, command=())
        assert bench.report(copy).command == FOREVER
        bench.containers.remove(copy)
        bench.runtime.images.remove(image)
        assert bench.runtime.images.find(image) is None

    def test_the_name_goes_to_the_newer_image_and_the_older_can_be_removed_by_its_id(
        self, bench: Bench
    ) -> None:
        name, tag = bench.start(), uuid.uuid4().hex
        first, second = (bench.containers.commit(name, "committed.invalid/test/copy", tag) for _ in range(2))
        assert first.id != second.id
        older = bench.runtime.images.find(first.id)
        assert (older and list(older.tags)) == []
        bench.runtime.images.remove(first.id)
        assert bench.runtime.images.find(first.id) is None
        bench.runtime.images.remove(second.tags[0])

    @pytest.mark.parametrize("signal", [None, "KILL", "SIGKILL", "9"])
    def test_a_kill_ends_it(self, bench: Bench, signal: str | None) -> None:
        name = bench.start()
        bench.containers.kill(name, signal)
        bench.until(name, lambda report: report is not None and report.state == RuntimeState.EXITED)
        assert bench.report(name).exit_code == 137

    def test_a_signal_that_it_ignores_leaves_it_running(self, bench: Bench) -> None:
        name = bench.start()
        bench.containers.kill(name, "USR1")
        assert bench.state(name) == RuntimeState.RUNNING

    def test_a_signal_that_does_not_exist_is_a_bad_request(self, bench: Bench) -> None:
        name = bench.start()
        with pytest.raises(RuntimeBadRequest):
            bench.containers.kill(name, "NOSUCH")

    def test_a_kill_of_what_does_not_run_is_a_conflict(self, bench: Bench) -> None:
        name = bench.create()
        with pytest.raises(RuntimeConflict):
            bench.containers.kill(name)

    @pytest.mark.parametrize("paused", [False, True])
    def test_removing_works_in_any_state_and_again(self, bench: Bench, paused: bool) -> None:
        name = bench.start()
        if paused:
            bench.containers.pause(name)
        bench.containers.remove(name)
        assert bench.containers.inspect(name) is None
        bench.containers.remove(name)

    def test_removed_by_many_at_once_it_is_gone_for_each(self, bench: Bench) -> None:
        name = bench.start()

        def remove() -> ContainerReport | None:
            bench.runtime.containers.remove(name)
            return bench.runtime.containers.inspect(name)

        assert _at_once(remove, 8) == [None] * 8

    @pytest.mark.parametrize(
        "call", ["start", "stop", "restart", "pause", "unpause", "kill", "logs", "top", "stats"]
    )
    def test_what_does_not_exist_is_not_found(self, bench: Bench, call: str) -> None:
        with pytest.raises(RuntimeNotFound):
            getattr(bench.containers, call)("zun-absent")

    def test_what_does_not_exist_can_neither_be_resized_nor_committed(self, bench: Bench) -> None:
        with pytest.raises(RuntimeNotFound):
            bench.containers.resize("zun-absent", 64, 1)
        with pytest.raises(RuntimeNotFound):
            bench.containers.commit("zun-absent", "committed.invalid/test/copy", "1")

    # --- inspect, list, events ----------------------------------------------------------------

    def test_inspecting_what_does_not_exist_gives_none(self, bench: Bench) -> None:
        assert bench.containers.inspect("zun-absent") is None

    def test_the_list_has_every_container_with_the_labels_in_any_state(self, bench: Bench) -> None:
        created, running, stopped = bench.create(), bench.start(), bench.start()
        bench.containers.stop(stopped, timeout=0)
        bench.hear(stopped, "die")
        states = {report.name: report.state for report in bench.containers.list(bench.labels)}
        expected = {
            created: RuntimeState.CREATED,
            running: RuntimeState.RUNNING,
            stopped: RuntimeState.EXITED,
        }
        assert states == expected
        assert bench.containers.list({**bench.labels, "also": "this"}) == []

    def test_a_listed_container_has_its_id_and_labels(self, bench: Bench) -> None:
        name = bench.create()
        (listed,) = bench.containers.list(bench.labels)
        assert listed.id == bench.report(name).id
        assert listed.labels == bench.labels

    def test_events_tell_of_the_life_of_the_labelled_containers_alone(self, bench: Bench) -> None:
        # An engine may miss the very moment of connecting, but nothing since a time.
        with bench.listening(since_ns=0) as stream:
            bench.containers.create(
                bench.spec(owner_labels={}, labels={"tierce.other": bench.labels["tierce.test"]})
            )
            name = bench.start()
            bench.containers.pause(name)
            bench.containers.unpause(name)
            bench.containers.stop(name, timeout=0)
            # An engine may tell of the end after its call has returned, and so after a removal.
            seen = _told_until(stream, "die")
            bench.containers.remove(name)
            seen += _told_until(stream, "destroy")
        actions = ("create", "start", "pause", "unpause", "die", "destroy")
        assert seen == [(name, action) for action in actions]
        for report in bench.containers.list({"tierce.other": bench.labels["tierce.test"]}):
            bench.containers.remove(report.id)

    def test_events_since_a_time_begin_with_what_happened_then(self, bench: Bench) -> None:
        name = bench.create()
        with bench.listening(since_ns=0) as stream:
            created = next(iter(stream))
        assert (created.container_name, created.action) == (name, "create")
        bench.containers.start(name)
        with bench.listening(since_ns=created.time_ns + 1) as stream:
            assert next(iter(stream)).action == "start"

    def test_closing_a_stream_of_events_ends_a_waiting_reader(self, bench: Bench) -> None:
        stream = bench.containers.events(bench.labels)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            reading = pool.submit(list, stream)
            bench.create()
            stream.close()
            assert len(reading.result(timeout=5)) <= 1

    # --- logs ---------------------------------------------------------------------------------

    def test_logs_hold_both_streams(self, bench: Bench) -> None:
        name = bench.finish(command=("sh", "-c", "echo one; echo two >&2"))
        assert sorted(bench.containers.logs(name).splitlines()) == [b"one", b"two"]
        assert bench.containers.logs(name, stderr=False) == b"one\n"
        assert bench.containers.logs(name, stdout=False) == b"two\n"

    def test_logs_of_no_stream_are_a_bad_request(self, bench: Bench) -> None:
        name = bench.create()
        with pytest.raises(RuntimeBadRequest):
            bench.containers.logs(name, stdout=False, stderr=False)

    def test_logs_of_a_terminal_come_as_they_are(self, bench: Bench) -> None:
        name = bench.finish(command=("echo", "one"), tty=True)
        assert bench.containers.logs(name) == b"one\r\n"

    def test_logs_can_be_cut_to_their_last_lines_or_bytes(self, bench: Bench) -> None:
        name = bench.finish(command=("sh", "-c", "echo one; echo two; echo three"))
        assert bench.containers.logs(name, tail=2) == b"two\nthree\n"
        assert bench.containers.logs(name, tail=0) == b""
        assert bench.containers.logs(name, limit=4) == b"ree\n"

    def test_logs_can_carry_times_and_begin_at_one(self, bench: Bench) -> None:
        name = bench.finish(command=("echo", "one"))
        time, text = bench.containers.logs(name, timestamps=True).split(b" ", 1)
        assert time.endswith(b"Z")
        assert text == b"one\n"
        assert bench.containers.logs(name, since=0) == b"one\n"
        assert bench.containers.logs(name, since=4e9) == b""

    def test_what_never_ran_has_empty_logs(self, bench: Bench) -> None:
        assert bench.containers.logs(bench.create()) == b""

    # --- execute, top, stats ------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("command", "output", "exit_code"),
        [
            (["true"], b"", 0),
            (["echo", "one"], b"one\n", 0),
            (["sh", "-c", "echo one; exit 3"], b"one\n", 3),
            (["sh", "-c", "echo one >&2"], b"one\n", 0),
        ],
    )
    def test_a_command_gives_its_output_and_exit_code(
        self, bench: Bench, command: list[str], output: bytes, exit_code: int
    ) -> None:
        name = bench.start()
        result = bench.containers.execute(name, command, timeout=10)
        assert (result.output, result.exit_code) == (output, exit_code)

    def test_a_command_that_cannot_be_executed_is_a_result_with_the_reason(self, bench: Bench) -> None:
        result = bench.containers.execute(bench.start(), ["/nosuch/program"], timeout=10)
        assert result.exit_code in (126, 127)
        assert b"no such file" in result.output

    def test_a_command_that_takes_too_long_is_ended(self, bench: Bench) -> None:
        name = bench.start()
        with pytest.raises(ExecTimeout, match=r"sleep 777.*0\.5 s"):
            bench.containers.execute(name, ["sleep", "777"], timeout=0.5)
        assert bench.containers.execute(name, ["true"], timeout=10).exit_code == 0
        until(lambda: commands(bench, name), lambda running: running == ["sleep 3600"])

    def test_a_command_in_what_does_not_run_is_a_conflict(self, bench: Bench) -> None:
        created, paused = bench.create(), bench.start()
        bench.containers.pause(paused)
        for name in (created, paused):
            with pytest.raises(RuntimeConflict):
                bench.containers.execute(name, ["true"], timeout=10)

    def test_top_lists_its_processes_in_columns(self, bench: Bench) -> None:
        table = bench.containers.top(bench.start())
        assert set(table) == {"Titles", "Processes"}
        (process,) = table["Processes"]
        assert dict(zip(table["Titles"], process, strict=True))["CMD"] == "sleep 3600"

    def test_stats_know_the_memory_limit(self, bench: Bench) -> None:
        sample = bench.containers.stats(bench.start(memory=32))
        assert sample.memory_limit == 32 * 1024 * 1024
        assert 0 < sample.memory_usage < sample.memory_limit
        assert sample.cpu_percent >= 0

    @pytest.mark.parametrize("call", ["top", "stats"])
    def test_what_does_not_run_cannot_be_watched(self, bench: Bench, call: str) -> None:
        name = bench.create()
        with pytest.raises(RuntimeConflict):
            getattr(bench.containers, call)(name)

    def test_the_node_says_what_it_has(self, bench: Bench) -> None:
        facts = bench.containers.fingerprint()
        assert facts.name
        assert facts.cpus >= 1
        assert facts.memory_total >= facts.memory_available > 0
        assert facts.disk_total > 0
        assert "runc" in facts.runtimes

    # --- networks -----------------------------------------------------------------------------

    def test_ensuring_a_network_twice_gives_one(self, bench: Bench) -> None:
        name = bench.network()
        networks = bench.runtime.networks
        assert networks.ensure(name, bench.labels) == networks.ensure(name, bench.labels)
        assert networks.list(bench.labels) == [name]

    def test_ensured_by_many_at_once_there_is_one(self, bench: Bench) -> None:
        name = f"tierce-{uuid.uuid4()}"
        ids = _at_once(lambda: bench.runtime.networks.ensure(name, bench.labels), 10)
        assert len(set(ids)) == 1
        assert bench.runtime.networks.list(bench.labels) == [name]

    def test_a_network_whose_name_begins_another_is_its_own(self, bench: Bench) -> None:
        name = bench.network()
        longer = bench.runtime.networks.ensure(f"{name}-more", bench.labels)
        assert bench.runtime.networks.ensure(name, bench.labels) != longer

    def test_a_removed_network_is_made_again(self, bench: Bench) -> None:
        name = bench.network()
        bench.runtime.networks.remove(name)
        bench.runtime.networks.remove(name)
        assert bench.runtime.networks.list(bench.labels) == []
        bench.runtime.networks.ensure(name, bench.labels)
        assert bench.runtime.networks.list(bench.labels) == [name]

    def test_a_network_in_use_cannot_be_removed(self, bench: Bench) -> None:
        name = bench.network()
        bench.start(networks=(NetworkAttachment(name),))
        with pytest.raises(RuntimeConflict):
            bench.runtime.networks.remove(name)

    def test_a_container_has_an_address_in_each_of_its_networks(self, bench: Bench) -> None:
        networks = [bench.network() for _ in range(3)]
        attachments = tuple(NetworkAttachment(name, aliases=("web",)) for name in networks)
        report = bench.report(bench.start(networks=attachments))
        assert {endpoint.network for endpoint in report.endpoints} == set(networks)
        assert len({endpoint.ipv4 for endpoint in report.endpoints} - {None}) == 3
        assert all(endpoint.network_id for endpoint in report.endpoints)

    def test_creating_it_again_joins_the_networks_that_are_still_missing(self, bench: Bench) -> None:
        first, second = bench.network(), bench.network()
        spec = bench.spec(networks=(NetworkAttachment(first),))
        bench.containers.create(spec)
        bench.containers.create(
            dataclasses.replace(spec, networks=(NetworkAttachment(first), NetworkAttachment(second)))
        )
        bench.containers.start(spec.name)
        assert {each.network for each in bench.report(spec.name).endpoints} == {first, second}

    def test_a_start_without_its_network_says_not_found(self, bench: Bench) -> None:
        network = bench.network()
        name = bench.create(networks=(NetworkAttachment(network),))
        bench.runtime.networks.remove(network)
        with pytest.raises(RuntimeNotFound):
            bench.containers.start(name)

    def test_after_its_network_was_made_anew_it_starts_once_it_has_joined_that(self, bench: Bench) -> None:
        networks = [bench.network(), bench.network()]
        attachments = tuple(NetworkAttachment(network) for network in networks)
        name = bench.start(networks=attachments)
        bench.containers.stop(name, 0)
        for network in networks:
            bench.runtime.networks.remove(network)
            bench.runtime.networks.ensure(network, bench.labels)
        for start in (bench.containers.start, bench.containers.restart):
            with pytest.raises(RuntimeNotFound):
                start(name)

        for _ in range(2):
            bench.containers.rejoin(name, attachments)
        bench.containers.start(name)

        endpoints = bench.report(name).endpoints
        assert {each.network for each in endpoints if each.ipv4} == set(networks)

    # --- images -------------------------------------------------------------------------------

    def test_an_image_is_found_by_reference_and_by_id(self, bench: Bench) -> None:
        by_reference = bench.runtime.images.find(BUSYBOX)
        assert by_reference is not None
        assert by_reference.size > 0
        assert BUSYBOX in by_reference.tags
        assert bench.runtime.images.find(by_reference.id) == by_reference

    def test_an_image_that_the_node_does_not_have_is_none(self, bench: Bench) -> None:
        assert bench.runtime.images.find("tierce-test/absent:1") is None

    def test_removing_an_absent_image_is_a_success(self, bench: Bench) -> None:
        bench.runtime.images.remove("tierce-test/absent:1")

    def test_an_image_in_use_cannot_be_removed(self, bench: Bench) -> None:
        bench.start()
        with pytest.raises(RuntimeConflict):
            bench.runtime.images.remove(BUSYBOX)
        assert bench.runtime.images.find(BUSYBOX) is not None

    def test_errors_are_of_one_family_and_name_no_socket(self, bench: Bench) -> None:
        with pytest.raises(RuntimeFailure) as refused:
            bench.containers.start("zun-absent")
        assert "unix:" not in refused.value.message
        assert ".sock" not in refused.value.message
        assert "http" not in refused.value.message


def commands(bench: Bench, name: str) -> list[str]:
    """What runs in a container. A killed process may be seen for a moment more."""
    return [str(process[-1]) for process in bench.containers.top(name)["Processes"]]


def _told_until(stream: Any, action: str) -> list[tuple[str, str]]:
    """The containers and actions of the events up to the first one of this action."""
    told: list[tuple[str, str]] = []
    while not told or told[-1][1] != action:
        event = next(iter(stream))
        told.append((event.container_name, event.action))
    return told


def _at_once(work: Callable[[], Any], times: int) -> list[Any]:
    """The results of so many threads that begin together."""
    gate = threading.Barrier(times)

    def begin() -> Any:
        gate.wait()
        return work()

    with concurrent.futures.ThreadPoolExecutor(times) as pool:
        return [each.result() for each in [pool.submit(begin) for _ in range(times)]]
