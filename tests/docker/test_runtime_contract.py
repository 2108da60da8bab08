"""The contract of runtimes, kept by a real Docker Engine."""

from collections.abc import Iterator

import pytest

from tests.support.runtime_contract import RuntimeContract
from tierce.runtimes.docker import DockerRuntime


@pytest.fixture(scope="module")
def runtime(docker_engine: str) -> Iterator[DockerRuntime]:
    runtime = DockerRuntime(docker_engine)
    yield runtime
    runtime.close()


class TestDocker(RuntimeContract):
    pass
