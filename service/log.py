"""How log lines look: one event a line with its ids; JSON into files, columns on a terminal."""

import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from service import traces


def _traced(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """With the trace it belongs to, if one is taken."""
    if found := traces.current():
        event["trace"] = found
    return event


COMMON: Sequence[Processor] = (
    structlog.contextvars.merge_contextvars,
    _traced,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)
CHATTY = ("celery.app.trace", "celery.beat", "celery.worker.strategy")  # a line for each tick of the clock


def setup(level: str = "info", *, stream: TextIO | None = None) -> None:
    """Sends every line of this program, ours and its libraries', to `stream` (standard error).

    May be called again; the last call holds. Log with `structlog.get_logger(__name__).info("event", id=…)`.
    """
    out = logging.StreamHandler(stream) if stream else _StandardError()
    out.setFormatter(formatter(stream or sys.stderr))
    logging.basicConfig(level=level.upper(), handlers=[out], force=True)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.DEBUG if level == "debug" else logging.WARNING)
    logging.captureWarnings(True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *COMMON,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,  # a later setup() must reach loggers that were used before
    )


def at_once(words: str, *_: Any) -> None:
    """A line past all buffers and locks: a signal's handler may come in the midst of another one."""
    if logging.getLogger().level > logging.INFO:
        return
    line = logging.LogRecord(__name__, logging.INFO, __file__, 0, words.strip(), None, None)
    with suppress(OSError):
        os.write(2, f"{formatter(sys.stderr).format(line)}\n".encode())


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to what standard error is at that moment: it may be replaced while we run."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


def formatter(stream: TextIO | None = None) -> logging.Formatter:
    """Makes lines for `stream` (standard output): also of what the API's server says, by `granian.json`."""
    ending: list[Processor] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    if (stream or sys.stdout).isatty():
        ending = [structlog.dev.ConsoleRenderer()]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=list(COMMON),
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
    )
