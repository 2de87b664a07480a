"""What lay under the roots at one look, and what changed since the look before.

Made for looking often at thousands of logs on a shared file system: a look lists each folder once
and asks for the facts of a file only when it is new, not settled, replaced (its entry has another
inode), or when its turn has come in the rotation over settled files. So a log that grows after it was
called finished is still found, some looks later, and no look makes more calls than its limits allow.

An inventory is a value: it can be stored as JSON and read back; one that is lost or damaged is an
empty one, after which every log is new again (and found to be known by its fingerprint).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rl_pipeline.discovery.disk import Disk
from rl_pipeline.discovery.file_names import LogPattern
from rl_pipeline.discovery.folders import ListedFolder, LogFolder, find_log_folders

FORMAT = 1


@dataclass(frozen=True, slots=True)
class SeenFile:
    """Facts of a log at the last time they were asked for.

    `since` is the time of the look (seconds since 1970, UTC) at which this content was first seen;
    it comes from one machine's clock, unlike `mtime_ns`. `settled` means that nothing more is expected.
    """

    size_bytes: int
    mtime_ns: int
    inode: int
    since: float
    settled: bool = False

    def same_content(self, other: SeenFile) -> bool:
        """Whether size, time of writing and inode are the same."""
        return (self.size_bytes, self.mtime_ns, self.inode) == (other.size_bytes, other.mtime_ns, other.inode)


@dataclass(frozen=True, slots=True)
class SeenFolder:
    """A folder and the logs in it, by file name."""

    folder: LogFolder
    files: Mapping[str, SeenFile]


@dataclass(frozen=True, slots=True)
class Inventory:
    """All folders with logs. `turn` is where the rotation over settled files goes on."""

    folders: tuple[SeenFolder, ...] = ()
    turn: int = 0
    waiting: int = 0
    calls: int = 0
    errors: Mapping[str, str] | None = None

    def files(self) -> dict[str, SeenFile]:
        """Every log by its path."""
        return {f"{seen.folder.path}/{name}": file for seen in self.folders for name, file in seen.files.items()}

    def settle(self, paths: Iterable[str]) -> Inventory:
        """The same inventory with these logs settled."""
        wanted = set(paths)
        folders = tuple(
            SeenFolder(
                seen.folder,
                {
                    name: replace(file, settled=True) if f"{seen.folder.path}/{name}" in wanted else file
                    for name, file in seen.files.items()
                },
            )
            for seen in self.folders
        )
        return replace(self, folders=folders)

    def to_json(self) -> str:
        """One line of JSON; about 120 bytes per log."""
        folders = [
            [seen.folder.path, seen.folder.root, seen.folder.kind, {name: _fields(f) for name, f in seen.files.items()}]
            for seen in self.folders
        ]
        return json.dumps({"format": FORMAT, "turn": self.turn, "folders": folders}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> Inventory:
        """Read an inventory back; anything that is not one gives the empty inventory."""
        try:
            stored = json.loads(text or "")
            if stored["format"] != FORMAT:
                return cls()
            folders = tuple(
                SeenFolder(LogFolder(str(path), str(root), str(kind)), {n: _seen(f) for n, f in files.items()})
                for path, root, kind, files in stored["folders"]
            )
            return cls(folders=folders, turn=int(stored["turn"]))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Paths of logs by what happened to them between two looks; each in exactly one group."""

    new: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def changes(previous: Inventory, current: Inventory) -> Changes:
    """Compare two looks. Rewritten: shorter than before, or another file under the same name."""
    before, now = previous.files(), current.files()
    groups: dict[str, list[str]] = {"new": [], "grown": [], "rewritten": [], "touched": []}
    for path in sorted(now):
        kind = _kind_of_change(before.get(path), now[path])
        if kind is not None:
            groups[kind].append(path)
    gone = tuple(sorted(before.keys() - now.keys()))
    return Changes(gone=gone, **{name: tuple(paths) for name, paths in groups.items()})


def _kind_of_change(before: SeenFile | None, now: SeenFile) -> str | None:
    if before is None:
        return "new"
    if before.same_content(now):
        return None
    if now.inode != before.inode or now.size_bytes < before.size_bytes:
        return "rewritten"
    return "grown" if now.size_bytes > before.size_bytes else "touched"


