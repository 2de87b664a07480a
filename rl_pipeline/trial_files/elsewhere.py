"""Trials below roots that lie elsewhere: found by listing, read through short-lived copies.

The same folders are told as on a disk (`reader/trial_folders.py`, whose words are used here), but for links, which
object stores do not have and SSH servers resolve. In a bucket the whole tree is listed at once, a thousand files for
each question; on an SSH server folder by folder, without the folders that a trial keeps its own files in.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rl_pipeline.addresses import is_elsewhere
from rl_pipeline.places import Entry, entries, fetch_many, walk_files
from rl_pipeline.places.elsewhere import PlaceError, is_bucket
from rl_pipeline.reader.trial_folders import (
    ARCHIVES,
    DEEPEST,
    EVAL_SESSIONS,
    Found,
    NotRead,
    TrialFile,
    find_trials,
    looks_of,
)
from rl_pipeline.reader.trial_states import RESULT
from rl_pipeline.trial_files.reading import COLUMNS, Columns, read_columns

SIZE, MTIME, INODE = (COLUMNS.index(name) for name in ("size", "mtime_ns", "inode"))


class _Names(NamedTuple):
    """What one folder holds."""

    files: dict[str, Entry]
    folders: list[str]


def distinct_roots(roots: Iterable[Path]) -> list[Path]:
    """The roots without those that are, or lie in, an earlier or wider one; order kept."""
    real = list(dict.fromkeys(str(root) if is_elsewhere(root) else os.path.realpath(root) for root in roots))
    return [Path(root) for root in real if not any(root.startswith(f"{other.rstrip('/')}/") for other in real)]


def trials_below(
    root: Path,
    *,
    known: Container[str] = (),
    asked: Container[str] | None = None,
) -> Iterator[Found]:
    """Every `result.json` below a root, wherever it lies; arguments as of `find_trials`.

    Below a root elsewhere each listing tells sizes and times anyway, so nothing is asked or kept back.

    Raises:
        PlaceError: its place did not answer; a part of the trials must not pass for all of them.
    """
    if not is_elsewhere(root):
        yield from find_trials(root, known=known, asked=asked)
        return
    found_any = False
    for found in _in_bucket(root) if is_bucket(root) else _in_folder(root, "", 0):
        found_any = True
        yield found
    if not found_any and not entries(root):
        yield NotRead(".", "not a folder")


def _in_bucket(root: Path) -> Iterator[Found]:
    tree: dict[str, _Names] = {"": _Names({}, [])}
    for folder, entry in walk_files(root):
        _grow(tree, folder).files[entry.name] = entry
    yield from _in_tree(root, "", 0, tree)


def _grow(tree: dict[str, _Names], folder: str) -> _Names:
    """The folder in the tree, with the folders above it."""
    if folder not in tree:
        above, _, name = folder.rpartition("/")
        tree[folder] = _Names({}, [])
        _grow(tree, above).folders.append(name)
    return tree[folder]


def _in_tree(root: Path, relative: str, depth: int, tree: dict[str, _Names]) -> Iterator[Found]:
    yield from (told := _Folder(root, relative, depth, tree.pop(relative))).found()
    for name in sorted(told.inner()):
        yield from _in_tree(root, _join(relative, name), depth + 1, tree)


def _in_folder(root: Path, relative: str, depth: int) -> Iterator[Found]:
    try:
        listed = entries(f"{root}/{relative}" if relative else root)
    except (FileNotFoundError, NotADirectoryError):
        return
    except PlaceError:
        if not relative:
            raise
        yield NotRead(relative, "it cannot be listed")
        return
    names = _Names(
        {entry.name: entry for entry in listed if not entry.is_folder},
        [entry.name for entry in listed if entry.is_folder],
    )
    yield from (told := _Folder(root, relative, depth, names)).found()
    for name in sorted(told.inner()):
        yield from _in_folder(root, _join(relative, name), depth + 1)


class _Folder:
    """One folder and what is told of it."""

    def __init__(self, root: Path, relative: str, depth: int, names: _Names) -> None:
        self._root, self._relative, self._depth, self._names = root, relative, depth, names
        self._looks = looks_of((*names.files, *names.folders), names.folders)

    def inner(self) -> list[str]:
        """Folders in which further trials may lie."""
        return self._looks.inner if self._depth < DEEPEST else []

    def found(self) -> Iterator[Found]:
        """Its trial, or why it has none though it looks as if it should, and its archives."""
        for name in sorted(self._names.files):
            if name.endswith(ARCHIVES):
                yield NotRead(_join(self._relative, name), "an archive: packed trials are not read")
        shown, result = self._relative or ".", self._names.files.get(RESULT)
        if result is not None:
            is_eval = EVAL_SESSIONS in (*self._root.parts, *self._relative.split("/"))
            path = f"{self._root}/{_join(self._relative, RESULT)}"
            # All is listed there whatever was known, so no folder is told apart.
            yield TrialFile(path, shown, result.size_bytes, result.mtime_ns, result.inode, is_eval, None)
        elif reason := self._looks.why_no_result(self._relative, self._depth):
            yield NotRead(shown, reason)


def columns_of(files: Sequence[TrialFile]) -> Columns:
    """The columns of `read_columns` for files elsewhere, with the size and time that their listing told.

    Raises:
        PlaceError: their place did not answer.
    """
    with tempfile.TemporaryDirectory(prefix="rl_trials_") as folder:
        copies = fetch_many([file.path for file in files], Path(folder))
        columns = read_columns([os.fspath(copy) for copy in copies])
    for position, told in ((SIZE, "size"), (MTIME, "mtime_ns"), (INODE, "inode")):
        columns[position] = [
            value if value is None else getattr(file, told)
            for value, file in zip(columns[position], files, strict=True)
        ]
    return columns


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
