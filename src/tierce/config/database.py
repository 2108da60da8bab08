"""`[database]`: where the state is."""

from oslo_config import cfg

GROUP = "database"
OPTIONS = [
    cfg.StrOpt(
        "connection",
        default="sqlite:///$state_path/tierce.sqlite",
        secret=True,
        help="SQLAlchemy URL: sqlite, mysql+pymysql or postgresql+psycopg2.",
    ),
    cfg.IntOpt("max_pool_size", default=10, min=1, help="Connections kept open."),
    cfg.IntOpt("max_overflow", default=50, min=0, help="Connections beyond those, while needed."),
    cfg.IntOpt("connection_recycle_time", default=3600, help="Seconds after which a connection is replaced."),
    cfg.IntOpt(
        "db_max_retries", default=10, min=0, help="Times that a transaction is run again after a deadlock."
    ),
]
