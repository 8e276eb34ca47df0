"""Logs: one JSON line each for machines, one readable line for a person at a terminal.

A message is a constant sentence; what varies goes into named fields, so that lines can be counted and searched:
`log.info("took the lease", holder=me, epoch=3)`.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

_FIELDS = "fields"


class Log:
    """A named logger whose keyword arguments become fields of the line."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, message: str, **fields: Any) -> None:
        self._logger.debug(message, extra={_FIELDS: fields})

    def info(self, message: str, **fields: Any) -> None:
        self._logger.info(message, extra={_FIELDS: fields})

    def warning(self, message: str, **fields: Any) -> None:
        self._logger.warning(message, extra={_FIELDS: fields})

    def error(self, message: str, **fields: Any) -> None:
        self._logger.error(message, extra={_FIELDS: fields})

    def exception(self, message: str, **fields: Any) -> None:
        """An error with the traceback of the exception at hand."""
        self._logger.exception(message, extra={_FIELDS: fields})


class JsonLines(logging.Formatter):
    """`{"time", "level", "logger", "message", …fields}` on one line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class ReadableLines(logging.Formatter):
    """`12:03:04 WARNING kube.lease: lost the lease  holder=a`, with a traceback below where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f"  {name}={value}" for name, value in getattr(record, _FIELDS, {}).items())
        line = f"{_time(record)[11:19]} {record.levelname:<7} {record.name}: {record.getMessage()}{fields}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def start(level: str = "INFO", stream: TextIO = sys.stderr) -> None:
    """Send every logger of the process to `stream`, in the form that suits its reader."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(ReadableLines() if stream.isatty() else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # Client libraries print whole bodies, Secrets among them, at DEBUG.
    for talkative in ("kubernetes_asyncio", "aiohttp", "asyncio"):
        logging.getLogger(talkative).setLevel(logging.WARNING)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
