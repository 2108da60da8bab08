"""Parameters of lists and shows: pages, filters, `all_projects`."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import TypeAdapter

from tierce.api.requests.fields import NO, YES, BoolExtended
from tierce.api.requests.schema import Params, Rules, parse
from tierce.model.errors import InvalidValue
from tierce.model.spec import ListQuery

Query = Mapping[str, Sequence[str]]
"""A query string: each key with all its values."""

_PAGING: Final = frozenset({"limit", "marker", "sort_key", "sort_dir"})
CONTAINER_FILTERS: Final = frozenset(
    {"name", "image", "project_id", "user_id", "memory", "host", "task_state", "status", "auto_remove"}
)

PAGE: Final[Mapping[str, Mapping[str, Any]]] = {
    "limit": {"type": "integer", "minimum": 1},
    "marker": {"type": "string", "description": "The uuid of the last item of the page before."},
    "sort_key": {"type": "string"},
    "sort_dir": {"type": "string", "enum": ["asc", "desc"]},
}
"""What `paging` reads, as JSON schema."""

FLAG: Final[Mapping[str, Any]] = {"type": "string", "enum": ["", *YES, *NO]}
"""What `flag` reads, as JSON schema; the words may be in any case."""


@dataclasses.dataclass(frozen=True, slots=True)
class Listing:
    """A list request. `filters` are as the client wrote them, for the next page's link."""

    query: ListQuery
    all_projects: bool
    filters: tuple[tuple[str, str], ...]


class _AutoRemove(Params):
    auto_remove: BoolExtended


def container_listing(query: Query, max_limit: int, rules: Rules) -> Listing:
    """The parameters of `GET /v1/containers`. Raises as `listing`."""
    asked = listing(query, max_limit, CONTAINER_FILTERS)
    if "auto_remove" not in query:
        return asked
    words = [parse(_AutoRemove, {"auto_remove": word}, rules).auto_remove for word in query["auto_remove"]]
    page = dataclasses.replace(asked.query, filters={**asked.query.filters, "auto_remove": words})
    return dataclasses.replace(asked, query=page)


def listing(query: Query, max_limit: int, known: frozenset[str]) -> Listing:
    """The parameters of a list that can be filtered by `known` fields, and is sorted by `id`.

    A repeated filter matches any of its values. Raises InvalidValue, also for parameters that it does
    not know.
    """
    all_projects = flag(query, "all_projects")
    page = paging(query, max_limit, "id")
    unknown = sorted(query.keys() - _PAGING - known - {"all_projects"})
    if unknown:
        raise InvalidValue(f"Unknown parameters: {', '.join(unknown)}")
    filters: dict[str, Sequence[Any]] = {key: query[key] for key in query if key in known}
    written = tuple((key, value) for key in filters for value in query[key])
    return Listing(dataclasses.replace(page, filters=filters), all_projects, written)


def filters(known: frozenset[str]) -> dict[str, Mapping[str, Any]]:
    """The filters that `listing` reads, as JSON schema."""
    values = {"type": "array", "items": {"type": "string"}}
    boolean = TypeAdapter(BoolExtended).json_schema()
    return {name: {**values, "items": boolean} if name == "auto_remove" else values for name in sorted(known)}


def paging(query: Query, max_limit: int, sort_key: str) -> ListQuery:
    """Which page of a list, `sort_key` being the default key; larger limits are capped.

    Other parameters are not looked at. Raises InvalidValue. Whether the key can be sorted by is known
    where the rows are.
    """
    sort_dir = once(query, "sort_dir")
    if sort_dir is None:
        sort_dir = "asc"
    if sort_dir not in ("asc", "desc"):
        raise InvalidValue(f"Invalid sort direction: {sort_dir}. Acceptable values are 'asc' or 'desc'")
    limit = once(query, "limit")
    if limit is not None and not re.fullmatch("0*[1-9][0-9]*", limit):
        raise InvalidValue("Limit must be positive integer")
    return ListQuery(
        limit=max_limit if limit is None or len(limit) > 18 else min(int(limit), max_limit),
        marker=once(query, "marker"),
        sort_key=once(query, "sort_key") or sort_key,
        sort_dir=sort_dir,
    )


def flag(query: Query, key: str) -> bool:
    """A boolean that may be left out or empty (false). Raises InvalidValue."""
    word = (once(query, key) or "").lower()
    if word and word not in YES + NO:
        raise InvalidValue(f"Valid {key} values are: {', '.join(YES + NO)}")
    return word in YES


def once(query: Query, key: str) -> str | None:
    """The value of a parameter that may be given once; None when it is absent. Raises InvalidValue."""
    values = query.get(key, ())
    if len(values) > 1:
        raise InvalidValue(f"Parameter '{key}' is given more than once.")
    return values[0] if values else None
