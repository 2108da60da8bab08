"""`[network]`: how containers are wired."""

from oslo_config import cfg

GROUP = "network"
OPTIONS = [
    cfg.StrOpt("driver", default="bridge", help="Network plug: bridge (Docker's own networks)."),
]
