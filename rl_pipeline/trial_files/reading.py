"""Files to columns: each opened once, in one read, and read as a trial or told why it is none.

Nothing raises: of ten thousands of files, one that nobody foresaw must not cost the others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import Any, NamedTuple

from rl_pipeline.dialects.harbor_columns import TrialColumns
from rl_pipeline.dialects.parsed_trial import NAMES, ParsedTrial
from rl_pipeline.dialects.stored_values import stored_name
from rl_pipeline.redaction import may_hold_any

LARGEST_FILE = 256 * 2**20
READ_BYTES = 2**20
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # never wait for a pipe's writer

IDENTIFIER = "0123456789abcdef-"  # no credential is made of these alone
TOGETHER = 16  # names of which one may hold a credential: they are looked at one by one
NOT_REGULAR, TOO_LARGE = "not a regular file", f"larger than {LARGEST_FILE >> 20} MiB; not read"


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
    trials = TrialColumns()
    files: list[FileRead] = []
    for path in paths:
        told = _read(path)
        if isinstance(told, FileRead):
            trials.add_unread()
            files.append(told)
        else:
            content, info = told
            trials.add(content)
            files.append(FileRead(info.st_size, info.st_mtime_ns, info.st_ino, None, True))
    facts, reasons = trials.told()
    for row, reason in reasons.items():
        files[row] = files[row]._replace(reason=reason)
    columns = [*(list(column) for column in zip(*files, strict=True)), *facts] if files else [[] for _ in COLUMNS]
    _clean_names(columns)
    return columns


def _clean_names(columns: Columns) -> None:
    """Take credentials out of names: one look at many of them together costs a fraction of a look at each."""
    names = slice(len(FileRead._fields), len(FileRead._fields) + NAMES)
    different: set[str | None] = set().union(*columns[names])
    told = [name for name in different if name and name.strip(IDENTIFIER)]
    if may_hold_any("\n".join(told)):
        some = [told[start : start + TOGETHER] for start in range(0, len(told), TOGETHER)]
        suspects = [name for group in some if may_hold_any("\n".join(group)) for name in group]
        stored = {name: shown for name in suspects if (shown := stored_name(name)) != name}
        columns[names] = [[stored.get(name, name) for name in column] for column in columns[names]]


def _read(path: str | bytes) -> tuple[bytes, os.stat_result] | FileRead:
    """The content of a file and its state, or why it was not read."""
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except OSError as error:
        return FileRead(None, None, None, _why(error), is_lasting=False)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            return FileRead(info.st_size, info.st_mtime_ns, info.st_ino, NOT_REGULAR, is_lasting=False)
        if info.st_size > LARGEST_FILE:
            return FileRead(info.st_size, info.st_mtime_ns, info.st_ino, TOO_LARGE, is_lasting=True)
        return _content(descriptor, info.st_size), info
    except OSError as error:
        return FileRead(0, 0, 0, _why(error), is_lasting=False)
    finally:
        os.close(descriptor)


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
