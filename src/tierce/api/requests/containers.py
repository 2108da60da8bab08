"""Parameters of creating and deleting containers."""

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictBool,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from tierce.api.requests.container_parts import (
    MAX_MOUNTS,
    ExposedPorts,
    Healthcheck,
    Mount,
    Net,
    RestartPolicy,
    distinct_destinations,
    distinct_nets,
)
from tierce.api.requests.fields import (
    LEGIBLE,
    MAX_TEXT,
    Bool,
    BoolExtended,
    Cpu,
    Disk,
    HostName,
    ImageName,
    Memory,
    Name,
    NoneWord,
    PullPolicy,
    Reference,
    Text,
    Zone,
    fits_column,
)
from tierce.api.requests.schema import Formerly, Params, Rules, Since, parse, rules_of
from tierce.api.versions import Version
from tierce.model.errors import InvalidParamInVersion
from tierce.model.spec import ContainerSpec
from tierce.networks.base import MAX_NETWORKS

LISTED_COMMAND = Version(1, 20)
"""From here on `command` is an array."""

SEPARATE_TTY = Version(1, 36)
"""Between these two versions `tty` follows `interactive`."""

FORCED_DELETE = Version(1, 7)
STOPPING_DELETE = Version(1, 12)

MAX_WORDS: Final = 4096
MAX_SECURITY_GROUPS: Final = 32

_LEAST: Final = -(2**63)
_BEYOND: Final = 2**64
"""Integers outside of these arrive as floats."""

_SCALAR_BOUNDS: Final[dict[str, Any]] = {"minimum": _LEAST, "exclusiveMaximum": _BEYOND}


def split_command(text: str) -> tuple[str, ...]:
    """The words of a command line by shell quoting rules.

    Raises ValueError for unbalanced quotes, and for a length that no column holds: shlex is slow.
    """
    if len(text) > MAX_TEXT:
        raise ValueError(f"It may have at most {MAX_TEXT} characters.")
    try:
        return tuple(shlex.split(text))
    except ValueError as exc:
        raise ValueError(f"It cannot be split into words: {exc}.") from exc


def words(value: object) -> tuple[str, ...]:
    """An array of words; numbers and booleans become text. Raises ValueError for anything deeper."""
    if not isinstance(value, list):
        raise ValueError("It must be an array.")
    if not all(isinstance(item, str | int | float) for item in value):
        raise ValueError("Its elements must be strings.")
    return tuple(map(_text, value))


def _text(value: str | float) -> str:
    """A scalar as text. Raises ValueError for a number that may have lost digits on its way here."""
    if isinstance(value, float) and not _LEAST < value < _BEYOND:
        raise ValueError("A number of more than 64 bits must be given as a string.")
    return str(value)


def fits_command(command: tuple[str, ...]) -> tuple[str, ...]:
    """The words themselves, if they are few enough and fit their column. Raises ValueError."""
    if len(command) > MAX_WORDS:
        raise ValueError(f"It may have at most {MAX_WORDS} words.")
    fits_column(command)
    return command


def _command(value: object, info: ValidationInfo) -> tuple[str, ...]:
    if rules_of(info).version >= LISTED_COMMAND:
        return words(value)
    if not isinstance(value, str):
        raise ValueError("It must be a string below microversion 1.20.")
    return split_command(value)


