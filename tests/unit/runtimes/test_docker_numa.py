"""NUMA nodes as Linux shows them, from trees of files."""

import pathlib
from collections.abc import Mapping

from tierce.model.numa import Cell
from tierce.runtimes.docker.numa import read


def tree(directory: pathlib.Path, files: Mapping[str, str]) -> pathlib.Path:
    for name, text in files.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return directory


def test_each_node_has_its_own_cpus_and_memory(tmp_path: pathlib.Path) -> None:
    files = {
        "node/online": "0-1",
        "node/node10/cpulist": "4-5",
        "node/node10/meminfo": "Node 10 MemTotal:       2097152 kB\nNode 10 MemFree:  1 kB",
        "node/node2/cpulist": "0-3",
        "node/node2/meminfo": "Node 2 MemTotal:       1048576 kB",
    }
    assert read(9, tree(tmp_path, files)) == [Cell(2, [0, 1, 2, 3], 1024), Cell(10, [4, 5], 2048)]


def test_threads_of_one_core_are_side_by_side(tmp_path: pathlib.Path) -> None:
    threads = {f"cpu/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 2},{cpu % 2 + 2}" for cpu in range(4)}
    files = {"node/node0/cpulist": "0-3", "node/node0/meminfo": "Node 0 MemTotal: 1024 kB", **threads}
    assert read(9, tree(tmp_path, files)) == [Cell(0, [0, 2, 1, 3], 1)]


def test_a_node_of_memory_alone_gives_no_cpus(tmp_path: pathlib.Path) -> None:
    files = {"node/node0/cpulist": "0", "node/node1/cpulist": "", "node/node1/meminfo": "MemTotal: 1 kB"}
    assert read(9, tree(tmp_path, files)) == [Cell(0, [0], 0)]


def test_a_kernel_without_nodes_has_one_with_all_that_is_online(tmp_path: pathlib.Path) -> None:
    assert read(512, tree(tmp_path, {"cpu/online": "0-1,3"})) == [Cell(0, [0, 1, 3], 512)]


def test_where_nothing_is_shown_there_is_nothing(tmp_path: pathlib.Path) -> None:
    assert read(512, tmp_path / "absent") == []
