"""Column types: JSON kept as text, as the schema that we take over has it."""

from typing import Any

import orjson
from sqlalchemy import Text, types
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect

MediumText = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


class _JSONText(types.TypeDecorator[Any]):
    """JSON in a text column. NULL is read as the empty value, and None is written as it.

    Text that is not JSON, or JSON of the other kind, is read as the empty value too: one bad row
    must not fail the list that it is in.
    """

    impl = Text
    cache_ok = True
    kind: type = dict
    empty_text = "{}"

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str:
        return orjson.dumps(value, default=list).decode() if value else self.empty_text

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        if value is None or value == self.empty_text:
            return self.kind()
        try:
            decoded = orjson.loads(value)
        except orjson.JSONDecodeError:
            return self.kind()
        return decoded if isinstance(decoded, self.kind) else self.kind()


class JSONDict(_JSONText):
    """A dict, `{}` when absent."""

    cache_ok = True


class JSONList(_JSONText):
    """A list, `[]` when absent."""

    kind = list
    empty_text = "[]"
    cache_ok = True


class JSONValue(types.TypeDecorator[Any]):
    """Any JSON in a medium text column; None is NULL and bad text is read as None."""

    impl = MediumText
    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:
        return None if value is None else orjson.dumps(value).decode()

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        try:
            return None if value is None else orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
