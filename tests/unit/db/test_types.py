"""JSON in text columns: what is written, and what bad text is read as."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from tierce.db.types import JSONDict, JSONList, JSONValue

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
