"""The container as clients read it."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final

from tierce.api.views import links, times
from tierce.api.views.shapes import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    TIME,
    Shape,
    array,
    mapping,
    nullable,
    record,
)
from tierce.control.policies.container import ADMIN_FIELDS
from tierce.model.lifecycle import Status

_HEALTHCHECK: Final[Shape] = record(
    {"test": STRING, "interval": INTEGER, "timeout": INTEGER, "retries": INTEGER},
    optional=["test", "interval", "timeout", "retries"],
)
_ADDRESSES: Final[Shape] = mapping(
    array(
        record(
            {
                "addr": STRING,
                "version": INTEGER,
                "port": nullable(STRING),
                "subnet_id": nullable(STRING),
                "preserve_on_delete": BOOLEAN,
            },
            optional=["port", "subnet_id", "preserve_on_delete"],
        )
    )
)
_SHAPES: Final[Mapping[str, Shape]] = {
    "uuid": STRING,
    "name": nullable(STRING),
    "project_id": nullable(STRING),
    "user_id": nullable(STRING),
    "image": nullable(STRING),
    "image_driver": nullable(STRING),
    "image_pull_policy": nullable(STRING),
    "cpu": nullable(NUMBER),
    "cpu_policy": {**STRING, "enum": ["shared", "dedicated"]},
    "memory": {**nullable(STRING), "description": "MiB, in digits."},
    "disk": {**INTEGER, "description": "GiB."},
    "command": array(STRING),
    "entrypoint": array(STRING),
    "environment": mapping(STRING),
    "labels": mapping(STRING),
    "workdir": nullable(STRING),
    "hostname": nullable(STRING),
    "interactive": BOOLEAN,
    "tty": BOOLEAN,
    "auto_remove": BOOLEAN,
    "auto_heal": BOOLEAN,
    "privileged": BOOLEAN,
    "runtime": nullable(STRING),
    "host": nullable(STRING),
    "restart_policy": mapping(STRING),
    "healthcheck": _HEALTHCHECK,
    "security_groups": array(STRING),
    "addresses": _ADDRESSES,
    "ports": array(INTEGER),
    "registry_id": nullable(STRING),
    "status": {**nullable(STRING), "enum": [*Status, None]},
    "status_reason": nullable(STRING),
    "status_detail": nullable(STRING),
    "task_state": nullable(STRING),
    "created_at": TIME,
    "updated_at": TIME,
}

FIELDS: Final = tuple(_SHAPES)
"""Every field, at every microversion; policy may hide some from a caller."""

LISTED: Final[Shape] = record(_SHAPES, optional=ADMIN_FIELDS)
"""A container in a list."""

SHOWN: Final[Shape] = record({**_SHAPES, "links": links.LINKS}, optional=ADMIN_FIELDS)
"""A container alone."""

_COLUMN: Final = {"registry_id": "registry_uuid"}
"""Fields that are not named after the row's attribute."""


_STATE: Final = ("status", "started_at", "finished_at", "exit_code", "status_detail", "host")
"""The parameters of `status_detail`, and the node that they are known from."""

_MAY_HAVE_CHANGED: Final = frozenset({Status.RUNNING, Status.PAUSED, Status.RESTARTING})
"""States that end by themselves too: nobody may know, while the node cannot be asked."""


def _array(value: Any) -> Any:
    return value or []


def _object(value: Any) -> Any:
    return value or {}


_CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "cpu_policy": lambda value: value or "shared",
    "disk": lambda value: value or 0,
    **dict.fromkeys(("command", "entrypoint", "security_groups", "ports"), _array),
    **dict.fromkeys(("environment", "labels", "restart_policy", "healthcheck", "addresses"), _object),
    **dict.fromkeys(("interactive", "tty", "auto_remove", "auto_heal", "privileged"), bool),
    **dict.fromkeys(("created_at", "updated_at"), times.seconds),
}
"""What a column is not yet: old rows hold NULL where clients expect a value."""


class ContainerView:
    """Renders rows for one caller at one moment; made once an answer, since lists are long."""

    def __init__(self, hidden: frozenset[str], now: datetime.datetime) -> None:
        self._fields = tuple(field for field in FIELDS if field not in hidden)
        self._columns = (*(_COLUMN.get(field, field) for field in self._fields), *_STATE)
        self._conversions = [(field, _CONVERSIONS[field]) for field in self._fields if field in _CONVERSIONS]
        self.hidden = hidden
        self._now = now

    def items(self, rows: Sequence[Any], down: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
        """The containers of a list, without links. All rows are of one kind; `down` as below."""
        if not rows:
            return []
        read = _reader(rows[0], self._columns)
        return [self._document(read(row), down) for row in rows]

    def whole(self, row: Any, host_url: str, down: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The container alone, with links. `down` are nodes whose containers may be other than is known."""
        document = self._document(_reader(row, self._columns)(row), down)
        if "uuid" not in self.hidden:
            document["links"] = links.links(host_url, "containers", row.uuid)
        return document

    def _document(self, values: tuple[Any, ...], down: frozenset[str]) -> dict[str, Any]:
        # The values of _STATE come last, and so are left over.
        document = dict(zip(self._fields, values, strict=False))
        for field, convert in self._conversions:
            document[field] = convert(document[field])
        if "status_detail" not in self.hidden:
            *state, host = values[-len(_STATE) :]
            detail = status_detail(*state, now=self._now)
            if host in down and state[0] in _MAY_HAVE_CHANGED:
                detail = f"{detail or state[0]}, when its node was last heard of"
            document["status_detail"] = detail
        return document


def _reader(row: Any, columns: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Reads the columns of rows like this one.

    Rows of a list have `_fields`, as named tuples do: by position they cost a thirtieth.
    """
    fields = getattr(row, "_fields", None)
    if fields is None:
        return attrgetter(*columns)
    position = {name: i for i, name in enumerate(fields)}
    return itemgetter(*(position[column] for column in columns))


def status_detail(
    status: str | None,
    started_at: datetime.datetime | None,
    finished_at: datetime.datetime | None,
    exit_code: int | None,
    stored: str | None,
    *,
    now: datetime.datetime,
) -> str | None:
    """The status with its age, which runs on while nothing happens; else what the node last stored.

    The trailing blank of the stopped form is what clients have always read.
    """
    match status:
        case Status.RUNNING if started_at:
            return f"Up {times.age(started_at, now)}"
        case Status.PAUSED if started_at:
            return f"Up {times.age(started_at, now)} (paused)"
        case Status.STOPPED if finished_at and exit_code is not None:
            return f"Exited({exit_code}) {times.age(finished_at, now)} ago "
        case Status.CREATED | Status.RESTARTING | Status.DEAD:
            return status
    return stored
