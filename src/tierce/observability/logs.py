"""Logging through oslo.log: each record carries the request, container and action it belongs to.

Much of what is logged is what somebody has sent. None of it can begin a line of its own.
"""

import contextlib
import contextvars
import logging
import types
from collections.abc import Iterator, Mapping
from typing import Any

from oslo_config import cfg
from oslo_log import formatters, log

_NOTHING: Mapping[str, str] = types.MappingProxyType({})
_subject: contextvars.ContextVar[Mapping[str, str]] = contextvars.ContextVar(
    "tierce_subject", default=_NOTHING
)

FORMAT = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s%(subject)s %(message)s"


class _SubjectFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        subject = _subject.get()
        record.subject = f" [{' '.join(subject.values())}]" if subject else ""
        if subject:
            # Where oslo.log's formatters look: `context` of a line in JSON, variables of a format string.
            record.context = dict(subject)
        return True


class _OneLine(formatters.ContextFormatter):  # type: ignore[misc]  # the library is untyped
    """The library's lines of text; an exception may have several, each behind the library's prefix."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the library's name)
        # The library adds the second to a record that is made while an exception is handled.
        shown = {name: escaped(getattr(record, name)) for name in ("message", "error_summary")}
        record.__dict__.update(shown)
        line: str = super().formatMessage(record)
        return line

    def formatException(self, ei: Any, **more: Any) -> str:  # noqa: N802 (the library's name)
        return "\n".join(map(escaped, super().formatException(ei, **more).split("\n")))


def setup(conf: cfg.ConfigOpts) -> None:
    """Log where `[DEFAULT] log_file`, `use_journal`, ... say; without any of them to standard error.

    With `[DEFAULT] use_json` a line is an object, whose `context` has what the record is about.
    """
    for kind in ("default", "context"):
        conf.set_default(f"logging_{kind}_format_string", FORMAT)
    if not (conf.log_file or conf.log_dir or conf.use_journal or conf.use_syslog or conf.log_config_append):
        conf.set_default("use_stderr", True)
    # amqp warns of each stop: of messages that come while a channel is closed, and go back to their queue.
    levels = [*conf.default_log_levels, "alembic=WARN", "amqp=ERROR"]
    conf.set_default("default_log_levels", levels)
    log.setup(conf, "tierce")
    for handler in logging.getLogger().handlers:
        handler.addFilter(_SubjectFilter())
        if type(handler.formatter) is formatters.ContextFormatter and not conf.log_config_append:
            handler.setFormatter(_OneLine(project="tierce", datefmt=conf.log_date_format, config=conf))


@contextlib.contextmanager
def about(
    *, request_id: str | None = None, container: str | None = None, action: str | None = None
) -> Iterator[None]:
    """Mark the records of this block with what they are about, on top of what the block around it says.

    Threads that the block starts are marked only if they run in a copy of its context (contextvars).
    """
    given = _given(request_id=request_id, container=container, action=action)
    token = _subject.set({**_subject.get(), **given})
    try:
        yield
    finally:
        _subject.reset(token)


def mark(*, request_id: str | None = None) -> None:
    """Mark what this thread does from now on, in place of what it was about: for who has no block."""
    _subject.set(_given(request_id=request_id))


def escaped(text: str) -> str:
    """The text with its line breaks, control characters and the like as Python writes them in a string."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _given(**parts: str | None) -> dict[str, str]:
    return {name: escaped(part) for name, part in parts.items() if part}
