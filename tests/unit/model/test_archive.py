"""Tar files as they travel: strict base64, and never more of one in memory than it must be."""

import base64
import io
import random
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.model.archive import Base64Content, as_base64, as_text, content
from tierce.model.errors import Base64Invalid, Invalid

SIZE = 8 * 1024 * 1024


def pieces(data: bytes, size: int = 1000) -> Iterator[bytes]:
    source = io.BytesIO(data)
    while piece := source.read(size):
        yield piece


@given(st.binary(max_size=300), st.integers(1, 50))
def test_base64_is_that_of_the_whole_however_it_is_cut(data: bytes, size: int) -> None:
    assert as_base64(pieces(data, size)) == base64.b64encode(data).decode()


@given(st.binary(max_size=300))
def test_what_was_encoded_comes_back_more_than_once(data: bytes) -> None:
    decoded = Base64Content(base64.b64encode(data).decode())
    assert len(decoded) == len(data)
    assert b"".join(decoded) == data
    assert b"".join(decoded) == data


def test_pieces_fit_together_in_a_long_text() -> None:
    data = random.Random(1).randbytes(1_000_001)
    assert b"".join(Base64Content(base64.b64encode(data).decode())) == data


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "AA",
        "AAA",
        "AAAAA",
        "AA==\n",
        "AA\n==",
        "AA-_",
        "AA==AA==",
        "A===",
        "====",
        "=AAA",
        "AAA=AAAA",
        "ÄAAA",
        "AAA ",
        "AAA\0",
        "A" * 1_000_001,
    ],
)
def test_base64_is_taken_strictly(text: str) -> None:
    with pytest.raises(Base64Invalid):
        content(text, encoded=True)


@given(st.text(max_size=100), st.integers(1, 9))
def test_text_is_its_utf_8(text: str, size: int) -> None:
    made = content(text, encoded=False)
    assert len(made) == len(text.encode())
    assert b"".join(made) == text.encode()
    assert as_text(pieces(text.encode(), size)) == text


@pytest.mark.parametrize("data", [b"\xff", b"good\xc3", b"\xc3\x28"])
def test_bytes_that_are_no_text_are_refused_with_what_to_do(data: bytes) -> None:
    with pytest.raises(Invalid, match="1\\.25"):
        as_text([data])


def extra_memory(work: object) -> int:
    """Bytes that a call takes at most beside what there is."""
    assert callable(work)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = work()
        _, peak = tracemalloc.get_traced_memory()
        del result
        return peak - before
    finally:
        tracemalloc.stop()


def test_decoding_holds_a_piece_at_a_time() -> None:
    text = base64.b64encode(bytes(SIZE)).decode()
    assert extra_memory(lambda: sum(len(piece) for piece in Base64Content(text))) < SIZE / 10


def test_encoding_holds_the_result_once() -> None:
    assert extra_memory(lambda: as_base64(bytes(65536) for _ in range(SIZE // 65536))) < SIZE * 1.5
