"""A registry as clients read it."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from tierce.api.views.links import LINKS, links
from tierce.api.views.shapes import STRING, Shape, nullable, record
from tierce.db.tables import Registry

_FIELDS: Final = ("uuid", "name", "domain", "username", "project_id", "user_id")
_SHAPES: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(_FIELDS, nullable(STRING)),
    "password": {**STRING, "description": "Always `***`."},
}
LISTED: Final[Shape] = record(_SHAPES)
SHOWN: Final[Shape] = record({"registry": record({**_SHAPES, "links": LINKS})})

_HIDDEN: Final = "***"
"""What is shown for a password, whether there is one or not."""


def item(registry: Registry, hidden: Collection[str]) -> dict[str, Any]:
    """The registry in a list, without links."""
    document = {name: getattr(registry, name) for name in _FIELDS} | {"password": _HIDDEN}
    return {name: value for name, value in document.items() if name not in hidden}


def whole(registry: Registry, hidden: Collection[str], host_url: str) -> dict[str, Any]:
    """The registry alone, in its envelope and with links."""
    document = item(registry, hidden)
    if "uuid" not in hidden:
        document["links"] = links(host_url, "registries", registry.uuid)
    return {"registry": document}
