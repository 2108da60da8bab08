"""`[agent]`: how the node agent does its work."""

from oslo_config import cfg

GROUP = "agent"
OPTIONS = [
    cfg.IntOpt(
        "workers",
        default=32,
        min=1,
        help="Containers worked on at once, beside those whose process or image is waited for.",
    ),
    cfg.IntOpt(
        "lease", default=300, min=120, help="Seconds after which an action of a dead agent may be taken over."
    ),
    cfg.IntOpt("max_attempts", default=5, min=1, help="Runs of an action that keeps ending the process."),
    cfg.IntOpt(
        "retry_interval", default=5, min=1, help="Seconds before an action that must succeed is run again."
    ),
    cfg.IntOpt(
        "unreachable_retries",
        default=2,
        min=0,
        help="Times that an action is tried again, retry_interval apart, while the runtime cannot be reached "
        "(a delete: until it can).",
    ),
    cfg.IntOpt(
        "poll_interval",
        default=60,
        min=1,
        help="Seconds between looks for actions that no message announced.",
    ),
    cfg.IntOpt(
        "upkeep_interval",
        default=600,
        min=1,
        help="Seconds between looks at what seldom needs one: pulls that no message announced, and what the "
        "node has given away and has free (other facts are reported when they change).",
    ),
    cfg.IntOpt("graceful_stop", default=30, min=0, help="Seconds that a stop waits for running actions."),
    cfg.IntOpt(
        "logs_limit", default=4 * 1024 * 1024, help="Bytes of log that one request returns (the newest)."
    ),
    cfg.IntOpt("pids_limit", default=4096, min=0, help="Processes of one container; 0: no limit."),
    cfg.BoolOpt("no_new_privileges", default=True, help="Bar set-uid programs from raising privileges."),
    cfg.ListOpt(
        "drop_capabilities",
        default=["MKNOD", "AUDIT_WRITE"],
        help="Capabilities taken from a container that is not privileged, on top of the engine's own choice.",
    ),
]
