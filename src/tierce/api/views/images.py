"""An image record as clients read it."""

from operator import attrgetter
from typing import Any, Final

from tierce.api.views.links import links

FIELDS: Final = ("uuid", "repo", "tag", "image_id", "size", "host", "project_id")
_values = attrgetter(*FIELDS)


def image(row: Any, host_url: str) -> dict[str, Any]:
    return dict(zip(FIELDS, _values(row), strict=True)) | {"links": links(host_url, "images", row.uuid)}
