"""`[quota]`: limits of a project that has none of its own; -1 is unlimited."""

from oslo_config import cfg

GROUP = "quota"
OPTIONS = [
    cfg.StrOpt(
        "driver",
        default="zun.common.quota.DbQuotaDriver",
        choices=[
            ("zun.common.quota.DbQuotaDriver", "count what a project has, and hold it to its limits"),
            ("zun.common.quota.NoopQuotaDriver", "limit nothing and count nothing"),
        ],
        help="Whether limits are in force.",
    ),
    cfg.IntOpt("containers", default=40, min=-1, help="Containers."),
    cfg.IntOpt("cpu", default=20, min=-1, help="vCPUs."),
    cfg.IntOpt("memory", default=51200, min=-1, help="Memory, MiB."),
    cfg.IntOpt("disk", default=100, min=-1, help="Disk, GiB."),
    cfg.IntOpt(
        "committed_images",
        default=20,
        min=-1,
        help="Images that a project may keep on a node by commit. Not a limit that the API shows or sets.",
    ),
]
