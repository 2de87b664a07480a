"""In which state a trial's file and its folder are: what shows whether anything has to be looked at again."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from rl_pipeline.reader import folder_calls

RESULT = "result.json"
MANY = 256  # folders that are asked about together


class TrialState(NamedTuple):
    """A file and its folder."""

    size: int
    mtime_ns: int
    inode: int
    folder_mtime_ns: int  # changes when something comes into the folder


def state_of_trial(folder: str) -> TrialState | None:
    """The state of a known trial; None when there is no file as there was: then the folder is listed."""
    try:
        above, info = os.lstat(folder), os.lstat(f"{folder}/{RESULT}")
    except OSError:
        return None
    if not stat.S_ISDIR(above.st_mode) or not stat.S_ISREG(info.st_mode):
        return None
    return TrialState(info.st_size, info.st_mtime_ns, info.st_ino, above.st_mtime_ns)


def states_of_trials(above: str, names: Sequence[str]) -> dict[str, tuple[int, int, int, int]]:
    """The states of many known trials in one folder, by name; those that are left out are to be asked one by one.

    Args:
        above: the folder.
        names: of the trials' folders in it.

    Returns:
        Plain tuples with the members of `TrialState`: there are tens of thousands.
    """
    calls = folder_calls.load() if len(names) >= MANY else None
    told = None if calls is None else calls.states(above, names, RESULT)
    found: dict[str, tuple[int, int, int, int]] = {}
    begin = 0
    for some in told or ():
        count = len(some.is_file)
        numbers = memoryview(some.columns).cast("q").tolist()
        size, mtime_ns, inode, folder_mtime_ns = (numbers[place * count : (place + 1) * count] for place in range(4))
        if min(inode, default=0) < 0:
            inode = [number % 2**64 for number in inode]
        states = zip(size, mtime_ns, inode, folder_mtime_ns, strict=True)
        found.update(compress(zip(names[begin : begin + count], states, strict=True), some.is_file))
        begin += count
    return found


def mtime_ns_of(folder: str) -> int | None:
    """The time of a folder; to be asked before it is listed, so that what comes in later makes it another one."""
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - as text, like the million paths below the root
    except OSError:
        return None
