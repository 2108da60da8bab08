"""`[upgrade_levels]`: what may be said to nodes while some are older."""

from oslo_config import cfg

GROUP = "upgrade_levels"
OPTIONS = [
    cfg.StrOpt(
        "compute",
        choices=["1.0"],
        help="Version that messages to nodes name. Unset: none is named, which means 1.0.",
    ),
]
