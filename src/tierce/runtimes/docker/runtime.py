"""The Docker Engine as a Runtime: its faces and the connection that they share."""

from oslo_config import cfg

from tierce.runtimes.docker.archives import EngineArchives
from tierce.runtimes.docker.connection import Connection
from tierce.runtimes.docker.containers import EngineContainers
from tierce.runtimes.docker.images import EngineImages
from tierce.runtimes.docker.networks import BridgeNetworks
from tierce.runtimes.docker.spec import NodeDefaults
from tierce.runtimes.docker.terminals import EngineTerminals

_SPARE_CONNECTIONS = 8
"""For what is not one of the agent's workers: its event stream, inventory, and synchronous requests."""

_DEFAULTS = NodeDefaults()


class DockerRuntime:
    """One Engine. Making this object asks the Engine nothing; every call fails alone while it is down."""

    name = "Docker"

    def __init__(
        self,
        api_url: str,
        *,
        api_version: str = "auto",
        timeout: float = 60,
        pool_size: int = 40,
        defaults: NodeDefaults = _DEFAULTS,
    ) -> None:
        """`timeout` in seconds; `pool_size` connections are kept open at most, more are made when needed."""
        self._connection = Connection(api_url, api_version=api_version, timeout=timeout, pool_size=pool_size)
        self._containers = EngineContainers(self._connection, defaults)
        self._terminals = EngineTerminals(self._connection)
        self._archives = EngineArchives(self._connection)
        self._images = EngineImages(self._connection)
        self._networks = BridgeNetworks(self._connection)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "DockerRuntime":
        """By the options of `[docker]` and `[agent]`, and `default_memory_swap`."""
        return cls(
            conf.docker.api_url,
            api_version=conf.docker.docker_remote_api_version,
            timeout=conf.docker.default_timeout,
            pool_size=conf.agent.workers + _SPARE_CONNECTIONS,
            defaults=NodeDefaults(
                no_new_privileges=conf.agent.no_new_privileges,
                pids_limit=conf.agent.pids_limit,
                drop_capabilities=tuple(conf.agent.drop_capabilities),
                memory_swap=conf.default_memory_swap,
            ),
        )

    @property
    def containers(self) -> EngineContainers:
        return self._containers

    @property
    def terminals(self) -> EngineTerminals:
        return self._terminals

    @property
    def archives(self) -> EngineArchives:
        return self._archives

    @property
    def images(self) -> EngineImages:
        return self._images

    @property
    def networks(self) -> BridgeNetworks:
        return self._networks

    def close(self) -> None:
        self._connection.close()
