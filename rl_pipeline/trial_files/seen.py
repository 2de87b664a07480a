"""Which trial files there are, and in which state: one digest, the same however they were found.

Whoever reads trials knows it as of the moment of reading; whoever asks later whether anything changed walks, and asks
the file system. Imports little: that has to be answered at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rl_pipeline.reader.trial_folders import NotRead
from rl_pipeline.reader.trial_states import RESULT

NUL = "\0"  # stands in no name of a file


class States(NamedTuple):
    """Files of trials as they were, a column each."""

    folder: Sequence[str]  # relative to the root, with slashes
    size: Sequence[int | None]  # None, or less than 0, when it was not told: then it is asked for
    mtime_ns: Sequence[int | None]
    inode: Sequence[int | None]
    leaf_mtime_ns: Sequence[int | None]  # as of `TrialFile`


class Seen:
    """Is told what was found below each root, one root after the other, and keeps no more of it than a digest."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)
        self.leaves: dict[Path, Iterable[str]] = {}  # folders that are trials with no other trial below, relative

    def add(self, root: Path, states: Iterable[States]) -> None:
        """Files below a root.

        Args:
            root: its path, over no link.
            states: some files after the other, in the order of their folders.
        """
        self._add([str(root)])
        for some in states:
            lines: Iterable[str] = map(_line, *some)
            if any(size is None or size < 0 for size in some.size):
                lines = [_line(*_asked(root, *state)) for state in zip(*some, strict=True)]
            self._add(lines)

    def add_not_read(self, not_read: Iterable[NotRead]) -> None:
        """What is not read below any root, after all of them."""
        self._add(sorted(f"{path}{NUL}{reason}" for path, reason in not_read))

    def digest(self) -> str:
        """Of all that was told."""
        return self._digest.hexdigest()

    def _add(self, lines: Iterable[str]) -> None:
        self._digest.update("".join(f"{line}{NUL}" for line in lines).encode("utf-8", "surrogateescape"))


def _line(folder: str, size: int | None, mtime_ns: int | None, inode: int | None, leaf_mtime_ns: int | None) -> str:
    return f"{folder}{NUL}{size} {mtime_ns} {(inode or 0) % 2**64} {leaf_mtime_ns}"


def _asked(
    root: Path, folder: str, size: int | None, mtime_ns: int | None, inode: int | None, leaf_mtime_ns: int | None
) -> tuple[str, int | None, int | None, int | None, int | None]:
    """A file's state; of one that could not be read as the file system tells it, if it does."""
    if size is not None and size >= 0:
        return folder, size, mtime_ns, inode, leaf_mtime_ns
    try:
        info = os.stat(f"{root}/{folder}/{RESULT}")  # noqa: PTH116 - as text, like the paths of the walk
    except (OSError, ValueError):
        return folder, None, None, None, leaf_mtime_ns
    return folder, info.st_size, info.st_mtime_ns, info.st_ino, leaf_mtime_ns
