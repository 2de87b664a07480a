"""Which trial files there are, and in which state: one digest, the same however they were found.

Whoever reads trials knows it as of the moment of reading; whoever asks later whether anything changed walks, and asks
the file system. Imports little: that has to be answered at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rl_pipeline.reader.trial_folders import RESULT, NotRead

LINKED = "\0"  # stands in no name of a file
TOGETHER = 1024  # lines of which one text is made


class State(NamedTuple):
    """A trial's file, by its folder, as it was."""

    folder: str  # relative to the root, with slashes
    size: int | None  # None, or less than 0, when it was not told: then it is asked for
    mtime_ns: int | None
    inode: int | None


class Seen:
    """Takes what was found below each root, in any order."""

    def __init__(self) -> None:
        self._told: dict[Path, list[str]] = {}
        self.leaves: dict[Path, list[str]] = {}  # folders that are trials with no other trial below, relative

    def add(self, root: Path, states: Iterable[State], not_read: Iterable[NotRead] = ()) -> None:
        """What lies below a root.

        Args:
            root: its path, without links.
            states: of its files.
            not_read: what is not read of it.
        """
        told = self._told.setdefault(root, [])
        for state in states:
            folder, size, mtime_ns, inode = state if (state.size or -1) >= 0 else _asked(root, state)
            told.append(f"{folder}{LINKED}{size} {mtime_ns} {(inode or 0) % 2**64}")
        told += [f"{path}{LINKED}{reason}" for path, reason in not_read]

    def digest(self) -> str:
        """Of all that was taken."""
        digest = hashlib.blake2b(digest_size=16)
        for root, told in sorted(self._told.items()):
            lines = [str(root), *sorted(told)]
            for first in range(0, len(lines), TOGETHER):
                text = "".join(f"{line}{LINKED}" for line in lines[first : first + TOGETHER])
                digest.update(text.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()


def _asked(root: Path, state: State) -> State:
    """The state of a file that could not be read; as it is when there is none to be had."""
    try:
        info = os.stat(f"{root}/{state.folder}/{RESULT}")  # noqa: PTH116 - as text, like the paths of the walk
    except (OSError, ValueError):
        return state
    return State(state.folder, info.st_size, info.st_mtime_ns, info.st_ino)