def scan(
    roots: Sequence[Path],
    previous: Inventory | None = None,
    *,
    now: float,
    patterns: Sequence[LogPattern] = (),
    recheck: int = 500,
    most_stats: int = 5_000,
) -> Inventory:
    """Look at the roots once.

    Args:
        roots: experiments roots, experiment folders or folders of logs.
        previous: the look before; None for a first one.
        now: time of this look, seconds since 1970 UTC (the function reads no clock).
        patterns: configured ways of naming logs.
        recheck: settled files whose facts are asked for again in this look.
        most_stats: limit of facts asked for; what is over it keeps its old facts or, when new, waits
            for the next look (`waiting` counts these).

    Returns:
        The new inventory. A root that cannot be listed keeps what was known below it, so that a file
        system that is away for a moment does not look like thousands of deleted jobs.
    """
    before = previous or Inventory()
    disk = Disk()
    known = {seen.folder.path: seen.files for seen in before.folders}
    listed: list[ListedFolder] = []
    kept: list[SeenFolder] = []
    taken: set[str] = set()
    for root in (root.absolute().as_posix() for root in roots):
        found = list(find_log_folders(disk, root, patterns))
        found_paths = {folder.folder.path for folder in found}
        listed += [folder for folder in found if folder.folder.path not in taken]
        taken |= found_paths
        kept += [
            seen
            for seen in before.folders
            if seen.folder.path not in found_paths and _is_away(seen.folder, root, disk.errors)
        ]
    asked, turn, waiting = _plan(listed, known, before.turn, recheck, most_stats)
    folders = [SeenFolder(item.folder, _look(disk, item, known, asked, now)) for item in listed]
    folders = [seen for seen in folders if seen.files]
    return Inventory(tuple([*folders, *kept]), turn, waiting, disk.calls, dict(disk.errors))


def _is_away(folder: LogFolder, root: str, errors: Mapping[str, str]) -> bool:
    """Whether a known folder was not listed because of an error rather than because it is gone."""
    return folder.root == root and (root in errors or folder.path in errors)


def _plan(
    listed: Sequence[ListedFolder],
    known: Mapping[str, Mapping[str, SeenFile]],
    turn: int,
    recheck: int,
    most_stats: int,
) -> tuple[set[str], int, int]:
    """Which files to ask about: unsettled ones, then new ones, then the settled ones whose turn it is."""
    open_files: list[str] = []
    new: list[str] = []
    settled: list[str] = []
    for item in listed:
        files = known.get(item.folder.path, {})
        for name, inode in item.inodes.items():
            file = files.get(name)
            group = new if file is None else settled if file.settled and file.inode == inode else open_files
            group.append(f"{item.folder.path}/{name}")
    room = max(most_stats - len(open_files), 0)
    start = turn % len(settled) if settled else 0
    again = (settled[start:] + settled[:start])[: min(recheck, max(room - len(new), 0))]
    first = turn % len(open_files) if len(open_files) > most_stats else 0
    asked = {*(open_files[first:] + open_files[:first])[:most_stats], *new[:room], *again}
    return asked, turn + max(len(again), 0 if room else most_stats), max(len(new) - room, 0)


def _look(
    disk: Disk, item: ListedFolder, known: Mapping[str, Mapping[str, SeenFile]], asked: set[str], now: float
) -> dict[str, SeenFile]:
    """The facts of a folder's logs: asked for now, or carried over."""
    files = known.get(item.folder.path, {})
    seen: dict[str, SeenFile] = {}
    for name in item.inodes:
        path = f"{item.folder.path}/{name}"
        old = files.get(name)
        if path not in asked:
            if old is not None:
                seen[name] = old
            continue
        facts = disk.facts(path)
        if facts is not None:
            fresh = SeenFile(facts.size_bytes, facts.mtime_ns, facts.inode, now)
            seen[name] = old if old is not None and old.same_content(fresh) else fresh
    return seen


def _fields(file: SeenFile) -> list[float | int]:
    return [file.size_bytes, file.mtime_ns, file.inode, round(file.since, 3), int(file.settled)]


def _seen(fields: Sequence[float]) -> SeenFile:
    size_bytes, mtime_ns, inode, since, settled = fields
    return SeenFile(int(size_bytes), int(mtime_ns), int(inode), float(since), bool(settled))
