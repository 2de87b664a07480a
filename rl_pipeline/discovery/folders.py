"""Where job logs lie: the usual layouts, walked with one listing per folder.

    <root>/<experiment>/logs/*.out      experiments root
    <root>/logs/*.out                   one experiment's folder
    <root>/*.out                        a bare or flat folder of logs
    <root>/<experiment>/*.out           logs directly in an experiment's folder

and whatever configured patterns add. Trials, checkpoints and exports are never entered: they hold
tens of thousands of entries and no logs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rl_pipeline.discovery.disk import Disk, Listing
from rl_pipeline.discovery.file_names import LogName, LogPattern, any_log_name, without_companions

# How a folder was come by: pointed at (a root itself), the `logs` folder of an experiment, a folder
# below a root with logs in it, a folder that a pattern names, or the place of files pointed at.
GIVEN, LOGS, CHILD, PATTERN, FILES = "given", "logs", "child", "pattern", "files"

TRIAL_FOLDER = "trace_jobs"
_NO_LOGS_INSIDE = frozenset(
    {TRIAL_FOLDER, "checkpoints", "ckpts", "exports", "dumped_data", "eval_sessions", "wandb", "__pycache__"}
)
# More child folders than any experiments root has: the path is then something else (a folder of trials).
MOST_CHILDREN = 10_000


@dataclass(frozen=True, slots=True)
class LogFolder:
    """A folder that may hold job logs. Paths are strings: there can be thousands of them per tick."""

    path: str
    root: str
    kind: str

    @property
    def owner(self) -> PurePosixPath:
        """The experiment's folder: above `logs`, else the folder itself."""
        path = PurePosixPath(self.path)
        return path.parent if self.kind == LOGS or path.name.lower() == LOGS else path


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """A folder with the names that may be job logs, and the inode of each entry."""

    folder: LogFolder
    inodes: dict[str, int]


def job_logs(folder: LogFolder, names: Collection[str], patterns: Sequence[LogPattern]) -> dict[str, LogName]:
    """The job logs among the names of a folder; a configured pattern wins over the usual names."""
    if folder.kind == FILES:
        usual = {name: any_log_name(name) for name in names}
    elif folder.kind == PATTERN:
        usual = {}
    else:
        usual = without_companions(names)
        if folder.kind == CHILD:  # a log without an id is too weak a sign where nobody pointed
            usual = {name: log for name, log in usual.items() if log.job_id is not None}
    relative = PurePosixPath(folder.path).relative_to(folder.root).as_posix()
    for pattern in patterns:
        for name in names:
            found = pattern.parse(name if relative == "." else f"{relative}/{name}")
            if found is not None:
                usual[name] = found
    return dict(sorted(usual.items()))


def find_log_folders(disk: Disk, root: str, patterns: Sequence[LogPattern]) -> Iterator[ListedFolder]:
    """Every folder below a root that holds job logs; nothing when the root cannot be listed."""
    top = disk.listing(root)
    if top is None:
        disk.errors.setdefault(root, "no such folder")
        return
    seen: set[str] = set()
    for listed in [*_usual_layouts(disk, root, top, patterns), *_by_patterns(disk, root, top, patterns)]:
        if listed.folder.path not in seen and listed.inodes:
            seen.add(listed.folder.path)
            yield listed


def _usual_layouts(disk: Disk, root: str, top: Listing, patterns: Sequence[LogPattern]) -> Iterator[ListedFolder]:
    yield _listed(LogFolder(root, root, GIVEN), top, patterns)
    children = [name for name in top.folders if name.lower() not in _NO_LOGS_INSIDE]
    if LOGS in children:
        children.remove(LOGS)
        folder = LogFolder(f"{root}/{LOGS}", root, LOGS)
        inside = disk.listing(folder.path)
        if inside is not None:
            own = _listed(folder, inside, patterns)
            yield own
            if any(log.job_id is not None for log in job_logs(folder, own.inodes, patterns).values()):
                return  # the root is one experiment's folder
    if len(children) > MOST_CHILDREN:
        disk.errors[root] = f"more than {MOST_CHILDREN:,} folders inside; only its own files were looked at"
        return
    for child in children:
        yield _child(disk, root, child, patterns)


def _child(disk: Disk, root: str, child: str, patterns: Sequence[LogPattern]) -> ListedFolder:
    """An experiment's `logs` folder if it has one, else the folder itself."""
    folder = LogFolder(f"{root}/{child}/{LOGS}", root, LOGS)
    inside = disk.listing(folder.path)
    if inside is None:
        folder = LogFolder(f"{root}/{child}", root, CHILD)
        inside = disk.listing(folder.path)
    return _listed(folder, inside or Listing({}, ()), patterns)


def _listed(folder: LogFolder, listing: Listing, patterns: Sequence[LogPattern]) -> ListedFolder:
    return ListedFolder(folder, {name: listing.files[name] for name in job_logs(folder, listing.files, patterns)})


def _by_patterns(disk: Disk, root: str, top: Listing, patterns: Sequence[LogPattern]) -> Iterator[ListedFolder]:
    for pattern in patterns:
        if pattern.depth:
            yield from _descend(disk, root, "", top, pattern, 0)


def _descend(
    disk: Disk, root: str, relative: str, listing: Listing, pattern: LogPattern, level: int
) -> Iterator[ListedFolder]:
    """Walk the folders that can lead to a match of the pattern, one level at a time."""
    if level and (level == pattern.depth or not pattern.folders):
        yield _listed(LogFolder(f"{root}/{relative}", root, PATTERN), listing, [pattern])
    if level == pattern.depth:
        return
    wanted: re.Pattern[str] | None = pattern.folders[level] if pattern.folders else None
    for name in listing.folders:
        if name.lower() in _NO_LOGS_INSIDE or (wanted is not None and not wanted.fullmatch(name)):
            continue
        below = f"{relative}/{name}" if relative else name
        inside = disk.listing(f"{root}/{below}")
        if inside is not None:
            yield from _descend(disk, root, below, inside, pattern, level + 1)
