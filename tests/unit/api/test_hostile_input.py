"""Nothing that a client can send is answered 500."""

import re
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.api.edge import make_edge
from tierce.api.requests.actions import Logs, Top
from tierce.api.requests.containers import CreateContainer
from tierce.api.requests.schema import Rules, parse
from tierce.api.versions import MAXIMUM
from tierce.model.errors import SchemaInvalid

EDGE = make_edge()
RULES = Rules(MAXIMUM, EDGE.conf)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["", "None", "true", "0", "512", "\0", "𝄞", "../x", "/data", "10.0.0.1", "nginx\n"])
)
words = st.text(max_size=8) | st.sampled_from(
    [
        "cmd",
        "interval",
        "Name",
        "MaximumRetryCount",
        "network",
        "port",
        "v4-fixed-ip",
        "destination",
        "size",
        "source",
        "type",
    ]
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=8,
)
bodies = st.dictionaries(st.sampled_from([*CreateContainer.model_fields, "run"]), trees, max_size=4)
versions = st.integers(1, 40).map(lambda minor: f"1.{minor}")


def assert_answered(answer: Any) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        (error,) = answer.json["errors"]
        assert error["code"].startswith("container.")
        assert error["title"]


@settings(max_examples=300)
@given(bodies, versions)
def test_any_json_object_creates_or_is_refused(body: dict[str, Any], version: str) -> None:
    raw = orjson.dumps({"image": "nginx"} | body)

    answer = EDGE.request("POST /v1/containers", raw=raw, version=version)

    assert_answered(answer)
    assert answer.status_code in (202, 400)


@settings(max_examples=100)
@given(st.binary(max_size=60))
def test_any_bytes_as_a_body_are_refused(raw: bytes) -> None:
    assert_answered(EDGE.request("POST /v1/containers", raw=raw or b" "))


@settings(max_examples=200)
@given(
    st.sampled_from(
        [
            "GET /v1/containers",
            "GET /v1/hosts",
            "GET /v1/containers/web/logs",
            "GET /v1/containers/web/top",
            "POST /v1/containers/web/kill",
            "POST /v1/containers/web/stop",
            "POST /v1/containers/web/execute",
            "DELETE /v1/containers/web",
        ]
    ),
    st.sampled_from(
        ["limit", "marker", "since", "tail", "ps_args", "signal", "timeout", "command", "force", "a%00"]
    ),
    st.binary(max_size=12).map(lambda raw: raw.replace(b"#", b"%").decode("latin-1")),
)
def test_any_query_string_is_answered(line: str, key: str, value: str) -> None:
    for stand_in in (EDGE.services.containers, EDGE.services.hosts):
        stand_in.answers["list"] = []

    assert_answered(EDGE.request(f"{line}?{key}={value}"))


@pytest.mark.parametrize(
    "bomb", [b"[" * 100_000, b'{"a":' * 100_000, b'{"hints":' + b"[" * 1000 + b"]" * 1000 + b"}"]
)
def test_bottomless_nesting_is_400(bomb: bytes) -> None:
    assert EDGE.request("POST /v1/containers", raw=bomb).status_code == 400


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from([*"-eowfaux ", "pid", ",", "=", "1", "\n", "user", "--", "environ", "-o ", "-e "]),
        max_size=8,
    ).map("".join)
)
def test_arguments_of_ps_that_pass_are_a_style_or_columns_then_width_then_ids(text: str) -> None:
    try:
        passed = parse(Top, {"ps_args": text}, RULES).ps_args
    except SchemaInvalid:
        return
    assert passed is None or re.fullmatch(
        r"((-[efFl]{1,3}|[axuf]{1,3}|aux[wf]+|(-e )?-e?o [a-z_%,]*\bpid\b[a-z_%,]*)( |$))?"
        r"(-ww?( |$))?([0-9]{1,7}( |$))*",
        passed,
    )


@settings(max_examples=300)
@given(
    st.text(max_size=30)
    | st.datetimes().map(lambda moment: moment.isoformat())
    | st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat(" "))
)
def test_since_is_a_moment_after_1970_or_refused(text: str) -> None:
    try:
        since = parse(Logs, {"since": text}, RULES).to_request().since
    except SchemaInvalid:
        return
    assert since is not None
    assert since >= 0
