"""What a line of the log says besides its message."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tierce import config
from tierce.observability import logs

LOG = logging.getLogger("tierce.test")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What a program writes whose `[DEFAULT]` has the options that the test is parametrized with."""
    root = logging.getLogger()
    stream, handlers, level = io.StringIO(), root.handlers[:], root.level
    monkeypatch.setattr("sys.stderr", stream)
    logs.setup(config.load(overrides=[("DEFAULT", *option) for option in request.param]))
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("written", [[]], indirect=True)
def test_a_line_has_what_it_is_about_before_its_message(written: io.StringIO) -> None:
    LOG.info("alone")
    with logs.about(request_id="req-1"), logs.about(action="start", container="c1"):
        LOG.info("within")
    first, second = written.getvalue().splitlines()
    assert first.endswith("INFO tierce.test alone")
    assert second.endswith("INFO tierce.test [req-1 c1 start] within")


@pytest.mark.parametrize("written", [[("use_json", True)]], indirect=True)
def test_a_line_in_json_has_it_as_fields(written: io.StringIO) -> None:
    LOG.info("alone")
    with logs.about(request_id="req-1", container="c1"):
        LOG.info("outer")
        with logs.about(action="start", container="c2"):
            LOG.warning("two\nlines")
    logs.mark(request_id="req-2")
    LOG.info("marked")
    logs.mark()
    LOG.info("alone again")
    assert [(line["message"], line["context"]) for line in lines(written)] == [
        ("alone", {}),
        ("outer", {"request_id": "req-1", "container": "c1"}),
        ("two\nlines", {"request_id": "req-1", "container": "c2", "action": "start"}),
        ("marked", {"request_id": "req-2"}),
        ("alone again", {}),
    ]


FORGED = ["\n", "\r", "\x0b", "\x1c", "\x85", "\u2028", "\u2029", "\x1b[2K"]
"""What begins a line of its own for somebody who reads the log, or hides one."""


@pytest.mark.parametrize("written", [[]], indirect=True)
@pytest.mark.parametrize("text", FORGED)
def test_what_somebody_sent_writes_no_line_of_its_own(written: io.StringIO, text: str) -> None:
    with logs.about(request_id=f"req-1{text}FORGED"):
        LOG.info("no zone %s", f"x{text}FORGED")
    (line,) = written.getvalue().splitlines()
    shown = ascii(text)[1:-1]
    assert line.endswith(f"[req-1{shown}FORGED] no zone x{shown}FORGED")
    assert line.isprintable()


@pytest.mark.parametrize("written", [[]], indirect=True)
def test_nor_does_what_an_error_quotes_and_its_traceback_stays_readable(written: io.StringIO) -> None:
    try:
        raise LookupError("no zone x\rFORGED\nFORGED")
    except LookupError:
        LOG.error("while it is handled")
        LOG.exception("with its traceback")
    said, head, *trace = written.getvalue().splitlines()
    assert said.endswith("while it is handled: LookupError: no zone x\\rFORGED")
    assert head.endswith("with its traceback: LookupError: no zone x\\rFORGED\\nFORGED")
    assert all(" ERROR tierce.test " in line for line in trace)
    assert trace[0].endswith("Traceback (most recent call last):")
    assert any(line.endswith("ERROR tierce.test FORGED") for line in trace)


@pytest.mark.parametrize("written", [[("use_json", True)]], indirect=True)
@pytest.mark.parametrize("text", FORGED)
def test_in_json_a_message_is_as_it_was_and_on_one_line(written: io.StringIO, text: str) -> None:
    LOG.info("no zone %s", f"x{text}FORGED")
    (line,) = lines(written)
    assert line["message"] == f"no zone x{text}FORGED"


@pytest.mark.parametrize(
    "written", [[("logging_context_format_string", "%(request_id)s: %(message)s")]], indirect=True
)
def test_an_operator_s_own_format_can_name_it(written: io.StringIO) -> None:
    with logs.about(request_id="req-1"):
        LOG.info("hello")
    assert written.getvalue() == "req-1: hello\n"
