"""`[database]`: where the state is."""

from oslo_config import cfg

GROUP = "database"
OPTIONS = [
    cfg.StrOpt(
        "connection",
        default="sqlite:///$state_path/tierce.sqlite",
        secret=True,
        help="SQLAlchemy URL: sqlite, mysql+pymysql (MariaDB, MySQL) or postgresql+psycopg.",
    ),
    cfg.IntOpt("max_pool_size", default=10, min=1, help="Connections kept open."),
    cfg.IntOpt("max_overflow", default=50, min=0, help="Connections beyond those, while needed."),
    cfg.IntOpt(
        "pool_timeout", default=30, min=1, help="Seconds that a request waits for one of these connections."
    ),
    cfg.IntOpt("connection_recycle_time", default=3600, help="Seconds after which a connection is replaced."),
    cfg.IntOpt("connect_timeout", default=10, min=1, help="Seconds that making a connection may take."),
    cfg.IntOpt(
        "statement_timeout",
        default=60,
        min=1,
        help="Seconds after which a statement is given up, migrations excepted. Not on SQLite.",
    ),
    cfg.IntOpt(
        "lock_timeout",
        default=10,
        min=1,
        help="Seconds that a statement waits for a lock; then its transaction is run again. Not on SQLite.",
    ),
    cfg.IntOpt(
        "db_max_retries",
        default=10,
        min=0,
        help="Times that a transaction is run again after a deadlock or on a lost connection.",
    ),
]
