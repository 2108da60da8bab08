"""Column types: JSON kept as text, as the schema that we take over has it; times and messages that fit."""

import datetime
import json
import re
from typing import Any

import orjson
from sqlalchemy import DateTime, String, Text, types
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect

_TEXT_BYTES = 2**16 - 1
_UNSAFE = re.compile("[\0\ud800-\udfff]")
MediumText = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def encode(value: Any) -> str:
    """JSON as it is stored: ASCII alone, since the tables of an older cloud cannot hold every character."""
    text = orjson.dumps(value, default=list).decode()
    return text if text.isascii() else json.dumps(value, default=list)


class Moment(types.TypeDecorator[datetime.datetime]):
    """Naive UTC in whole seconds: the reference's columns have no fractions, and MySQL would round up."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self, value: datetime.datetime | None, _dialect: Dialect
    ) -> datetime.datetime | None:
        return None if value is None else value.replace(microsecond=0)


class _Fitting(types.TypeDecorator[str]):
    """Text that a machine wrote for people, made to fit: that something failed must not fail for its text.

    It is cut. NUL, which PostgreSQL has not, and lone surrogates are replaced; on MariaDB, where the tables
    of an older cloud may hold no more than Latin-1, whatever is not ASCII is escaped.
    """

    impl: type[String] = Text
    cache_ok = True
    length: int = _TEXT_BYTES

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        text = _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", value[: self.length])
        if dialect.name == "mysql":
            text = text.encode("ascii", "backslashreplace").decode()[: self.length]
        return text.encode()[:_TEXT_BYTES].decode(errors="ignore")


class Message(_Fitting):
    """Up to 65535 bytes."""

    cache_ok = True


class MessageLine(_Fitting):
    """Up to `length` characters."""

    impl = String
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length


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
        return encode(value) if value else self.empty_text

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
        return None if value is None else encode(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        try:
            return None if value is None else orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
