"""The file of thresholds that a person gave: read once, whatever kind of file it is.

What is read is handed on as text with the name that is shown: a pipe can be read a single time, and `/dev/stdin` is
another one in each process.
"""

from __future__ import annotations

import os
import select
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from rl_pipeline.errors import ConfigurationError, encodable

MOST_BYTES = 4_000_000  # more than anybody has thresholds for
WAIT_S = 10.0  # for whoever writes into a pipe
AT_ONCE = 65536


@dataclass(frozen=True, slots=True)
class ThresholdsFile:
    """What stands in a file of thresholds, and the name by which reports and messages tell of it."""

    name: str
    text: str


def read_thresholds_file(path: Path) -> ThresholdsFile:
    """The file's text; a pipe whose writer says nothing is not waited for for long.

    Raises:
        ConfigurationError: it cannot be read, or is no text.
    """
    name = encodable(str(path))
    try:
        return ThresholdsFile(name, _content(path).decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            "The thresholds file cannot be read",
            where=f"{name} ({error})",
            expected="a YAML file in UTF-8: rule, then name, then number",
            do="correct the path, or leave the option out to use the built-in thresholds",
            slug="thresholds-unreadable",
        ) from error


def _content(path: Path) -> bytes:
    # Opening a pipe would else wait for one who writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if os.isatty(descriptor):
            raise OSError("a terminal, not a file")
        may_wait = not stat.S_ISREG(os.fstat(descriptor).st_mode)
        content = bytearray()
        until = time.monotonic() + WAIT_S
        while len(content) <= MOST_BYTES:
            if may_wait:
                _await_bytes(descriptor, until)
            read = _read(descriptor)
            if read == b"":
                return bytes(content)
            content += read or b""
        raise OSError(f"more than {MOST_BYTES} bytes")
    finally:
        os.close(descriptor)


def _await_bytes(descriptor: int, until: float) -> None:
    """Return when there is something to read, or nobody who writes is left."""
    asked = select.poll()
    asked.register(descriptor, select.POLLIN)
    if not asked.poll(max(0.0, 1000 * (until - time.monotonic()))):
        raise TimeoutError(f"nobody wrote to it, or closed it, within {WAIT_S:g} seconds")


def _read(descriptor: int) -> bytes | None:
    """Some bytes; none at the end, None when there is nothing yet after all."""
    try:
        return os.read(descriptor, AT_ONCE)
    except BlockingIOError:
        return None
