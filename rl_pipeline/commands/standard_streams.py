"""Standard input, output and error as every command may count on them."""

from __future__ import annotations

import io
import os
import sys

NUMBERS = (0, 1, 2)


def settle() -> None:
    """Open those that were closed by whoever started the program, and let none refuse a character.

    A file that is opened takes the lowest number that is free: without this a log or a pipe to a helper would become
    standard error. Names of files may hold what no encoding has; what cannot be written is escaped.
    """
    for number in NUMBERS:
        if not _is_open(number):
            # Takes the lowest number, which is this one, since those before it are open.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a number, open to the end
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
