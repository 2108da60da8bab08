"""The Engine's statistics and the node's facts, read."""

from typing import Any

import pytest

from tierce.model.container import StatsSample
from tierce.runtimes.docker.fingerprint import labels, quota_supported
from tierce.runtimes.docker.stats import sample

GROUPS_V1 = {
    "cpu_stats": {"cpu_usage": {"total_usage": 300}, "system_cpu_usage": 2000, "online_cpus": 4},
    "precpu_stats": {"cpu_usage": {"total_usage": 100}, "system_cpu_usage": 1000},
    "memory_stats": {"usage": 1000, "limit": 4000, "stats": {"total_inactive_file": 200, "inactive_file": 1}},
    "blkio_stats": {
        "io_service_bytes_recursive": [
            {"op": "Read", "value": 10},
            {"op": "Read", "value": 5},
            {"op": "Write", "value": 7},
            {"op": "Total", "value": 22},
        ]
    },
    "networks": {"eth0": {"rx_bytes": 1, "tx_bytes": 2}, "eth1": {"rx_bytes": 10, "tx_bytes": 20}},
}


def test_a_sample_with_control_groups_of_version_1() -> None:
    assert sample(GROUPS_V1) == StatsSample(
        cpu_percent=80.0,
        memory_usage=800,
        memory_limit=4000,
        block_read=15,
        block_write=7,
        network_rx=11,
        network_tx=22,
    )


def test_a_sample_with_control_groups_of_version_2() -> None:
    data = {
        "memory_stats": {"usage": 1000, "limit": 4000, "stats": {"inactive_file": 300}},
        "blkio_stats": {
            "io_service_bytes_recursive": [{"op": "read", "value": 1}, {"op": "write", "value": 2}]
        },
    }
    assert sample(data) == StatsSample(memory_usage=700, memory_limit=4000, block_read=1, block_write=2)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"memory_stats": None, "blkio_stats": {"io_service_bytes_recursive": None}, "networks": None},
        {"cpu_stats": {"cpu_usage": {"total_usage": 5}}, "precpu_stats": {}},
        {"cpu_stats": GROUPS_V1["cpu_stats"], "precpu_stats": {"cpu_usage": {"total_usage": 0}}},
        {"cpu_stats": GROUPS_V1["cpu_stats"], "precpu_stats": GROUPS_V1["cpu_stats"]},
    ],
)
def test_what_is_left_out_counts_as_nothing(data: Any) -> None:
    assert sample(data) == StatsSample()


def test_cpus_are_counted_by_their_readings_when_the_engine_does_not_count() -> None:
    now = {"cpu_usage": {"total_usage": 300, "percpu_usage": [100, 200]}, "system_cpu_usage": 2000}
    assert sample({**GROUPS_V1, "cpu_stats": now}).cpu_percent == 40.0


def test_labels_of_the_engine_are_cut_once() -> None:
    assert labels(["a=b=c", "flag", "empty="]) == {"a": "b=c", "flag": "", "empty": ""}


@pytest.mark.parametrize(
    ("driver", "filesystem", "options", "supported"),
    [
        ("overlay2", "xfs", "rw,relatime,prjquota", True),
        ("overlay2", "xfs", "rw,pquota", True),
        ("overlay2", "xfs", "rw,noquota", False),
        ("overlay2", "ext4", "rw,prjquota", False),
        ("btrfs", "btrfs", "rw", True),
        ("zfs", "zfs", "rw", True),
        ("vfs", "xfs", "rw,pquota", False),
    ],
)
def test_disk_limits_need_a_driver_and_file_system_that_can(
    driver: str, filesystem: str, options: str, supported: bool
) -> None:
    assert quota_supported(driver, filesystem, options) is supported
