"""A real Docker Engine keeps the contract of networks that a container joins and leaves."""

from collections.abc import Iterator

import pytest

from tests.support.network_contract import NetworkContract
from tierce.runtimes.docker import DockerRuntime


@pytest.fixture(scope="module")
def runtime(docker_engine: str) -> Iterator[DockerRuntime]:
    runtime = DockerRuntime(docker_engine)
    yield runtime
    runtime.close()


class TestDockerNetworks(NetworkContract):
    pass
