"""Fixtures of the tests that need a real Docker Engine."""

import pathlib
from collections.abc import Iterator

import docker
import pytest

from tests.support import registry
from tests.support.engines import docker_engine, docker_engine_directory
from tests.support.team import _cleared, ann, bob, team

__all__ = [
    "_cleared",
    "ann",
    "bob",
    "docker_engine",
    "docker_engine_directory",
    "engine",
    "image_in_registry",
    "team",
]


@pytest.fixture(scope="session")
def engine(docker_engine: str) -> Iterator[docker.DockerClient]:
    """The session's Engine, to look and to act behind the service's back."""
    client = docker.DockerClient(base_url=docker_engine)
    yield client
    client.close()


@pytest.fixture(scope="session")
def image_in_registry(docker_engine_directory: pathlib.Path) -> Iterator[str]:
    """The reference of an image that the Engine can pull."""
    with registry.registry(docker_engine_directory):
        yield registry.IMAGE
