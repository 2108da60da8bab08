"""The contract of `Terminals` and `Archives` of `runtimes/base.py` as tests, for every runtime.

A subclass provides the fixture `runtime`; the runtime has the image BUSYBOX on its node.
"""

import re
import uuid
from collections.abc import Iterator

import pytest

from tests.support.runtime_contract import Bench
from tests.support.tars import contents, tar
from tierce.model.container import ExecState
from tierce.model.errors import PathNotFound, RuntimeBadRequest, RuntimeConflict, RuntimeNotFound
from tierce.runtimes.base import Runtime


class Bytes:
    """Content as it is given."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[bytes]:
        yield self._data


def got(bench: Bench, name: str, path: str) -> dict[str, bytes | None]:
    with bench.runtime.archives.get(name, path) as (_, pieces):
        return contents(b"".join(pieces))


class SessionContract:
    @pytest.fixture
    def bench(self, runtime: Runtime) -> Iterator[Bench]:
        bench = Bench(runtime, {"tierce.test": uuid.uuid4().hex})
        yield bench
        bench.clear()

    # --- terminals ----------------------------------------------------------------------------

    def test_a_client_attaches_at_the_engine_s_websocket_of_the_container(self, bench: Bench) -> None:
        name = bench.start(interactive=True, tty=True)
        target = bench.runtime.terminals.attach_target(name)
        path, query = target.split("?")
        assert re.fullmatch(r"/v1\.\d+/containers/" + bench.report(name).id + "/attach/ws", path)
        assert query == "logs=0&stream=1&stdin=1&stdout=1&stderr=1"

    def test_nothing_that_does_not_run_can_be_attached_to_resized_or_entered(self, bench: Bench) -> None:
        name, terminals = bench.create(interactive=True, tty=True), bench.runtime.terminals
        with pytest.raises(RuntimeConflict):
            terminals.attach_target(name)
        with pytest.raises(RuntimeConflict):
            terminals.resize(name, 24, 80)
        with pytest.raises(RuntimeConflict):
            terminals.prepare(name, ["sh"], interactive=True)

    def test_nothing_that_does_not_exist_either(self, bench: Bench) -> None:
        terminals = bench.runtime.terminals
        with pytest.raises(RuntimeNotFound):
            terminals.attach_target("zun-absent")
        with pytest.raises(RuntimeNotFound):
            terminals.resize("zun-absent", 24, 80)
        with pytest.raises(RuntimeNotFound):
            terminals.prepare("zun-absent", ["sh"], interactive=True)
        with pytest.raises(RuntimeNotFound):
            terminals.state("0" * 64)

    def test_a_terminal_that_is_not_there_has_any_size(self, bench: Bench) -> None:
        bench.runtime.terminals.resize(bench.start(), 24, 80)

    def test_a_prepared_command_has_an_id_and_does_not_run(self, bench: Bench) -> None:
        name, terminals = bench.start(), bench.runtime.terminals
        ids = [terminals.prepare(name, ["touch", "/mark"], interactive=flag) for flag in (True, False)]
        assert all(re.fullmatch("[0-9a-f]{64}", exec_id) for exec_id in ids)
        assert [terminals.state(exec_id) for exec_id in ids] == [ExecState.PREPARED] * 2
        with pytest.raises(PathNotFound):
            got(bench, name, "/mark")

    # --- archives -----------------------------------------------------------------------------

    @pytest.mark.parametrize("state", ["created", "running", "paused", "stopped"])
    def test_what_is_put_in_comes_out_in_any_state(self, bench: Bench, state: str) -> None:
        name = bench.create()
        if state != "created":
            bench.containers.start(name)
        if state == "paused":
            bench.containers.pause(name)
        if state == "stopped":
            bench.containers.stop(name, timeout=0)
        bench.runtime.archives.put(name, "/tmp", Bytes(tar(one_txt=b"first\xff\0", two=b"x" * 100_000)))
        assert got(bench, name, "/tmp/one.txt") == {"one.txt": b"first\xff\0"}
        whole = got(bench, name, "/tmp")
        assert whole["tmp/one.txt"] == b"first\xff\0"
        assert whole["tmp/two"] == b"x" * 100_000

    def test_facts_of_a_path_come_under_these_names(self, bench: Bench) -> None:
        name = bench.create()
        bench.runtime.archives.put(name, "/tmp", Bytes(tar(one=b"first")))
        with bench.runtime.archives.get(name, "/tmp/one") as (stat, _):
            assert stat.pop("mtime").startswith("1970-01-01T00:00:00")
            assert stat == {"name": "one", "size": 5, "mode": 0o644, "linkTarget": ""}
        with bench.runtime.archives.get(name, "/tmp") as (stat, _):
            assert stat["mode"] & 1 << 31, "a directory"

    def test_an_archive_may_be_left_half_read(self, bench: Bench) -> None:
        name = bench.create()
        bench.runtime.archives.put(name, "/tmp", Bytes(tar(big=b"x" * 5_000_000)))
        with bench.runtime.archives.get(name, "/tmp/big") as (_, pieces):
            assert len(next(pieces)) < 5_000_000
        assert got(bench, name, "/tmp/big") == {"big": b"x" * 5_000_000}

    @pytest.mark.parametrize("path", ["/nosuch", "/nosuch/deeper", "/tmp/../nosuch"])
    def test_a_path_that_is_not_there_is_said_to_be(self, bench: Bench, path: str) -> None:
        name = bench.create()
        with pytest.raises(PathNotFound) as refused:
            got(bench, name, path)
        assert path in refused.value.message
        with pytest.raises(PathNotFound):
            bench.runtime.archives.put(name, path, Bytes(tar(one=b"first" * 1_000_000)))

    def test_a_container_that_does_not_exist_is_not_found(self, bench: Bench) -> None:
        with pytest.raises(RuntimeNotFound):
            got(bench, "zun-absent", "/")
        with pytest.raises(RuntimeNotFound):
            bench.runtime.archives.put("zun-absent", "/", Bytes(tar(one=b"first")))

    @pytest.mark.parametrize("data", [b"x" * 2000, tar(one=b"y" * 5000)[:2000]])
    def test_what_is_no_tar_file_is_a_bad_request(self, bench: Bench, data: bytes) -> None:
        name = bench.create()
        with pytest.raises(RuntimeBadRequest):
            bench.runtime.archives.put(name, "/tmp", Bytes(data))

    def test_a_file_is_no_directory_to_unpack_in(self, bench: Bench) -> None:
        name = bench.create()
        bench.runtime.archives.put(name, "/tmp", Bytes(tar(one=b"first")))
        with pytest.raises(RuntimeBadRequest):
            bench.runtime.archives.put(name, "/tmp/one", Bytes(tar(two=b"second")))
        assert got(bench, name, "/tmp/one") == {"one": b"first"}

    @pytest.mark.parametrize("data", [b"", bytes(1024)])
    def test_an_empty_archive_changes_nothing(self, bench: Bench, data: bytes) -> None:
        name = bench.create()
        bench.runtime.archives.put(name, "/tmp", Bytes(data))
        assert got(bench, name, "/tmp").keys() <= {"tmp"}
