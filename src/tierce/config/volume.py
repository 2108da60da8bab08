"""`[volume]`: where volumes are on a node."""

from oslo_config import cfg

GROUP = "volume"
OPTIONS = [
    cfg.StrOpt("volume_dir", default="$state_path/mnt", help="One directory per volume is made here."),
]
