"""`[network]`: how containers are wired."""

from oslo_config import cfg

GROUP = "network"
OPTIONS = [
    cfg.StrOpt(
        "address_pool",
        default="10.213.0.0/16",
        help="IPv4 network of which each network of containers gets a /24. Ranges that this "
        "machine has other routes to are passed over. Empty: Docker chooses, and nobody can ask for an "
        "address.",
    ),
]
