"""`[api]`: the HTTP service and who may use it."""

from oslo_config import cfg

GROUP = "api"
OPTIONS = [
    cfg.HostAddressOpt("host_ip", default="127.0.0.1", help="Address to listen on."),
    cfg.PortOpt("port", default=9517, help="Port to listen on."),
    cfg.IntOpt(
        "workers",
        default=0,
        min=0,
        help="Processes of `tierce api` that serve requests beside each other; 0: one for each CPU.",
    ),
    cfg.IntOpt("threads", default=8, min=1, help="Requests served at once by one process."),
    cfg.IntOpt("max_limit", default=1000, min=1, help="Most items of one page of a list."),
    cfg.IntOpt(
        "max_request_body_size",
        default=100 * 1024 * 1024,
        min=1024,
        help="Bytes of the largest request body; a larger one is answered 413.",
    ),
    cfg.BoolOpt(
        "enable_image_validation",
        default=False,
        help="Search for the image of a container before it is accepted, and refuse one that is not found. "
        "Only the public registry can be searched; images that may come from elsewhere pass.",
    ),
    cfg.StrOpt(
        "auth_strategy",
        default="http_basic",
        choices=["http_basic", "noauth"],
        help="Identity plug. noauth makes every caller an administrator.",
    ),
    cfg.StrOpt(
        "http_basic_auth_user_file",
        default="$state_path/htpasswd",
        help="Users and their bcrypt hashes (`tierce user`).",
    ),
    cfg.StrOpt(
        "http_basic_project_file",
        default="$state_path/projects",
        help="The project and role of each user (`tierce user`).",
    ),
]
