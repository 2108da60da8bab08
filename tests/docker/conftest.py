"""Fixtures of the tests that need a real Docker Engine."""

from tests.support.engines import docker_engine, docker_engine_directory

__all__ = ["docker_engine", "docker_engine_directory"]