def _environment(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError("It must be an object of strings.")
    for name in value:
        if not name.strip() or "=" in name:
            raise ValueError(f"The name {name[:64]!r} is blank or has '='.")
    return value


def _labels(value: object) -> dict[str, str]:
    """Scalars become strings and null is absent, as clients always could rely on."""
    if not isinstance(value, dict):
        raise ValueError("It must be an object.")
    if any(isinstance(item, dict | list) for item in value.values()):
        raise ValueError("Its values must be strings.")
    return {name: _text(item) for name, item in value.items() if item is not None}


def _configured_driver(value: str, info: ValidationInfo) -> str:
    drivers = rules_of(info).conf.image_driver_list
    if value not in drivers:
        raise ValueError(f"It must be one of: {', '.join(drivers)}.")
    return value


def _absolute(path: str) -> str:
    """A path inside the container; the empty one means the image's own."""
    if path and not path.startswith("/"):
        raise ValueError("It must be an absolute path.")
    return path


def _hints(hints: dict[str, Any]) -> dict[str, Any]:
    """The hints themselves, if people can read them: what a filter makes of them is told in words."""
    texts = (text for text in (*hints, *hints.values()) if isinstance(text, str))
    if not all(re.fullmatch(LEGIBLE, text) for text in texts):
        raise ValueError("Its names and values may have no control characters.")
    return hints


def _empty_is_none(value: object) -> object:
    return None if value == {} else value


WORDS_SCHEMA: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": ["string", "number", "boolean"], **_SCALAR_BOUNDS},
    "maxItems": MAX_WORDS,
}

Words = Annotated[
    tuple[str, ...], PlainValidator(words), AfterValidator(fits_command), WithJsonSchema(WORDS_SCHEMA)
]
Command = Annotated[
    tuple[str, ...], PlainValidator(_command), AfterValidator(fits_command), WithJsonSchema(WORDS_SCHEMA)
]
Environment = Annotated[
    dict[str, str],
    PlainValidator(_environment),
    AfterValidator(fits_column),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "propertyNames": {"pattern": r"^[^=]*[^=\s][^=]*$"},
        }
    ),
]
Labels = Annotated[
    dict[str, str],
    PlainValidator(_labels),
    AfterValidator(fits_column),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean", "null"], **_SCALAR_BOUNDS},
        }
    ),
]
Hints = Annotated[
    dict[str, Any],
    AfterValidator(fits_column),
    AfterValidator(_hints),
    WithJsonSchema(
        {
            "type": "object",
            "propertyNames": {"pattern": LEGIBLE},
            "additionalProperties": {"pattern": LEGIBLE},
        }
    ),
]
ImageDriver = Annotated[Text, AfterValidator(_configured_driver)]
GuestName = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=63, pattern=r"^[a-zA-Z0-9\-._]*$")
]


