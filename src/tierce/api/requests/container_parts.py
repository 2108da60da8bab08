"""The structured fields of a create request: mounts, networks, health check, restart policy, ports."""

import base64
import binascii
import ipaddress
import posixpath
import re
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from tierce.api.requests.fields import (
    MAX_INT,
    EmptyIsNone,
    Reference,
    Text,
    between,
    whole,
    whole_schema,
)
from tierce.api.requests.schema import Params
from tierce.model import container
from tierce.model.spec import MountRequest
from tierce.volumes.base import VOLUME_NAME, VOLUME_NAME_RULE

MAX_CONTENTS: Final = 2**24 - 2**16
"""Characters of an injected file in base64: MariaDB takes a statement of less than 16 MiB, file and all."""

MAX_MOUNTS: Final = 32
MAX_PORTS: Final = 256


def _destination(path: str) -> str:
    if not path.startswith("/") or ".." in path.split("/"):
        raise ValueError("It must be an absolute path without '..'.")
    # Two leading slashes mean something else to POSIX, so normpath keeps them.
    plain = posixpath.normpath("/" + path.lstrip("/"))
    if plain == "/":
        raise ValueError("The root of the container cannot be mounted over.")
    return plain


def _volume_size(value: object) -> int:
    size = whole(value)
    between(size, 1, MAX_INT)
    return size


def _source(value: str | None, info: ValidationInfo) -> str | None:
    """The contents of a file, or the name of a volume; the text is not repeated in an error."""
    if value is None:
        return None
    if info.data.get("type") == "bind":
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("The source of a mount of type bind must be base64.") from None
    elif not VOLUME_NAME.fullmatch(value):
        raise ValueError(f"The source of a mount of type volume is its name: {VOLUME_NAME_RULE}")
    return value


VolumeSize = Annotated[
    int, PlainValidator(_volume_size), WithJsonSchema(whole_schema(1, MAX_INT, "GiB of a new volume."))
]


class Mount(Params):
    """One item of `mounts`. Clients may send the unused one of `source` and `size` as an empty string."""

    destination: Annotated[Text, AfterValidator(_destination)]
    type: Literal["volume", "bind"] = "volume"
    source: Annotated[
        str | None,
        Field(strict=True, max_length=MAX_CONTENTS),
        EmptyIsNone,
        AfterValidator(_source),
    ] = None
    size: Annotated[VolumeSize | None, EmptyIsNone] = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> "Mount":
        if self.type == "bind":
            if self.source is None or self.size is not None:
                raise ValueError("A mount of type bind needs source, and takes no size.")
        elif (self.source is None) == (self.size is None):
            raise ValueError("A mount needs either source or size.")
        return self

    def to_request(self) -> MountRequest:
        if self.type == "bind":
            return MountRequest(destination=self.destination, type="bind", contents=self.source)
        return MountRequest(destination=self.destination, source=self.source, size=self.size)


def distinct_destinations(mounts: list[Mount]) -> list[Mount]:
    destinations = [mount.destination for mount in mounts]
    if len(set(destinations)) < len(destinations):
        raise ValueError("Two mounts have the same destination.")
    return mounts


def address(value: str) -> str:
    """An IP address in its usual form. Raises ValueError, also for a zone."""
    return _ipv6(value) if ":" in value else _ipv4(value)


def _ipv4(value: str) -> str:
    return str(ipaddress.IPv4Address(value))


def _ipv6(value: str) -> str:
    if "%" in value:
        raise ValueError("An address with a zone does not belong to a network.")
    return str(ipaddress.IPv6Address(value))


class Net(Params):
    """One item of `nets`: a network, perhaps with addresses, or a port, which has its own."""

    network: Reference | None = None
    port: Reference | None = None
    v4_fixed_ip: (
        Annotated[str, Field(strict=True, json_schema_extra={"format": "ipv4"}), AfterValidator(_ipv4)] | None
    ) = Field(default=None, alias="v4-fixed-ip")
    v6_fixed_ip: (
        Annotated[str, Field(strict=True, json_schema_extra={"format": "ipv6"}), AfterValidator(_ipv6)] | None
    ) = Field(default=None, alias="v6-fixed-ip")

    @model_validator(mode="after")
    def _is_one_thing(self) -> "Net":
        if (self.network is None) == (self.port is None):
            raise ValueError("It must have exactly one of network and port.")
        if self.port is not None and (self.v4_fixed_ip or self.v6_fixed_ip):
            raise ValueError("A port has its own addresses: a fixed IP goes with network.")
        return self

    def to_request(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_none=True)


def distinct_nets(nets: list[Net]) -> list[Net]:
    for kind in ("network", "port"):
        names = [name for net in nets if (name := getattr(net, kind)) is not None]
        if len(set(names)) < len(names):
            raise ValueError(f"The same {kind} is given twice.")
    return nets


def _count(value: object) -> int:
    """An integer that Docker can still express in nanoseconds; null is 0."""
    number = 0 if value is None else whole(value)
    between(number, 0, MAX_INT)
    return number


Count = Annotated[
    int,
    PlainValidator(_count),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_INT},
                {"type": "string", "pattern": "^[0-9]{1,18}$"},
                {"type": "null"},
            ]
        }
    ),
]


class Healthcheck(Params):
    """`cmd` runs in the container's shell; the word `none` switches the image's own check off.

    Times in seconds. An empty object is no health check.
    """

    cmd: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=255)]
    interval: Count = 0
    timeout: Count = 0
    retries: Count = 0

    def to_request(self) -> container.Healthcheck:
        test = None if self.cmd.lower() == "none" else self.cmd
        return container.Healthcheck(
            test=test, interval=self.interval, timeout=self.timeout, retries=self.retries
        )


class RestartPolicy(Params):
    """A retry count goes with on-failure only; with `no` it is ignored."""

    name: Literal["no", "always", "on-failure", "unless-stopped"] = Field(alias="Name")
    count: Count = Field(default=0, alias="MaximumRetryCount")

    @model_validator(mode="after")
    def _count_makes_sense(self) -> "RestartPolicy":
        if self.name in ("always", "unless-stopped") and self.count:
            raise ValueError(f"maximum retry count not valid with restart policy of {self.name}")
        return self

    def to_request(self) -> container.RestartPolicy:
        return container.RestartPolicy(self.name, 0 if self.name == "no" else self.count)


def _exposed_ports(value: object) -> tuple[str, ...]:
    if not isinstance(value, dict):
        raise ValueError("It must be an object.")
    if len(value) > MAX_PORTS:
        raise ValueError(f"It may have at most {MAX_PORTS} items.")
    return tuple(dict.fromkeys(_exposed_port(key) for key in value))


def _exposed_port(key: str) -> str:
    port, _, protocol = key.partition("/")
    if protocol not in ("tcp", "udp") and "/" in key:
        raise ValueError(f"value {key[:64]} is an invalid protocol")
    if not re.fullmatch("[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        raise ValueError(f"value {key[:64]} is invalid as publish port.")
    return f"{int(port)}/{protocol or 'tcp'}"


ExposedPorts = Annotated[
    tuple[str, ...],
    PlainValidator(_exposed_ports),
    WithJsonSchema(
        {
            "description": "The keys are ports, with or without a protocol; the values mean nothing.",
            "type": "object",
            "propertyNames": {"pattern": "^[0-9]{1,5}(/(tcp|udp))?$"},
            "maxProperties": MAX_PORTS,
        }
    ),
]
"""An object whose keys are `80` or `80/tcp`, as normalized keys; its values mean nothing."""
