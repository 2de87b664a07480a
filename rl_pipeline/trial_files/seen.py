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

from rl_pipeline.reader.trial_folders import RESULT, NotRead

LINKED = "\0"  # stands in no name of a file
TOGETHER = 1024  # lines of which one text is made


class States(NamedTuple):
    """Files of trials as they were, a column each."""

    folder: Sequence[str]  # relative to the root, with slashes
    size: Sequence[int | None]  # None, or less than 0, when it was not told: then it is asked for
    mtime_ns: Sequence[int | None]
    inode: Sequence[int | None]


class Seen:
    """Takes what was found below each root, in any order."""

    def __init__(self) -> None:
        self._told: dict[str, list[str]] = {}
        self.leaves: dict[Path, Sequence[str]] = {}  # folders that are trials with no other trial below, relative

    def add(self, root: Path, states: States) -> None:
        """Files below a root, whose path leads over no link."""
        told = self._told.setdefault(str(root), [])
        told += [
            _line(folder, size, mtime_ns, inode)
            if size is not None and size >= 0
            else _line(folder, *_asked(f"{root}/{folder}/{RESULT}"))
            for folder, size, mtime_ns, inode in zip(*states, strict=True)
        ]

    def add_not_read(self, not_read: Iterable[NotRead]) -> None:
        """What is not read, below whichever root."""
        self._told.setdefault("", []).extend(f"{path}{LINKED}{reason}" for path, reason in not_read)

    def digest(self) -> str:
        """Of all that was taken."""
        digest = hashlib.blake2b(digest_size=16)
        for root, told in sorted(self._told.items()):
            lines = [root, *sorted(told)]
            for first in range(0, len(lines), TOGETHER):
                text = "".join(f"{line}{LINKED}" for line in lines[first : first + TOGETHER])
                digest.update(text.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()


def _line(folder: str, size: int, mtime_ns: int | None, inode: int | None) -> str:
    return f"{folder}{LINKED}{size} {mtime_ns} {(inode or 0) % 2**64}"


def _asked(path: str) -> tuple[int, int | None, int | None]:
    """The state of a file that could not be read; less than 0 when there is none to be had."""
    try:
        info = os.stat(path)  # noqa: PTH116 - as text, like the paths of the walk
    except (OSError, ValueError):
        return -1, None, None
    return info.st_size, info.st_mtime_ns, info.st_ino
