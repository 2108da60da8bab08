"""The `openstack` command in the hands of operators: services, zones, hosts, quotas and images."""

import pathlib
from collections.abc import Callable, Iterator

import pytest

from tests.support.cloud import ADMIN, Cloud
from tests.support.openstack import OpenStack, with_password
from tests.support.waiting import until
from tierce.api.server import ApiServer

NewCloud = Callable[..., Cloud]


@pytest.fixture
def library(new_cloud: NewCloud) -> Cloud:
    return new_cloud(registry=("nginx:1", "bitnami/nginx:1"), quota={"containers": 40, "cpu": 20})


@pytest.fixture
def openstack(library: Cloud, tmp_path: pathlib.Path) -> Iterator[OpenStack]:
    server = ApiServer(library.served, "127.0.0.1", 0, 4)
    host, port = server.start()
    try:
        variables = with_password(f"http://{host}:{port}/v1", ADMIN, f"password of {ADMIN}")
        with OpenStack(tmp_path, variables) as openstack:
            yield openstack
    finally:
        server.stop()


def test_services_zones_and_hosts(openstack: OpenStack, library: Cloud) -> None:
    node = "node1 zun-compute"
    disabled = openstack.json("service disable", f"{node} --reason disks")
    assert (disabled["Disabled"], disabled["Disabled Reason"]) == (True, "disks")
    assert [
        (each["Host"], each["State"], each["Disabled Reason"]) for each in openstack.json("service list")
    ] == [("node1", "up", "disks")]
    assert openstack.json("service forcedown", node)["Forced_down"] is True
    assert openstack.json("service forcedown", f"{node} --unset")["Forced_down"] is False
    enabled = openstack.json("service enable", node)
    assert (enabled["Disabled"], enabled["Disabled Reason"]) == (False, None)
    assert openstack.json("availability zone list") == [{"availability_zone": "nova"}]
    hosts = openstack.json("host list")
    assert [each["hostname"] for each in hosts] == [openstack.json("host show", "node1")["hostname"]]
    openstack(f"service delete {node}")
    assert library.client.call("GET /services") == {"services": []}


def test_quotas(openstack: OpenStack) -> None:
    got, default = openstack.json("quota get", "p1"), openstack.json("quota default", "p1")
    assert (got["containers"], got["cpu"]) == (default["containers"], default["cpu"]) == (40, 20)
    assert openstack.json("quota get", "p1 --usages")["cpu"] == {"limit": 20, "in_use": 0}
    updated = openstack.json("quota update", "p1 --cpu 3 --memory 5")
    assert (updated["cpu"], updated["memory"], updated["containers"]) == (3, 5, 40)
    assert openstack.json("quota class get", "default")["containers"] == 40
    assert openstack.json("quota class update", "default --containers 4")["containers"] == 4
    openstack("quota delete p1")
    again = openstack.json("quota get", "p1")
    assert (again["cpu"], again["containers"]) == (20, 4)


def test_images(openstack: OpenStack, library: Cloud) -> None:
    pulled = openstack.json("image pull", "nginx:1 node1")
    assert (pulled["repo"], pulled["tag"], pulled["host"]) == ("nginx", "1", "node1")
    until(lambda: library.client.call(f"GET /images/{pulled['uuid']}")["image_id"])
    listed, shown = openstack.json("image list"), openstack.json("image show", pulled["uuid"])
    assert [each["uuid"] for each in listed] == [shown["uuid"]] == [pulled["uuid"]]
    found = openstack.json("image search", "nginx")
    assert [each["Name"] for each in found] == ["bitnami/nginx", "nginx"]
    assert openstack.json("image search", "nginx --image-driver docker") == found
    exact = openstack.json("image search", "bitnami/nginx --exact-match")
    assert [each["Name"] for each in exact] == ["bitnami/nginx"]
    openstack(f"image delete {pulled['uuid']}")
    assert library.client.call("GET /images")["images"] == []
