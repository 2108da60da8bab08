"""What is written to columns of text and time, and what bad text is read as."""

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import mysql, postgresql, sqlite

from tierce.db.types import JSONDict, JSONList, JSONValue, Message, MessageLine, Moment

DIALECT = sqlite.dialect()
TEXT = st.text(st.characters(codec="utf-8"))
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=8)


def round_trip(column: Any, value: Any) -> Any:
    return column.process_result_value(column.process_bind_param(value, DIALECT), DIALECT)


@given(st.dictionaries(TEXT, JSON))
def test_a_dict_comes_back_as_it_was(value: dict[str, Any]) -> None:
    assert round_trip(JSONDict(), value) == value


@given(st.lists(JSON))
def test_a_list_comes_back_as_it_was(value: list[Any]) -> None:
    assert round_trip(JSONList(), value) == value


@given(JSON)
def test_any_value_comes_back_as_it_was(value: Any) -> None:
    assert round_trip(JSONValue(), value) == value


@pytest.mark.parametrize(("column", "text"), [(JSONDict(), "{}"), (JSONList(), "[]"), (JSONValue(), None)])
def test_nothing_is_written_as_others_write_it(column: Any, text: str | None) -> None:
    assert column.process_bind_param(None, DIALECT) == text


@pytest.mark.parametrize("text", [None, "", "{", "null", "5", '"x"', "sh -c true"])
def test_bad_text_is_read_as_empty(text: str | None) -> None:
    assert JSONDict().process_result_value(text, DIALECT) == {}
    assert JSONList().process_result_value(text, DIALECT) == []


def test_json_of_the_other_kind_is_read_as_empty() -> None:
    assert JSONDict().process_result_value("[1]", DIALECT) == {}
    assert JSONList().process_result_value('{"a": 1}', DIALECT) == []


@pytest.mark.parametrize("text", ["", "{", "nope"])
def test_bad_text_of_any_value_is_read_as_none(text: str) -> None:
    assert JSONValue().process_result_value(text, DIALECT) is None


def test_sets_are_written_as_lists() -> None:
    assert round_trip(JSONDict(), {"cpus": {1}}) == {"cpus": [1]}


@given(st.dictionaries(TEXT, JSON), st.lists(JSON), JSON)
def test_json_is_written_in_ascii(a_dict: dict[str, Any], a_list: list[Any], value: Any) -> None:
    """Which every character set has."""
    written = [
        JSONDict().process_bind_param(a_dict, DIALECT),
        JSONList().process_bind_param(a_list, DIALECT),
        JSONValue().process_bind_param(value, DIALECT),
    ]
    assert all(text is None or text.isascii() for text in written)


@given(st.datetimes())
def test_times_lose_their_fraction(moment: datetime.datetime) -> None:
    written = Moment().process_bind_param(moment, DIALECT)
    assert written is not None
    assert datetime.timedelta(0) <= moment - written < datetime.timedelta(seconds=1)
    assert written.microsecond == 0


ANY_TEXT = st.text(st.characters(), max_size=100)  # surrogates too


@given(ANY_TEXT)
def test_messages_can_be_held_by_every_database(text: str) -> None:
    for dialect in (sqlite.dialect(), postgresql.dialect(), mysql.dialect()):
        for column, longest in ((Message(), 65535), (MessageLine(50), 50)):
            written = column.process_bind_param(text, dialect)
            assert written is not None
            assert "\0" not in written
            assert len(written) <= longest
            written.encode("ascii" if dialect.name == "mysql" else "utf-8")


@given(st.text("abc .,:", max_size=50))
def test_plain_messages_are_kept(text: str) -> None:
    assert MessageLine(50).process_bind_param(text, mysql.dialect()) == text


def test_a_long_message_is_cut_between_characters() -> None:
    written = Message().process_bind_param("a" + "é" * 40_000, postgresql.dialect())
    assert written == "a" + "é" * 32_767
    assert Message().process_bind_param(None, DIALECT) is None
