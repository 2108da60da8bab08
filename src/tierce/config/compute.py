"""`[compute]`: the node in the cluster."""

from oslo_config import cfg

GROUP = "compute"
OPTIONS = [
    cfg.StrOpt("topic", default="zun-compute", help="RPC topic of the nodes."),
    cfg.StrOpt(
        "unique_container_name_scope",
        default="",
        choices=["", "project", "global"],
        help="Where a container's name must be unique, regardless of case; empty: nowhere.",
    ),
    cfg.FloatOpt(
        "reserve_disk_for_image", default=0.2, min=0, max=1, help="Share of the disk kept for images."
    ),
    cfg.IntOpt("reserved_host_disk_mb", default=0, min=0, help="Disk kept for the node itself."),
    cfg.IntOpt("reserved_host_memory_mb", default=512, min=0, help="Memory kept for the node itself."),
    cfg.IntOpt("reserved_host_cpus", default=0, min=0, help="CPUs kept for the node itself."),
    cfg.FloatOpt("cpu_allocation_ratio", min=0, help="Overcommit of CPUs; unset: the initial ratio."),
    cfg.FloatOpt("ram_allocation_ratio", min=0, help="Overcommit of memory; unset: the initial ratio."),
    cfg.FloatOpt("disk_allocation_ratio", min=0, help="Overcommit of disk; unset: the initial ratio."),
    cfg.FloatOpt("initial_cpu_allocation_ratio", default=16.0, min=0, help="First overcommit of CPUs."),
    cfg.FloatOpt("initial_ram_allocation_ratio", default=1.5, min=0, help="First overcommit of memory."),
    cfg.FloatOpt("initial_disk_allocation_ratio", default=1.0, min=0, help="First overcommit of disk."),
    cfg.BoolOpt("enable_cpu_pinning", default=False, help="Offer dedicated CPUs."),
]
