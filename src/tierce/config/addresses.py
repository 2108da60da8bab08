"""Addresses as URLs have them, and this machine's own."""

import ipaddress
import socket


def in_url(host: str) -> str:
    """A host name or address as a URL has it: IPv6 in brackets."""
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        return host


def own() -> str:
    """The IPv4 address from which this machine reaches others; 127.0.0.1 when it reaches none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # of a range for examples; sends nothing
        except OSError:
            return "127.0.0.1"
        address: str = probe.getsockname()[0]
        return address
