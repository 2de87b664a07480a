"""The few file-system calls that discovery makes, counted.

Shared file systems of clusters punish a storm of small calls, so everything goes through one object
that says how many calls were made and keeps errors as data.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import NamedTuple

from rl_pipeline.addresses import is_elsewhere
from rl_pipeline.places import entries, file_facts


class FileFacts(NamedTuple):
    """What a `stat` says about a file: size in bytes, time of the last write in ns, inode."""

    size_bytes: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Names in one folder: files with the inode of their entry, and folders; hidden ones left out."""

    files: dict[str, int]
    folders: tuple[str, ...]


@dataclass(slots=True)
class Disk:
    """Reads folders and file facts; never raises for what it finds there."""

    scandir_calls: int = 0
    stat_calls: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    _listed: dict[str, FileFacts] = field(default_factory=dict)  # of files elsewhere: their folder's listing told them

    @property
    def calls(self) -> int:
        """File-system calls made so far."""
        return self.scandir_calls + self.stat_calls

    def listing(self, folder: str) -> Listing | None:
        """The names in a folder, or None when there is none or it cannot be read (then see `errors`)."""
        self.scandir_calls += 1
        if is_elsewhere(folder):
            return self._listing_elsewhere(folder)
        files: dict[str, int] = {}
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.name.startswith("."):
                        if _is_folder(entry):
                            folders.append(entry.name)
                        else:
                            files[entry.name] = entry.inode()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.errors[folder] = error.strerror or str(error)
            return None
        return Listing(files, tuple(sorted(folders)))

    def _listing_elsewhere(self, folder: str) -> Listing | None:
        try:
            found = [entry for entry in entries(folder) if not entry.name.startswith(".")]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.errors[folder] = error.strerror or str(error)
            return None
        files = {entry.name: entry for entry in found if not entry.is_folder}
        self._listed |= {f"{folder}/{n}": FileFacts(e.size_bytes, e.mtime_ns, e.inode) for n, e in files.items()}
        return Listing({n: e.inode for n, e in files.items()}, tuple(e.name for e in found if e.is_folder))

    def _facts_elsewhere(self, path: str) -> FileFacts | None:
        if path in self._listed:
            return self._listed[path]
        self.stat_calls += 1
        try:
            entry = file_facts(path)
        except OSError as error:
            self.errors[path] = error.strerror or str(error)
            return None
        return None if entry is None else FileFacts(entry.size_bytes, entry.mtime_ns, entry.inode)

    def facts(self, path: str) -> FileFacts | None:
        """Facts of a file (links followed), or None when it is gone or is no regular file."""
        if is_elsewhere(path):
            return self._facts_elsewhere(path)
        self.stat_calls += 1
        try:
            status = os.stat(path)  # noqa: PTH116 - called thousands of times; a Path each is a third of its cost
        except FileNotFoundError:
            return None
        except OSError as error:
            self.errors[path] = error.strerror or str(error)
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return FileFacts(status.st_size, status.st_mtime_ns, status.st_ino)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link loop, or no right to follow a link
        return False