class CreateContainer(Params):
    """The body of `POST /v1/containers`."""

    image: ImageName
    name: Name | None = None
    command: Annotated[Command | None, Formerly("1.20", {"type": ["string", "null"]})] = None
    entrypoint: Annotated[Words | None, Since("1.40", unknown_below=True)] = None
    cpu: Cpu | None = None
    cpu_policy: Literal["shared", "dedicated"] = "shared"
    memory: Memory | None = None
    disk: Disk | None = None
    workdir: Annotated[Text, AfterValidator(_absolute)] | None = None
    environment: Environment = {}
    labels: Labels = {}
    hints: Hints = {}
    auto_remove: Annotated[StrictBool, Since("1.3")] = False
    auto_heal: Bool = False
    interactive: Bool | None = None
    tty: Bool = False
    image_driver: Annotated[ImageDriver | None, NoneWord] = None
    image_pull_policy: PullPolicy | None = None
    restart_policy: RestartPolicy | None = None
    security_groups: Annotated[
        list[Reference], Field(max_length=MAX_SECURITY_GROUPS), AfterValidator(fits_column)
    ] = []
    nets: Annotated[list[Net], Field(max_length=MAX_NETWORKS), AfterValidator(distinct_nets)] = []
    mounts: Annotated[
        list[Mount],
        Field(max_length=MAX_MOUNTS),
        AfterValidator(distinct_destinations),
        Since("1.11", empty_passes=True),
    ] = []
    runtime: Annotated[
        Annotated[str, StringConstraints(strict=True, min_length=1, max_length=32)] | None, Since("1.5")
    ] = None
    hostname: Annotated[GuestName | None, Since("1.9")] = None
    availability_zone: Zone | None = None
    privileged: Annotated[Bool, Since("1.21")] = False
    healthcheck: Annotated[
        Healthcheck | None, BeforeValidator(_empty_is_none), Since("1.22", empty_passes=True)
    ] = None
    exposed_ports: Annotated[ExposedPorts, AfterValidator(fits_column), Since("1.24")] = ()
    registry: Annotated[Name | None, Since("1.31")] = None
    host: Annotated[HostName | None, Since("1.39", unknown_below=True)] = None

    @model_validator(mode="after")
    def _fields_agree(self, info: ValidationInfo) -> "CreateContainer":
        if self.auto_remove and self.restart_policy and self.restart_policy.name != "no":
            raise ValueError("Invalid input for field 'auto_remove'. It excludes a restart_policy.")
        if self.cpu_policy == "dedicated" and self.cpu is not None and not self.cpu.is_integer():
            raise ValueError("Invalid input for field 'cpu'. With cpu_policy dedicated it must be whole.")
        if rules_of(info).version >= LISTED_COMMAND and self.security_groups and self.exposed_ports:
            raise ValueError("Invalid input for field 'exposed_ports'. It excludes security_groups.")
        return self

    def to_spec(self, version: Version) -> ContainerSpec:
        """The request as the rest of the program sees it; `tty` as `version` means it."""
        tty = self.tty
        if LISTED_COMMAND <= version < SEPARATE_TTY and self.interactive is not None:
            tty = self.interactive
        return ContainerSpec(
            image=self.image,
            name=self.name,
            command=self.command,
            entrypoint=self.entrypoint,
            cpu=self.cpu,
            cpu_policy=self.cpu_policy,
            memory=self.memory,
            disk=self.disk,
            workdir=self.workdir,
            environment=self.environment,
            labels=self.labels,
            hints=self.hints,
            auto_remove=self.auto_remove,
            auto_heal=self.auto_heal,
            interactive=bool(self.interactive),
            tty=tty,
            image_driver=self.image_driver,
            image_pull_policy=self.image_pull_policy,
            restart_policy=self.restart_policy.to_request() if self.restart_policy else None,
            security_groups=tuple(self.security_groups),
            nets=tuple(net.to_request() for net in self.nets),
            mounts=tuple(mount.to_request() for mount in self.mounts),
            runtime=self.runtime,
            hostname=self.hostname,
            availability_zone=self.availability_zone,
            privileged=self.privileged,
            healthcheck=self.healthcheck.to_request() if self.healthcheck else None,
            exposed_ports=self.exposed_ports,
            registry=self.registry,
            host=self.host,
        )


class CreateFlags(Params):
    """The query string of `POST /v1/containers`; `run` may be in the body too."""

    run: BoolExtended = False


def create(query: Mapping[str, str], body: Mapping[str, Any], rules: Rules) -> tuple[ContainerSpec, bool]:
    """What to create, and whether to start it. Raises as `parse`."""
    fields = dict(body)
    run_in_body = {"run": fields.pop("run")} if "run" in fields else {}
    flags = parse(CreateFlags, {**run_in_body, **query}, rules)
    return parse(CreateContainer, fields, rules).to_spec(rules.version), flags.run


class DeleteContainer(Params):
    """The parameters of `DELETE /v1/containers/{ident}`."""

    force: BoolExtended = False
    stop: BoolExtended = False
    all_projects: BoolExtended = False


def delete(values: Mapping[str, Any], rules: Rules) -> DeleteContainer:
    """How to delete. Raises as `parse`; a flag that is false was always allowed."""
    flags = parse(DeleteContainer, values, rules)
    if flags.force and not flags.stop and rules.version < FORCED_DELETE:
        raise InvalidParamInVersion("force", str(rules.version), str(FORCED_DELETE))
    if flags.stop and rules.version < STOPPING_DELETE:
        raise InvalidParamInVersion("stop", str(rules.version), str(STOPPING_DELETE))
    return flags
