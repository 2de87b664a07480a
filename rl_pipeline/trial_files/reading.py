"""Files to columns: each opened once, in one read, and read as a trial or told why it is none.

Nothing raises: of ten thousands of files, one that nobody foresaw must not cost the others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import Any

from rl_pipeline.dialects.harbor_columns import TrialColumns
from rl_pipeline.dialects.harbor_secrets import suspects
from rl_pipeline.dialects.parsed_trial import NAMES, ParsedTrial
from rl_pipeline.dialects.stored_values import stored_name
from rl_pipeline.reader.folder_calls import Readings

LARGEST_FILE = 256 * 2**20
READ_BYTES = 2**20
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # never wait for a pipe's writer

IDENTIFIER = "0123456789abcdef-"  # no credential is made of these alone
NOT_REGULAR, TOO_LARGE = "not a regular file", f"larger than {LARGEST_FILE >> 20} MiB; not read"


# What is known of one file besides the trial's facts: size, time and inode of the moment of reading, None when it could
# not be opened; why it is no trial; and whether that lasts: a reason of the moment (permission, I/O) is tried again.
FileRead = tuple["int | None", "int | None", "int | None", "str | None", bool]
FILE_COLUMNS = ("size", "mtime_ns", "inode", "reason", "is_lasting")
COLUMNS: tuple[str, ...] = (*FILE_COLUMNS, *ParsedTrial._fields)
Columns = list[list[Any]]


def read_columns(paths: Sequence[str | bytes]) -> Columns:
    """The columns of the files of these paths."""
    files = FilesRead()
    for path in paths:
        files.add(path)
    return files.columns()


class FilesRead:
    """Takes files one after the other, and tells of all of them."""

    def __init__(self) -> None:
        self._trials = TrialColumns()
        self._files: Columns = [[] for _ in FILE_COLUMNS]

    def add(self, path: str | bytes) -> None:
        """Read a file."""
        file, content = _read(path)
        for column, value in zip(self._files, file, strict=True):
            column.append(value)
        if content is None:
            self._trials.add_unread()
        else:
            self._trials.add(content)

    def add_read(self, read: Readings) -> None:
        """Files that were read before, all of each."""
        count = len(read.contents)
        told = (read.size, read.mtime_ns, read.inode, (None,) * count, (True,) * count)
        for column, values in zip(self._files, told, strict=True):
            column.extend(values)
        for content in read.contents:
            self._trials.add(content)

    def columns(self) -> Columns:
        """One list per name of `COLUMNS`, a value per file in their order; times in UTC may say that they are."""
        facts, reasons = self._trials.told()
        reason, is_lasting = self._files[FILE_COLUMNS.index("reason") :]
        for row, why in reasons.items():
            reason[row], is_lasting[row] = why, True
        columns = [*self._files, *facts] if reason else [[] for _ in COLUMNS]
        _clean_names(columns)
        return columns


def _clean_names(columns: Columns) -> None:
    """Take credentials out of names."""
    names = slice(len(FILE_COLUMNS), len(FILE_COLUMNS) + NAMES)
    different: set[str | None] = set().union(*columns[names])
    told = [name for name in different if name and name.strip(IDENTIFIER)]
    stored = {name: shown for name in suspects(told) if (shown := stored_name(name)) != name}
    if stored:
        columns[names] = [[stored.get(name, name) for name in column] for column in columns[names]]


def _read(path: str | bytes) -> tuple[FileRead, bytes | None]:
    """What is known of a file, and its content when that was read."""
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except OSError as error:
        return (None, None, None, _why(error), False), None
    try:
        info = os.fstat(descriptor)
        state = (info.st_size, info.st_mtime_ns, info.st_ino)
        if not stat.S_ISREG(info.st_mode):
            return (*state, NOT_REGULAR, False), None
        if state[0] > LARGEST_FILE:
            return (*state, TOO_LARGE, True), None
        return (*state, None, True), _content(descriptor, state[0])
    except OSError as error:
        return (0, 0, 0, _why(error), False), None
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
