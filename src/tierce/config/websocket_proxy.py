"""`[websocket_proxy]`: where clients connect to terminals, and for how long they may begin to."""

from oslo_config import cfg

GROUP = "websocket_proxy"
OPTIONS = [
    cfg.StrOpt(
        "base_url",
        sample_default="ws://$wsproxy_host:$wsproxy_port/",
        help="Public address of the proxy, ws or wss, as it stands in what attach and exec answer.",
    ),
    cfg.HostAddressOpt("wsproxy_host", default="$my_ip", help="Address that the proxy listens on."),
    cfg.PortOpt("wsproxy_port", default=6784, help="Port that the proxy listens on."),
    cfg.IntOpt(
        "token_ttl",
        default=600,
        min=0,
        help="Seconds in which a token may be used to connect, from when it was given; 0: for ever.",
    ),
]
