"""An image record as clients read it."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from tierce.api.views.links import LINKS, links
from tierce.api.views.shapes import STRING, Shape, nullable, record

_SHAPES: Final[Mapping[str, Shape]] = {
    "uuid": STRING,
    "repo": STRING,
    "tag": STRING,
    "image_id": nullable(STRING),
    "size": {**nullable(STRING), "description": "Bytes, in digits."},
    "host": STRING,
    "project_id": nullable(STRING),
}
FIELDS: Final = tuple(_SHAPES)
IMAGE: Final[Shape] = record({**_SHAPES, "links": LINKS})
_values = attrgetter(*FIELDS)


def image(row: Any, host_url: str) -> dict[str, Any]:
    return dict(zip(FIELDS, _values(row), strict=True)) | {"links": links(host_url, "images", row.uuid)}
