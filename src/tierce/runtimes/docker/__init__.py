"""The Docker Engine as a runtime."""

from tierce.runtimes.docker.runtime import DockerRuntime
from tierce.runtimes.docker.spec import SecurityDefaults

__all__ = ["DockerRuntime", "SecurityDefaults"]
