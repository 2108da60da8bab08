"""The Docker Engine as a runtime."""

from tierce.runtimes.docker.runtime import DockerRuntime
from tierce.runtimes.docker.spec import NodeDefaults

__all__ = ["DockerRuntime", "NodeDefaults"]
