"""Ctrl-C and `kill` in the middle of work, also of other programs' code."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SIGNALLED = 128  # a shell adds the signal to it in the exit code of a program that one has ended


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


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP end the program as Ctrl-C does: what was begun is cleared away first.

    Schedulers and `timeout` send the first one, a terminal that is closed the second one. Others that come meanwhile
    change nothing; what is ignored already, as `nohup` has it, stays ignored.
    """
    earlier = {}
    with suppress(ValueError):  # only the main thread hears signals
        for number in filter(None, (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))):
            if signal.getsignal(number) is not signal.SIG_IGN:
                earlier[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _end(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(SIGNALLED + number)
