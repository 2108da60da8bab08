"""`[DEFAULT]`: identity of the node, limits of requests, drivers. Names are Zun's where Zun has them."""

import socket

from oslo_config import cfg

from tierce.config import addresses

_SYNC_SECONDS = 600
GROUP = "DEFAULT"
OPTIONS = [
    cfg.HostAddressOpt(
        "host",
        default=socket.gethostname(),
        sample_default="<host name>",
        help="Name of this node: its RPC server name and the value of `host` in the database.",
    ),
    cfg.HostAddressOpt(
        "my_ip",
        default=addresses.own(),
        sample_default="<address of this machine>",
        help="Address under which others reach this machine.",
    ),
    cfg.StrOpt("state_path", default="/var/lib/zun", help="Where this service keeps its files."),
    cfg.StrOpt(
        "transport_url", default="inprocess://", secret=True, help="The message bus, e.g. rabbit://..."
    ),
    cfg.IntOpt(
        "rpc_response_timeout", default=60, min=1, help="Seconds that a call waits for a node's reply."
    ),
    cfg.MultiStrOpt(
        "auth_encryption_key",
        default=[],
        secret=True,
        help="Key of the passwords in the database: 32 characters. Given several times, the first encrypts "
        "and all decrypt.",
    ),
    cfg.StrOpt(
        "auth_encryption_key_file",
        default="$state_path/auth_encryption_key",
        help="Keys, one a line, where auth_encryption_key is not set; `tierce standalone` makes it.",
    ),
    cfg.StrOpt("container_driver", default="docker", help="Runtime plug: docker or fake."),
    cfg.StrOpt(
        "floating_cpu_set",
        default="",
        help="CPUs of this node that are never dedicated, e.g. 0-3,8: for the system and its services.",
    ),
    cfg.StrOpt("container_runtime", default="runc", help="OCI runtime of a container that names none."),
    cfg.StrOpt("default_availability_zone", default="nova", help="Zone of a node that names none."),
    cfg.StrOpt("default_schedule_zone", help="Zone asked for when a request names none (unset: any)."),
    cfg.FloatOpt("minimum_cpus", default=0.1, help="Least `cpu` of a request."),
    cfg.FloatOpt("maximum_cpus", default=16.0, help="Most `cpu` of a request."),
    cfg.FloatOpt("default_cpu", default=1.0, min=0, help="`cpu` of a request that gives none."),
    cfg.IntOpt(
        "minimum_memory", default=6, help="Least `memory` (MiB) of a request; Docker refuses less than 6."
    ),
    cfg.IntOpt("maximum_memory", default=8192, help="Most `memory` (MiB) of a request."),
    cfg.IntOpt("default_memory", default=512, min=0, help="`memory` (MiB) of a request that gives none."),
    cfg.IntOpt(
        "default_memory_swap",
        min=-1,
        help="Most of memory and swap together (MiB) of a container, at least its memory; -1 is no limit "
        "(unset: twice its memory).",
    ),
    cfg.IntOpt("minimum_disk", default=1, help="Least `disk` (GiB) of a request."),
    cfg.IntOpt("maximum_disk", default=160, help="Most `disk` (GiB) of a request."),
    cfg.IntOpt(
        "default_disk", default=10, min=0, help="`disk` (GiB) on nodes that can limit it; 0: no limit."
    ),
    cfg.ListOpt("image_driver_list", default=["docker"], help="Image drivers that a request may name."),
    cfg.StrOpt("default_image_driver", default="docker", help="Image driver of a request that names none."),
    cfg.StrOpt(
        "default_image_pull_policy",
        default="always",
        choices=["always", "ifnotpresent", "never"],
        help="Pull policy of a request that gives none.",
    ),
    cfg.IntOpt(
        "image_pull_idle_timeout", default=300, min=1, help="Seconds without progress that end a pull."
    ),
    cfg.IntOpt(
        "max_archive_size",
        default=32 * 1024 * 1024,
        min=10240,
        help="Bytes of a tar file that one request may move to or from a container. It travels in one "
        "message of the bus, which needs a third more.",
    ),
    cfg.IntOpt(
        "service_down_time", default=180, help="Seconds after its last heartbeat that a node counts as down."
    ),
    cfg.IntOpt("periodic_interval_max", default=60, min=1, help="Seconds between heartbeats."),
    cfg.IntOpt(
        "sync_container_state_interval",
        default=_SYNC_SECONDS,
        help="Seconds between comparisons of database and runtime (a safety net: events come first). "
        "0: the default; below 0: none but at the start.",
    ),
]


def sync_interval(conf: cfg.ConfigOpts) -> int | None:
    """Seconds between comparisons of database and runtime; None: there are none."""
    seconds: int = conf.sync_container_state_interval or _SYNC_SECONDS
    return seconds if seconds > 0 else None
