"""From a RuntimeSpec to the Engine's words: the bodies of container creation and network connection.

Pure. A body holds only the keys that are meant: engines come to refuse options that earlier ones
ignored. StdinOnce is never among them: a shell would end when the first attached client leaves.
Source: the Engine's API reference, `ContainerCreate`.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tierce.model.container import Healthcheck, NetworkAttachment, RestartPolicy, RuntimeSpec

_MIB = 1024 * 1024
_SECOND = 1_000_000_000  # nanoseconds
_CPU_SHARES = 1024  # of one CPU


@dataclasses.dataclass(frozen=True, slots=True)
class NodeDefaults:
    """What a node gives its containers.

    `memory_swap`, in MiB, is the most of memory and swap together where memory is limited: -1 is no limit,
    None twice the memory, as the Engine has it. The others are for those that are not privileged; a
    `pids_limit` of 0 is none.
    """

    no_new_privileges: bool = True
    pids_limit: int = 4096
    drop_capabilities: Sequence[str] = ()
    memory_swap: int | None = None


def create_body(spec: RuntimeSpec, defaults: NodeDefaults) -> dict[str, Any]:
    """The body of `POST /containers/create`; `spec.networks` after the first are not in it."""
    optional = {
        "Cmd": list(spec.command),
        "Entrypoint": list(spec.entrypoint),
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "WorkingDir": spec.workdir,
        "Hostname": spec.hostname,
        "Tty": spec.tty,
        "OpenStdin": spec.interactive,
        "ExposedPorts": {port: {} for port in spec.exposed_ports},
        "Healthcheck": _healthcheck(spec.healthcheck),
        **_primary_network(spec),
    }
    return {
        "Image": spec.image,
        "Labels": {**spec.labels, **spec.owner_labels},
        "HostConfig": _host_config(spec, defaults),
        **_meant(optional),
    }


def update_body(
    memory: int | None, cpus: float | None, cpuset_cpus: Sequence[int], defaults: NodeDefaults
) -> dict[str, Any]:
    """The body of `POST /containers/{id}/update`; memory in MiB."""
    limits = {
        **_memory(memory, defaults),
        "CpuShares": cpus and int(_CPU_SHARES * cpus),
        "CpusetCpus": _numbers(cpuset_cpus),
    }
    return _meant(limits)


def endpoint_config(attachment: NetworkAttachment) -> dict[str, Any]:
    """The container's place in one network, as creation and `POST /networks/{id}/connect` take it."""
    addresses = _meant({"IPv4Address": attachment.ipv4, "IPv6Address": attachment.ipv6})
    return _meant(
        {"Aliases": list(attachment.aliases), "IPAMConfig": addresses, "MacAddress": attachment.mac_address}
    )


def _meant(options: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty, 0 or false: to leave it out means the same, on every version."""
    return {name: value for name, value in options.items() if value}


def _memory(memory: int | None, defaults: NodeDefaults) -> dict[str, Any]:
    """Memory and swap, together: or a new memory may pass the old limit of both."""
    if not memory:
        return {}
    both = 2 * memory if defaults.memory_swap is None else defaults.memory_swap
    return {"Memory": memory * _MIB, "MemorySwap": -1 if both < 0 else max(both, memory) * _MIB}


def _numbers(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _primary_network(spec: RuntimeSpec) -> dict[str, Any]:
    if not spec.networks:
        return {}
    primary = spec.networks[0]
    return {
        "NetworkingConfig": {"EndpointsConfig": {primary.network: endpoint_config(primary)}},
        "MacAddress": primary.mac_address,  # engines before API 1.44 read it here alone
    }


def _host_config(spec: RuntimeSpec, defaults: NodeDefaults) -> dict[str, Any]:
    optional = {
        **_memory(spec.memory, defaults),
        "CpuShares": spec.cpus and int(_CPU_SHARES * spec.cpus),
        "CpusetCpus": _numbers(spec.cpuset_cpus),
        "CpusetMems": _numbers(spec.cpuset_mems),
        "StorageOpt": spec.disk and {"size": f"{spec.disk}G"},
        "Runtime": spec.runtime,
        "RestartPolicy": _restart_policy(spec.restart_policy),
        "AutoRemove": spec.auto_remove,
        # Not `Binds`: those make a missing source as an empty directory, and cut a path at its colon.
        "Mounts": [
            {"Type": "bind", "Source": mount.source, "Target": mount.target, "ReadOnly": mount.read_only}
            for mount in spec.mounts
        ],
        "Privileged": spec.privileged,
        **({} if spec.privileged else _confinement(defaults)),
    }
    return {"NetworkMode": _network_mode(spec), **_meant(optional)}


def _network_mode(spec: RuntimeSpec) -> str:
    """Nowhere, beside its endpoints: Docker 26 starts no container whose mode names a network that is gone,
    also when the container has left it.
    """
    primary = spec.networks[0] if spec.networks else None
    # Engines before API 1.44 give it its MAC address in the network that is named here alone.
    return primary.network if primary and primary.mac_address else "none"


def _confinement(defaults: NodeDefaults) -> dict[str, Any]:
    return {
        "SecurityOpt": ["no-new-privileges"] if defaults.no_new_privileges else [],
        "PidsLimit": defaults.pids_limit,
        "CapDrop": list(defaults.drop_capabilities),
    }


def _restart_policy(policy: RestartPolicy) -> dict[str, Any] | None:
    if policy.name == "no":
        return None
    if policy.name != "on-failure":  # the Engine refuses a count with any other policy
        return {"Name": policy.name}
    return {"Name": policy.name, "MaximumRetryCount": policy.maximum_retry_count}


def _healthcheck(check: Healthcheck | None) -> dict[str, Any] | None:
    """Numbers that are left out are the image's."""
    if check is None:
        return None
    if check.test is None:
        return {"Test": ["NONE"]}
    numbers = {
        "Interval": check.interval * _SECOND,
        "Timeout": check.timeout * _SECOND,
        "Retries": check.retries,
    }
    return {"Test": ["CMD-SHELL", check.test], **_meant(numbers)}
