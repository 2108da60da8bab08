"""Logging through oslo.log: each record carries the request, container and action it belongs to."""

import contextlib
import contextvars
import logging
import types
from collections.abc import Iterator, Mapping

from oslo_config import cfg
from oslo_log import log

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


def _given(**parts: str | None) -> dict[str, str]:
    return {name: part for name, part in parts.items() if part}
