"""A node that does not answer: those who wait for it leave room for everybody else."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.cloud import Cloud
from tests.support.threads import Gate

NewCloud = Callable[..., Cloud]


@pytest.mark.parametrize(
    "line",
    [
        "GET /containers/{}/logs",
        "POST /containers/{}/execute?command=true",
        "POST /containers/{}/execute?command=true&run=false",
        "POST /containers/{}/resize?h=24&w=80",
        "GET /containers/{}/get_archive?path=/",
        "PATCH /containers/{}?memory=128",
        "GET /images/busybox/search",
    ],
)
def test_no_more_than_half_of_the_threads_wait_for_nodes(new_cloud: NewCloud, line: str) -> None:
    cloud = new_cloud(api={"threads": 2})
    client, hanging = cloud.client, Gate()
    uuid = client.running(interactive=True)
    cloud.engine.script("top", until=hanging)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.call, f"GET /containers/{uuid}/top")
        try:
            assert hanging.reached.wait(30)
            assert client.error(line.format(uuid))[:2] == (503, "container.service-busy")
            assert client.call(f"GET /containers/{uuid}")["memory"] == "64"
        finally:
            hanging.set()
        first.result(30)
    client.call(line.format(uuid))
