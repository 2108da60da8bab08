"""`[scheduler]`: how a node is chosen."""

from oslo_config import cfg

GROUP = "scheduler"
OPTIONS = [
    cfg.ListOpt(
        "enabled_filters",
        default=["AvailabilityZoneFilter", "ComputeFilter", "RuntimeFilter"],
        help="Filters that a node must pass, in order.",
    ),
]
