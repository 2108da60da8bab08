"""Bodies with a long text in them: read to the letter, in a fraction of the memory."""

import base64
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from io import BytesIO
from typing import Any

import falcon
import falcon.testing
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.memory import resident_peak
from tierce.api.http import Request
from tierce.api.received import received

LONG = base64.b64encode(bytes(range(256)) * 1200).decode()
"""More than is taken at a time, and no multiple of it."""


def request(body: bytes, limit: int = 10_000_000) -> Request:
    req = Request(
        falcon.testing.create_environ(method="POST", headers={"content-length": str(len(body))})
        | {"wsgi.input": BytesIO(body)}
    )
    req.body_limit = limit
    return req


def read(body: bytes, opaque: str | None = "data") -> Any:
    with received(request(body)) as raw:
        return raw.json(opaque)


@pytest.mark.parametrize(
    "document",
    [
        {"data": LONG},
        {"path": "/tmp", "data": LONG, "ü": [1, {"a": None}]},
        {"data": LONG + "!"},
        {"data": "\\" + LONG},
        {"data": LONG[:-2] + "=="},
        {"data": LONG[:-1] + "==="},
        {"data": [LONG]},
        {"data": {"data": LONG}},
        {"data": "short", "other": LONG},
        {"data": LONG, "other": LONG},
        {"other": LONG, "data": LONG},
        {LONG: LONG},
        {LONG: "x"},
        [LONG],
        LONG,
        {"data": "ü" * len(LONG)},
    ],
)
def test_wherever_the_long_text_is_the_document_is_the_same(document: Any) -> None:
    for body in (json.dumps(document), json.dumps(document, ensure_ascii=False, indent=3)):
        assert read(body.encode()) == document
        assert read(body.encode(), opaque=None) == document


@settings(max_examples=40)
@given(before=st.integers(0, 9000), length=st.integers(250_000, 800_000), after=st.integers(0, 3))
def test_no_letter_is_lost_at_any_boundary(before: int, length: int, after: int) -> None:
    text = ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/0123456789" * 12_501)[:length]
    body = b" " * before + b'{"data":"' + text.encode() + b'"}' + b"\n" * after
    assert read(body)["data"] == text


@pytest.mark.parametrize("rest", ["", '"', '" x}', '",}', '"}}'])
def test_what_is_not_json_is_refused(rest: str) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read(f'{{"data": "{LONG}{rest}'.encode())


def growth(size: int) -> int:
    """Bytes by which the process grows while it reads a text of that size."""
    req = request(b'{"data": "' + b"A" * size + b'"}', limit=2 * size)

    def work() -> None:
        with received(req) as raw:
            assert len(raw.json("data")["data"]) == size

    return resident_peak(work)


def test_of_a_long_text_there_are_never_two_in_memory() -> None:
    size = 50_000_000
    # In a process of its own: what others left free in this one would be used first.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        assert fresh.submit(growth, size).result() < 1.5 * size
