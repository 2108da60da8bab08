"""The `openstack` command in the hands of operators: services, zones, hosts, quotas and images."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.support.client import until
from tests.support.cloud import ADMIN, Cloud
from tierce.api.server import ApiServer

NewCloud = Callable[..., Cloud]

RUNNER = """
import contextlib, io, json, sys
from openstackclient import shell
results = []
for line in json.load(sys.stdin):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = shell.main(["appcontainer", *line.split()])
    results.append((code, output.getvalue()))
print(json.dumps(results))
"""
"""Runs several commands in one process: most of the time that one takes goes into its start."""


class Commands:
    def __init__(self, home: pathlib.Path, url: str) -> None:
        self._environment = {
            "HOME": os.fspath(home),
            "PATH": os.environ["PATH"],
            "OS_AUTH_TYPE": "http_basic",
            "OS_ENDPOINT": url,
            "OS_USERNAME": ADMIN,
            "OS_PASSWORD": f"password of {ADMIN}",
        }

    def __call__(self, lines: Sequence[str]) -> list[str]:
        """What each prints. AssertionError unless all succeed."""
        done = subprocess.run(
            [sys.executable, "-c", RUNNER],
            env=self._environment,
            input=json.dumps(list(lines)),
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        results = json.loads(done.stdout)
        assert [code for code, _ in results] == [0] * len(lines), done.stderr
        return [output for _, output in results]

    def json(self, *lines: str) -> list[Any]:
        return [json.loads(output) for output in self([f"{line} -f json" for line in lines])]


@pytest.fixture
def library(new_cloud: NewCloud) -> Cloud:
    return new_cloud(registry=("nginx:1", "bitnami/nginx:1"), quota={"containers": 40, "cpu": 20})


@pytest.fixture
def commands(library: Cloud, tmp_path: pathlib.Path) -> Iterator[Commands]:
    server = ApiServer(library.served, "127.0.0.1", 0, 4)
    host, port = server.start()
    try:
        yield Commands(tmp_path, f"http://{host}:{port}/v1")
    finally:
        server.stop()


def test_services_zones_and_hosts(commands: Commands, library: Cloud) -> None:
    node = "node1 zun-compute"
    disabled, listed, down, up, enabled, zones, hosts, host = commands.json(
        f"service disable {node} --reason disks",
        "service list",
        f"service forcedown {node}",
        f"service forcedown {node} --unset",
        f"service enable {node}",
        "availability zone list",
        "host list",
        "host show node1",
    )
    assert (disabled["Disabled"], disabled["Disabled Reason"]) == (True, "disks")
    assert [(each["Host"], each["State"], each["Disabled Reason"]) for each in listed] == [
        ("node1", "up", "disks")
    ]
    assert [each["Forced_down"] for each in (down, up)] == [True, False]
    assert (enabled["Disabled"], enabled["Disabled Reason"]) == (False, None)
    assert zones == [{"availability_zone": "nova"}]
    assert [each["hostname"] for each in hosts] == [host["hostname"]] == ["node1"]
    commands([f"service delete {node}"])
    assert library.client.call("GET /services") == {"services": []}


def test_quotas(commands: Commands) -> None:
    got, usages, default, updated, classes, new_class = commands.json(
        "quota get p1",
        "quota get p1 --usages",
        "quota default p1",
        "quota update p1 --cpu 3 --memory 5",
        "quota class get default",
        "quota class update default --containers 4",
    )
    assert (got["containers"], got["cpu"]) == (default["containers"], default["cpu"]) == (40, 20)
    assert usages["cpu"] == {"limit": 20, "in_use": 0}
    assert (updated["cpu"], updated["memory"], updated["containers"]) == (3, 5, 40)
    assert (classes["containers"], new_class["containers"]) == (40, 4)
    commands(["quota delete p1"])
    (again,) = commands.json("quota get p1")
    assert (again["cpu"], again["containers"]) == (20, 4)


def test_images(commands: Commands, library: Cloud) -> None:
    (pulled,) = commands.json("image pull nginx:1 node1")
    assert (pulled["repo"], pulled["tag"], pulled["host"]) == ("nginx", "1", "node1")
    until(lambda: library.client.call(f"GET /images/{pulled['uuid']}")["image_id"])
    listed, shown, found, exact, driven = commands.json(
        "image list",
        f"image show {pulled['uuid']}",
        "image search nginx",
        "image search bitnami/nginx --exact-match",
        "image search nginx --image-driver docker",
    )
    assert [each["uuid"] for each in listed] == [shown["uuid"]] == [pulled["uuid"]]
    assert [each["Name"] for each in found] == ["bitnami/nginx", "nginx"]
    assert [each["Name"] for each in exact] == ["bitnami/nginx"]
    assert driven == found
    commands([f"image delete {pulled['uuid']}"])
    assert library.client.call("GET /images")["images"] == []
