"""Files to columns: each opened once, in one read, and read as a trial or told why it is none.

Nothing raises: of ten thousands of files, one that nobody foresaw must not cost the others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import Any, NamedTuple

from rl_pipeline.dialects.harbor_trial import trial_facts
from rl_pipeline.dialects.parsed_trial import NAMES, ParsedTrial
from rl_pipeline.dialects.stored_values import stored_name
from rl_pipeline.redaction import may_hold_any

LARGEST_FILE = 256 * 2**20
READ_BYTES = 2**20
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # never wait for a pipe's writer

IDENTIFIER = "0123456789abcdef-"  # no credential is made of these alone
NO_FACTS = (None,) * len(ParsedTrial._fields)


class FileRead(NamedTuple):
    """What is known of one file besides the trial's facts.

    Size, time and inode are those of the moment of reading; None when it could not be opened.
    """

    size: int | None
    mtime_ns: int | None
    inode: int | None
    reason: str | None  # why it is no trial
    is_lasting: bool  # False for a reason of the moment (permission, I/O): to be tried again every time


COLUMNS: tuple[str, ...] = (*FileRead._fields, *ParsedTrial._fields)
Columns = list[list[Any]]


def read_columns(paths: Sequence[str | bytes]) -> Columns:
    """One list per name of `COLUMNS`, with one value per file in their order; times in UTC may say that they are."""
    columns = [list(column) for column in zip(*[_row(path) for path in paths], strict=True)] or [[] for _ in COLUMNS]
    _clean_names(columns)
    return columns


def _clean_names(columns: Columns) -> None:
    """Take credentials out of names: one look at all of them together costs a fraction of a look at each."""
    names = slice(len(FileRead._fields), len(FileRead._fields) + NAMES)
    different: set[str | None] = set().union(*columns[names])
    together = "\n".join(name for name in different if name and name.strip(IDENTIFIER))
    if may_hold_any(together):
        columns[names] = [[name and stored_name(name) for name in column] for column in columns[names]]


def _row(path: str | bytes) -> tuple[Any, ...]:
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except OSError as error:
        return None, None, None, _why(error), False, *NO_FACTS
    try:
        info = os.fstat(descriptor)
        told, is_lasting = _told(descriptor, info)
    except OSError as error:
        told, is_lasting, info = _why(error), False, os.stat_result((0,) * 10)
    finally:
        os.close(descriptor)
    if isinstance(told, str):
        return info.st_size, info.st_mtime_ns, info.st_ino, told, is_lasting, *NO_FACTS
    return info.st_size, info.st_mtime_ns, info.st_ino, None, True, *told


def _told(descriptor: int, info: os.stat_result) -> tuple[tuple[Any, ...] | str, bool]:
    """The trial, or why the file is none, and whether that lasts."""
    if not stat.S_ISREG(info.st_mode):
        return "not a regular file", False
    if info.st_size > LARGEST_FILE:
        return f"larger than {LARGEST_FILE >> 20} MiB; not read", True
    content = _content(descriptor, info.st_size)
    try:
        return trial_facts(content), True
    except Exception as error:
        return f"the trial reader failed on it ({type(error).__name__}); please report this file", True


def _content(descriptor: int, size: int) -> bytes:
    """The whole file, in one read when it is as long as it was when it was opened.

    Not mapped into memory: a file that its writer cuts at that moment would kill the process.
    """
    first = os.read(descriptor, size + 1)
    if len(first) == size:
        return first
    pieces, length = [first], len(first)
    while length <= LARGEST_FILE and (piece := os.read(descriptor, READ_BYTES)):
        pieces.append(piece)
        length += len(piece)
    return b"".join(pieces)


def _why(error: OSError) -> str:
    return "no permission to read it" if isinstance(error, PermissionError) else error.strerror or str(error)
