"""Logging through oslo.log: each record carries the request, container and action it belongs to."""

import contextlib
import contextvars
import logging
from collections.abc import Iterator

from oslo_config import cfg
from oslo_log import log

_subject: contextvars.ContextVar[str] = contextvars.ContextVar("tierce_subject", default="")

FORMAT = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s%(subject)s %(message)s"


class _SubjectFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        subject = _subject.get()
        record.subject = f" [{subject}]" if subject else ""
        return True


def setup(conf: cfg.ConfigOpts) -> None:
    """Log where `[DEFAULT] log_file`, `use_journal`, ... say; without any of them to standard error."""
    conf.set_default("logging_default_format_string", FORMAT)
    if not (conf.log_file or conf.log_dir or conf.use_journal or conf.use_syslog or conf.log_config_append):
        conf.set_default("use_stderr", True)
    conf.set_default("default_log_levels", [*conf.default_log_levels, "alembic=WARN"])
    log.setup(conf, "tierce")
    for handler in logging.getLogger().handlers:
        handler.addFilter(_SubjectFilter())


@contextlib.contextmanager
def about(*subject: str | None) -> Iterator[None]:
    """Mark the records of this block with what they are about, e.g. a request id and a container."""
    token = _subject.set(" ".join(part for part in subject if part))
    try:
        yield
    finally:
        _subject.reset(token)
