"""Microversions: what there are, why each came, and which one a request gets."""

import re
from typing import Final, NamedTuple

import falcon

SERVICE: Final = "container"
HEADER: Final = "OpenStack-API-Version"


class Version(NamedTuple):
    """A microversion; versions compare as numbers, so 1.9 < 1.10."""

    major: int
    minor: int

    @classmethod
    def of(cls, text: str) -> "Version":
        """The version written `X.Y`. Raises ValueError for anything else."""
        if not re.fullmatch(r"[0-9]{1,9}\.[0-9]{1,9}", text):
            raise ValueError(f"{text!r} is not a version")
        major, minor = text.split(".")
        return cls(int(major), int(minor))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


HISTORY: Final = (
    ("1.1", "The first version."),
    ("1.2", "Create: nets."),
    ("1.3", "Create: auto_remove."),
    ("1.4", "Hosts: list and show."),
    ("1.5", "Create: runtime."),
    ("1.6", "Network detach."),
    ("1.7", "Forced delete is for administrators."),
    ("1.8", "Network attach."),
    ("1.9", "Create: hostname."),
    ("1.10", "Delete is asynchronous (it always was)."),
    ("1.11", "Create: mounts."),
    ("1.12", "Delete: stop."),
    ("1.13", "Network list."),
    ("1.14", "Rename is removed: PATCH takes name."),
    ("1.15", "Adding and removing security groups is removed."),
    ("1.16", "Capsules: the restart policy moves into spec."),
    ("1.17", "Network detach: port."),
    ("1.18", "Network list: one item per port."),
    ("1.19", "resize_container."),
    ("1.20", "Create: command is an array; security_groups and exposed_ports exclude each other."),
    ("1.21", "Create: privileged."),
    ("1.22", "Create: healthcheck."),
    ("1.23", "Create: type of a mount."),
    ("1.24", "Create: exposed_ports."),
    ("1.25", "Archives travel as base64."),
    ("1.26", "Quotas."),
    ("1.27", "Networks: delete."),
    ("1.28", "Create: cpu_policy."),
    ("1.29", "Hosts: enable_cpu_pinning."),
    ("1.30", "Registries."),
    ("1.31", "Create: registry."),
    ("1.32", "Capsules: another representation, asynchronous delete."),
    ("1.33", "Actions: finish_time."),
    ("1.34", "Capsules: initContainers."),
    ("1.35", "Capsules: ports of a container."),
    ("1.36", "Create: tty, apart from interactive."),
    ("1.37", "Capsules: tty and stdin."),
    ("1.38", "Capsules: annotations."),
    ("1.39", "Create: host."),
    ("1.40", "Create: entrypoint."),
)
"""Every version with its reason. What a version really changes is where it is asked for."""

MINIMUM: Final = Version.of(HISTORY[0][0])
MAXIMUM: Final = Version.of(HISTORY[-1][0])


class UnsupportedVersion(falcon.HTTPNotAcceptable):
    """The request asks for a version that this service does not speak."""

    def __init__(self, requested: Version) -> None:
        super().__init__(
            title="Requested microversion is unsupported",
            description=f"Version {requested} is not in the supported range "
            f"[{SERVICE} {MINIMUM}, {SERVICE} {MAXIMUM}].",
        )
        self.requested = requested


def negotiate(header: str | None) -> Version:
    """The version that a request gets for the value of its version header (None: absent).

    The value may name several services (`compute 2.1, container 1.12`). Raises falcon's 406 for a value
    that names none of ours, and UnsupportedVersion for one out of range.
    """
    if header is None:
        return MINIMUM
    for element in header.split(","):
        words = element.split()
        if len(words) == 2 and words[0] == SERVICE:
            return _parse(words[1])
    raise falcon.HTTPNotAcceptable(description=f"Invalid service type for {HEADER} header")


def _parse(text: str) -> Version:
    if text.lower() == "latest":
        return MAXIMUM
    try:
        version = Version.of(text)
    except ValueError:
        raise falcon.HTTPNotAcceptable(description=f"Invalid value for {HEADER} header") from None
    if not MINIMUM <= version <= MAXIMUM:
        raise UnsupportedVersion(version)
    return version
