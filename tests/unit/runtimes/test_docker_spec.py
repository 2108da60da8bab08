"""A RuntimeSpec in the Engine's words, key by key: what is not meant is not there."""

import dataclasses
from typing import Any

import pytest

from tierce.model.container import BindMount, Healthcheck, NetworkAttachment, RestartPolicy, RuntimeSpec
from tierce.runtimes.docker.spec import NodeDefaults, create_body, endpoint_config, update_body

MIB = 1024 * 1024
OPEN = NodeDefaults(no_new_privileges=False, pids_limit=0)
STRICT = NodeDefaults(no_new_privileges=True, pids_limit=4096, drop_capabilities=("MKNOD", "AUDIT_WRITE"))
LEAST = RuntimeSpec(name="zun-1", image="busybox:1")


def test_the_least_body() -> None:
    expected = {"Image": "busybox:1", "Labels": {}, "HostConfig": {"NetworkMode": "none"}}
    assert create_body(LEAST, OPEN) == expected


def test_the_whole_body() -> None:
    spec = RuntimeSpec(
        name="zun-1",
        image="busybox:1",
        command=("sleep", "1000"),
        entrypoint=("/init", "--"),
        environment={"A": "b", "EMPTY": ""},
        labels={"l": "v", "owner": "user"},
        owner_labels={"owner": "tierce"},
        workdir="/srv",
        hostname="box",
        tty=True,
        interactive=True,
        memory=64,
        cpus=0.5,
        disk=10,
        restart_policy=RestartPolicy("on-failure", 2),
        auto_remove=True,
        runtime="runc",
        healthcheck=Healthcheck("curl -f localhost", interval=10, timeout=2, retries=3),
        exposed_ports=("80/tcp", "53/udp"),
        mounts=(BindMount("/var/a:b", "/data"), BindMount("/var/c", "/etc/c", read_only=True)),
        networks=(
            NetworkAttachment("front", ("web",), "10.0.0.5", "fd00::5", "02:42:00:00:00:05"),
            NetworkAttachment("back"),
        ),
        cpuset_cpus=(0, 2),
        cpuset_mems=(0,),
    )
    assert create_body(spec, STRICT) == {
        "Image": "busybox:1",
        "Cmd": ["sleep", "1000"],
        "Entrypoint": ["/init", "--"],
        "Env": ["A=b", "EMPTY="],
        "Labels": {"l": "v", "owner": "tierce"},
        "WorkingDir": "/srv",
        "Hostname": "box",
        "Tty": True,
        "OpenStdin": True,
        "ExposedPorts": {"80/tcp": {}, "53/udp": {}},
        "Healthcheck": {
            "Test": ["CMD-SHELL", "curl -f localhost"],
            "Interval": 10_000_000_000,
            "Timeout": 2_000_000_000,
            "Retries": 3,
        },
        "MacAddress": "02:42:00:00:00:05",
        "NetworkingConfig": {
            "EndpointsConfig": {
                "front": {
                    "Aliases": ["web"],
                    "IPAMConfig": {"IPv4Address": "10.0.0.5", "IPv6Address": "fd00::5"},
                    "MacAddress": "02:42:00:00:00:05",
                }
            }
        },
        "HostConfig": {
            "NetworkMode": "front",
            "Memory": 67_108_864,
            "MemorySwap": 134_217_728,
            "CpuShares": 512,
            "CpusetCpus": "0,2",
            "CpusetMems": "0",
            "StorageOpt": {"size": "10G"},
            "Runtime": "runc",
            "RestartPolicy": {"Name": "on-failure", "MaximumRetryCount": 2},
            "AutoRemove": True,
            "Mounts": [
                {"Type": "bind", "Source": "/var/a:b", "Target": "/data", "ReadOnly": False},
                {"Type": "bind", "Source": "/var/c", "Target": "/etc/c", "ReadOnly": True},
            ],
            "SecurityOpt": ["no-new-privileges"],
            "PidsLimit": 4096,
            "CapDrop": ["MKNOD", "AUDIT_WRITE"],
        },
    }


@pytest.mark.parametrize(
    ("changes", "host_config"),
    [
        ({"privileged": True}, {"Privileged": True}),
        ({"memory": 0, "cpus": 0.0, "disk": 0}, {}),
        ({"restart_policy": RestartPolicy("no")}, {}),
        (
            {"restart_policy": RestartPolicy("always", 3)},
            {"RestartPolicy": {"Name": "always"}},
        ),
        ({"cpus": 0.1}, {"CpuShares": 102}),
    ],
)
def test_host_options(changes: dict[str, Any], host_config: dict[str, Any]) -> None:
    security = STRICT if changes.get("privileged") else OPEN
    body = create_body(dataclasses.replace(LEAST, **changes), security)
    assert body["HostConfig"] == {"NetworkMode": "none", **host_config}


@pytest.mark.parametrize(
    ("option", "limit"), [(None, 128 * MIB), (-1, -1), (96, 96 * MIB), (0, 64 * MIB), (16, 64 * MIB)]
)
def test_memory_and_swap_together_are_at_least_the_memory(option: int | None, limit: int) -> None:
    defaults = dataclasses.replace(OPEN, memory_swap=option)
    created = create_body(dataclasses.replace(LEAST, memory=64), defaults)["HostConfig"]
    assert created["MemorySwap"] == limit
    assert update_body(64, None, (), defaults) == {"Memory": 64 * MIB, "MemorySwap": limit}


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (Healthcheck(None, interval=5), {"Test": ["NONE"]}),
        (Healthcheck("true"), {"Test": ["CMD-SHELL", "true"]}),
        (Healthcheck("true", interval=1), {"Test": ["CMD-SHELL", "true"], "Interval": 1_000_000_000}),
    ],
)
def test_health_checks(check: Healthcheck, expected: dict[str, Any]) -> None:
    assert create_body(dataclasses.replace(LEAST, healthcheck=check), OPEN)["Healthcheck"] == expected


def test_one_volume_may_be_seen_at_two_paths() -> None:
    mounts = (BindMount("/var/a", "/one"), BindMount("/var/a", "/two"))
    body = create_body(dataclasses.replace(LEAST, mounts=mounts), OPEN)
    assert [mount["Target"] for mount in body["HostConfig"]["Mounts"]] == ["/one", "/two"]


def test_a_plain_endpoint_asks_for_nothing() -> None:
    assert endpoint_config(NetworkAttachment("net")) == {}
