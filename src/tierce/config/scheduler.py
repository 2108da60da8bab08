"""`[scheduler]`: how a node is chosen."""

from oslo_config import cfg

GROUP = "scheduler"
OPTIONS = [
    cfg.StrOpt(
        "driver",
        default="filter_scheduler",
        choices=[
            ("filter_scheduler", "the freest of the nodes that pass every enabled filter"),
            ("chance_scheduler", "any node that is up and has room"),
        ],
        help="How a node is chosen.",
    ),
    cfg.MultiStrOpt(
        "available_filters",
        default=["zun.scheduler.filters.all_filters"],
        help="Filters that may be enabled: zun.scheduler.filters.all_filters, "
        "zun.scheduler.filters.<module>.<filter> for one of them, or the dotted name of a function of "
        "one's own, which is enabled by its last part.",
    ),
    cfg.ListOpt(
        "enabled_filters",
        default=[
            "AvailabilityZoneFilter",
            "ComputeFilter",
            "RuntimeFilter",
            "PciPassthroughFilter",
            "CpuSetFilter",
        ],
        help="Filters that a node must pass, in order.",
    ),
]
