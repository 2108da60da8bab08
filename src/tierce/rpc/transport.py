"""The connection to the bus, from configuration.

oslo.messaging registers options of its own, some under names that ours have too: they live in a
configuration object apart, read from the same files.
"""

import socket
import sys
from typing import Any

import oslo_messaging
from oslo_config import cfg

from tierce.model.errors import TierceError
from tierce.rpc import failures

_EXCHANGE = "zun"
_AMQP_PORT = 5672
_NOT_OFFERED = {"oslo_messaging_tracing": "tracing_enabled", "oslo_messaging_metrics": "metrics_enabled"}


class BusRefused(TierceError):
    """The configuration of the bus cannot be used, or the bus does not let this program in."""


def build_transport(conf: cfg.ConfigOpts) -> Any:
    """The transport that `[DEFAULT] transport_url` names; one serves a whole process.

    Connects to nothing yet. The exchange is `zun` unless `[DEFAULT] control_exchange` says otherwise.
    Raises BusRefused when it cannot be used; that does not repeat it, as it may have a password.
    """
    failures.install()
    oslo_messaging.set_transport_defaults(_EXCHANGE)
    bus_conf = cfg.ConfigOpts()
    bus_conf(args=[], default_config_files=conf.config_file, default_config_dirs=conf.config_dir)
    for group, name in _NOT_OFFERED.items():
        # The library reads these from the object it is given, and registers them on its global one.
        bus_conf.register_opt(cfg.BoolOpt(name), group=group)
        bus_conf.set_override(name, False, group=group)
    try:
        transport = oslo_messaging.get_rpc_transport(
            bus_conf, url=conf.transport_url, allowed_remote_exmods=[failures.ZUN_MODULE]
        )
    except (ValueError, oslo_messaging.InvalidTransportURL, oslo_messaging.DriverLoadFailure):
        raise BusRefused(
            "`[DEFAULT] transport_url` is not a URL such as rabbit://USER:PASSWORD@HOST:5672/VHOST, or names "
            "a bus that is not installed. Special characters of a password are written as in URLs, such as "
            "%40 for @."
        ) from None
    for host in oslo_messaging.TransportURL.parse(bus_conf, conf.transport_url).hosts:
        if "/" in f"{host.username}{host.password}":
            raise BusRefused(
                "An account in `[DEFAULT] transport_url` has a slash in its name or password. The bus's "
                "library cannot send one, however it is written: give the account another one."
            )
    return transport


def build_shared_transport(conf: cfg.ConfigOpts) -> Any:
    """As `build_transport`, for a program that is one of several: the bus must be outside of it."""
    transport = build_transport(conf)
    if not broker_addresses(transport, conf):
        raise BusRefused(
            "`[DEFAULT] transport_url` names no broker: an API and its agents meet on a message bus. For one "
            "machine there is `tierce standalone`, which needs none."
        )
    return transport


def broker_addresses(transport: Any, conf: cfg.ConfigOpts) -> list[tuple[str, int]]:
    """Host and port of each broker of the transport; none for the bus inside the process."""
    url = oslo_messaging.TransportURL.parse(transport.conf, conf.transport_url)
    return [(host.hostname, host.port or _AMQP_PORT) for host in url.hosts]


def reachable(brokers: list[tuple[str, int]], seconds: float) -> bool:
    """Whether any broker takes a TCP connection, waiting `seconds` for each."""
    for broker in brokers:
        try:
            socket.create_connection(broker, timeout=seconds).close()
        except OSError:
            continue
        return True
    return False


def answers(transport: Any, conf: cfg.ConfigOpts, seconds: float) -> bool:
    """Whether the bus can be reached, waiting `seconds` for each of its brokers; always without one."""
    brokers = broker_addresses(transport, conf)
    return not brokers or reachable(brokers, seconds)


def send_errors() -> tuple[type[Exception], ...]:
    """What a send may raise when the bus cannot be reached, by the drivers loaded until now.

    The rabbit driver lets errors of its own libraries through. They are looked up among what is
    loaded, as importing them would cost a process without a broker 10 MiB.
    """
    known = (("kombu.exceptions", "KombuError"), ("amqp.exceptions", "AMQPError"))
    loaded = [getattr(sys.modules[module], name) for module, name in known if module in sys.modules]
    return (oslo_messaging.MessagingException, OSError, *loaded)
