"""Pages of a list: a total order with NULL least on every database, continued after a marker row."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

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
    keys = [] if key is tie else [_NullIsLeast(_directed(key, query))]
    return statement.order_by(*keys, _directed(tie, query)).limit(query.limit)


def _directed(column: Any, query: ListQuery) -> ColumnElement[Any]:
    directed: ColumnElement[Any] = column.desc() if query.sort_dir == "desc" else column.asc()
    return directed


class _NullIsLeast(FunctionElement[Any]):
    """An item of ORDER BY that has NULL before every value, or after them when it descends."""

    inherit_cache = True


@compiles(_NullIsLeast)
def _by_habit(element: _NullIsLeast, compiler: SQLCompiler, **kwargs: Any) -> str:
    return compiler.process(element.clauses, **kwargs)


@compiles(_NullIsLeast, "postgresql")
def _by_request(element: _NullIsLeast, compiler: SQLCompiler, **kwargs: Any) -> str:
    order = compiler.process(element.clauses, **kwargs)
    return f"{order} NULLS {'LAST' if order.endswith(' DESC') else 'FIRST'}"


def _after(key: Any, tie: Any, marker: object, ascending: bool) -> ColumnElement[bool]:
    """Rows that come later than `marker`."""
    position = getattr(marker, tie.key)
    later: ColumnElement[bool] = tie > position if ascending else tie < position
    if key is tie:
        return later
    if getattr(marker, key.key) is None:
        same = and_(key.is_(None), later)
        return or_(same, key.is_not(None)) if ascending else same
    # What the database has, not what was read of it: MariaDB shows floats with six digits.
    stored = select(key).where(tie == position).correlate(None).scalar_subquery()
    beyond = key > stored if ascending else or_(key < stored, key.is_(None))
    return or_(beyond, and_(key == stored, later))
