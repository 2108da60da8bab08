"""The framing of output: whatever way the wire cuts it, the payloads come out whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.runtimes.docker.frames import ENDED_EARLY, demultiplex, newest

FRAMES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=8)
CUTS = st.lists(st.integers(1, 30), max_size=40)


def wire(frames: list[tuple[int, bytes]]) -> bytes:
    return b"".join(
        bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4) + payload for stream, payload in frames
    )


def chunks(data: bytes, sizes: list[int]) -> list[bytes]:
    """The data cut into pieces of these sizes, and the rest."""
    cut = []
    for size in sizes:
        cut.append(data[:size])
        data = data[size:]
    return [*cut, data]


@given(FRAMES, CUTS)
def test_however_it_is_cut_the_payloads_are_the_same(
    frames: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    assert b"".join(demultiplex(chunks(wire(frames), cuts))) == b"".join(payload for _, payload in frames)


@given(FRAMES, st.binary(min_size=1, max_size=40), CUTS, st.data())
def test_an_end_inside_a_frame_gives_what_came_and_says_so(
    frames: list[tuple[int, bytes]], last: bytes, cuts: list[int], data: st.DataObject
) -> None:
    final = wire([(1, last)])
    kept = data.draw(st.integers(1, len(final) - 1))
    got = b"".join(demultiplex(chunks(wire(frames) + final[:kept], cuts)))
    whole = b"".join(payload for _, payload in frames)
    assert got == whole + last[: max(0, kept - 8)] + ENDED_EARLY


@given(st.lists(st.binary(max_size=20), max_size=20), st.integers(0, 100))
def test_the_newest_bytes_are_the_end_of_all(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces)
    assert newest(pieces, limit) == (whole[-limit:] if limit else b"")


@pytest.mark.parametrize("chunk", [b"", b"\x01"])
def test_too_little_for_a_header_is_an_early_end_unless_it_is_nothing(chunk: bytes) -> None:
    assert b"".join(demultiplex([chunk])) == (ENDED_EARLY if chunk else b"")
