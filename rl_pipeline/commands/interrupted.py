"""Ctrl-C in the middle of other programs' code."""

from __future__ import annotations

import logging


class NotInterrupted(logging.Filter):
    """Lets all pass but what tells of an interruption.

    A library that is closing a connection when Ctrl-C comes logs that with a traceback and passes it on; the command
    itself says that it was interrupted.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is told."""
        told = record.exc_info[1] if record.exc_info else None
        return not isinstance(told, KeyboardInterrupt)


def tell_interruptions_once() -> None:
    """From now on only the command itself tells of Ctrl-C."""
    for handler in (logging.lastResort, *logging.getLogger().handlers):
        if handler is not None and not any(isinstance(known, NotInterrupted) for known in handler.filters):
            handler.addFilter(NotInterrupted())
