"""Links: `self` and `bookmark` of an object, `next` of a page."""

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from tierce.api.views.shapes import STRING, Shape, array, record
from tierce.model.spec import ListQuery

LINKS: Final[Shape] = array(record({"href": STRING, "rel": STRING, "type": STRING}, optional=["type"]))


def links(host_url: str, collection: str, ident: str | None) -> list[dict[str, str]]:
    return [
        {"href": self_link(host_url, collection, ident), "rel": "self"},
        {"href": f"{host_url}/{collection}/{ident}", "rel": "bookmark"},
    ]


def self_link(host_url: str, collection: str, ident: str | None) -> str:
    return f"{host_url}/v1/{collection}/{ident}"


def next_page(
    host_url: str,
    collection: str,
    query: ListQuery,
    rows: Sequence[Any],
    more: Iterable[tuple[str, str]] = (),
) -> str | None:
    """The link to the page after `rows`: there when the page is full, with everything that was asked.

    `more` are the parameters beside paging. python-zunclient needs the path to begin with `/v1/`.
    """
    if len(rows) < query.limit:
        return None
    parameters = [
        ("sort_key", query.sort_key),
        ("sort_dir", query.sort_dir),
        ("limit", str(query.limit)),
        ("marker", rows[-1].uuid),
        *more,
    ]
    return f"{host_url}/v1/{collection}?{urlencode(parameters)}"
