"""`[docker]`: the Engine of this node."""

from oslo_config import cfg

GROUP = "docker"
OPTIONS = [
    cfg.StrOpt("api_url", default="unix:///var/run/docker.sock", help="Where the Engine listens."),
    cfg.StrOpt(
        "docker_remote_api_version",
        default="auto",
        help="Engine API version; auto takes the newest that both sides speak.",
    ),
    cfg.IntOpt("default_timeout", default=60, min=1, help="Seconds that a call to the Engine may take."),
    cfg.IntOpt("execute_timeout", default=5, min=1, help="Seconds that a non-interactive exec may take."),
    cfg.HostAddressOpt(
        "docker_remote_api_host", default="$my_ip", help="Where the proxy of terminals reaches the Engine."
    ),
    cfg.PortOpt("docker_remote_api_port", default=2375, help="Port at which it does."),
    cfg.StrOpt(
        "docker_remote_api_url",
        sample_default="tcp://$docker_remote_api_host:$docker_remote_api_port",
        help="The same as a URL, which the proxy uses for exec.",
    ),
    cfg.StrOpt("ca_file", help="Authority of the Engine's certificate there."),
    cfg.StrOpt("cert_file", help="Certificate with which the proxy goes there."),
    cfg.StrOpt("key_file", help="Its key. With all three files set the proxy is sent to wss, else to ws."),
    cfg.StrOpt("default_registry", help="Registry of images that name none."),
    cfg.StrOpt("default_registry_username", help="User at that registry."),
    cfg.StrOpt("default_registry_password", secret=True, help="Password at that registry."),
]
