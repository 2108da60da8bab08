"""Pages of a list: a total order with NULLs first on every database, continued after a marker row."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, literal, or_

from tierce.model.errors import InvalidParameterValue
from tierce.model.spec import ListQuery


def require_sortable(query: ListQuery, sortable: frozenset[str]) -> None:
    """Raise InvalidParameterValue for a key outside the public ones."""
    if query.sort_key not in sortable:
        raise InvalidParameterValue(f'The sort_key value "{query.sort_key}" is an invalid field for sorting')


def paginate(
    statement: Select[Any], key: Any, tie: Any, marker: object | None, query: ListQuery
) -> Select[Any]:
    """Order by `key`, then by the unique column `tie`, and take the page after the row `marker`."""
    if marker is not None:
        statement = statement.where(_after(key, tie, marker, query.sort_dir != "desc"))
    # NULL first everywhere, whatever the database's own habit.
    columns = (tie,) if key is tie else (key.is_not(None), key, tie)
    for column in columns:
        statement = statement.order_by(column.desc() if query.sort_dir == "desc" else column.asc())
    return statement.limit(query.limit)


def _after(key: Any, tie: Any, marker: object, ascending: bool) -> ColumnElement[bool]:
    """Rows that come later than `marker`."""
    position = getattr(marker, tie.key)
    later: ColumnElement[bool] = tie > position if ascending else tie < position
    if key is tie:
        return later
    value = getattr(marker, key.key)
    if value is None:
        same = and_(key.is_(None), later)
        return or_(same, key.is_not(None)) if ascending else same
    bound = literal(value, key.type)  # a bare boolean cannot be compared by size
    beyond = key > bound if ascending else or_(key < bound, key.is_(None))
    return or_(beyond, and_(key == bound, later))
