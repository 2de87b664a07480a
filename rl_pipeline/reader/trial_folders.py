"""Where trials lie: every `result.json` below a root, and every folder that should have one.

In: a root. Out: `TrialFile`s (name, size, time, inode: enough to know whether it was read before) and
`NotRead`s with a reason. Nothing is opened but folders, and nothing raises.

Folders nest: a trial is one folder, but job folders (with a `result.json` of their own), run folders
and `eval_sessions` stand above it, in any depth. So everything is walked, except what can hold no
further trial: the folders a trial keeps its own files in, and whole trials that are known by name.

No link to a folder is followed. One that leads elsewhere in the root shows folders that are walked
anyway, one that leads to a folder above is a loop, and one that leads out of the root could lead
anywhere; each is told. A `result.json` that is a link is read if its target lies in the root.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from rl_pipeline.reader import folder_calls
from rl_pipeline.reader.trial_states import RESULT, mtime_ns_of, state_of_trial, states_of_trials

USUAL_KINDS = bytes((folder_calls.IS_FOLDER, folder_calls.IS_FILE))
EVAL_SESSIONS = "eval_sessions"
# Folders a trial keeps its own files in; no trial lies below them.
PARTS_OF_A_TRIAL = frozenset({"agent", "verifier", "artifacts", "steps", "environment", "tests", "solution"})
SIGN_OF_A_JOB = "job.log"
SURE_SIGNS = frozenset({"trial.log", "exception.txt", "agent", "verifier"})
SIGNS = SURE_SIGNS | {"config.json", RESULT, SIGN_OF_A_JOB}
# Harbor's trial names: the task, then seven random letters and digits.
TRIAL_NAME = re.compile(r"__[A-Za-z0-9]{7}$")
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2")
DEEPEST = 64

LINK_ERRORS = {errno.ELOOP: "a link that leads back to itself: a loop; not followed", errno.ENOENT: "a link to nothing"}
NO_RESULT = "no result.json: the trial is running or was killed"
NOTHING = "no result.json, and nothing else that a trial leaves"


class TrialFile(NamedTuple):
    """A `result.json` that may be a trial's, and what tells whether it changed."""

    path: str  # to open it
    folder: str  # relative to the root, with slashes; "." for the root itself
    size: int | None  # this and the next two: None when nobody wanted to know
    mtime_ns: int | None
    inode: int | None
    is_eval: bool
    # Time of its folder where no further trial can lie below it, and nothing else in it has to be told; else None.
    leaf_mtime_ns: int | None


class NotRead(NamedTuple):
    """A file or folder that is not read as a trial, and why."""

    path: str  # relative to the root, with slashes
    reason: str


Found = TrialFile | NotRead


class Folder(NamedTuple):
    """A folder to look into."""

    path: str
    relative: str  # to the root; empty for the root itself
    depth: int
    is_eval: bool  # it lies below `eval_sessions`, or is it

    def inner(self, name: str) -> Folder:
        """The folder of that name in it."""
        return Folder(f"{self.path}/{name}", _join(self.relative, name), self.depth + 1, self.is_eval_below(name))

    def is_eval_below(self, name: str) -> bool:
        """`is_eval` of the folder of that name in it."""
        return self.is_eval or name == EVAL_SESSIONS


class Looks(NamedTuple):
    """What a folder is by the names in it; `inner` are the folders in which further trials may lie."""

    inner: list[str]
    is_trial_like: bool
    is_surely_trial: bool

    def why_no_result(self, relative: str, depth: int) -> str | None:
        """Why a folder without `result.json` is worth telling; None for a folder above trials."""
        if self.inner and not self.is_surely_trial:
            return None
        if self.is_trial_like or TRIAL_NAME.search(relative) is not None:
            return NO_RESULT
        return NOTHING if depth == 1 else None


def looks_of(names: Iterable[str], folders: Iterable[str]) -> Looks:
    """What a folder is.

    Args:
        names: of files and folders directly in it; only `SIGNS` matter.
        folders: those of the folders directly in it that can be walked.
    """
    signs = SIGNS.intersection(names)
    is_trial_like = bool(signs) and SIGN_OF_A_JOB not in signs
    inner = [name for name in folders if name not in PARTS_OF_A_TRIAL] if is_trial_like else list(folders)
    return Looks(inner, is_trial_like, is_trial_like and not SURE_SIGNS.isdisjoint(signs))


class _Open(NamedTuple):
    """A folder whose folders are walked."""

    folder: Folder
    names: Iterator[str]  # still to walk
    states: Mapping[
        str, tuple[int, int, int, int]
    ]  # of those of the names that are known trials and were asked about together


class _Listing(NamedTuple):
    """What a folder holds, as far as it matters here."""

    result: os.DirEntry[str] | None
    looks: Looks
    told: list[NotRead]


def find_trials(
    root: Path,
    *,
    known: Container[str] = (),
    asked: Container[str] | None = None,
) -> Iterator[Found]:
    """Every `result.json` below a root, and what looks like a trial but has none.

    Args:
        root: where to begin; a link here is followed.
        known: relative folders that were found to be leaves; they are asked for
            their time and that of their file instead of being listed.
        asked: relative folders whose file is asked for its size, time and inode; None asks all.
    """
    top = top_folder(root)
    if isinstance(top, NotRead):
        yield top
        return
    # The open folders from the root down, each with the names still to walk: memory for one branch.
    branch: list[_Open] = []
    folder: Folder | None = top
    while folder is not None:
        found, inner = look_into(folder, top.path, asked)
        yield from found
        if inner:
            before = f"{folder.relative}/" if folder.relative else ""
            states = states_of_trials(folder.path, [name for name in inner if before + name in known])
            branch.append(_Open(folder, iter(sorted(inner)), states))
        folder = yield from _next_folder(branch, known)


def top_folder(root: Path) -> Folder | NotRead:
    """The folder of a root; a link is followed here."""
    try:
        top = os.path.realpath(root)
        is_folder = stat.S_ISDIR(os.stat(top).st_mode)  # noqa: PTH116 - as text, like the million paths below it
    except (OSError, ValueError) as error:
        return NotRead(".", _why(error))
    return Folder(top, "", 0, EVAL_SESSIONS in top.split("/")) if is_folder else NotRead(".", "not a folder")


def folders_in(folder: Folder) -> int:
    """How many folders lie in one, as far as the file system counts them without a listing; else 0."""
    try:
        return os.stat(folder.path).st_nlink - 2  # noqa: PTH116 - as above
    except OSError:
        return 0


def holds_plain_trial(entries: Iterable[os.DirEntry[str]]) -> bool:
    """Whether a folder is a trial's that has its result, and there is nothing else to say of it or to find below it."""
    is_there = False
    try:
        for entry in entries:
            name = entry.name
            if entry.is_symlink():
                return False
            if name == RESULT:
                is_there = entry.is_file()
            elif entry.is_dir():
                if name not in PARTS_OF_A_TRIAL:
                    return False
            elif name == SIGN_OF_A_JOB or name.endswith(ARCHIVES):
                return False
    except OSError:
        return False
    return is_there


def look_into(
    folder: Folder,
    top: str,
    asked: Container[str] | None,
    listed: tuple[int | None, Iterable[os.DirEntry[str]]] | None = None,
) -> tuple[list[Found], list[str]]:
    """What one folder holds, and the names of the folders to walk, in any order.

    Args:
        folder: where to look.
        top: path of its root.
        asked: as of `find_trials`.
        listed: when it was listed before, its time just before that, and what is in it.
    """
    if folder.depth > DEEPEST:
        return [NotRead(shown(folder.relative), f"more than {DEEPEST} folders deep: a loop, or no trial")], []
    mtime_ns = mtime_ns_of(folder.path) if listed is None else listed[0]
    try:
        listing = _plain_listing(folder) if listed is None else None
        if listing is None:
            with os.scandir(folder.path) if listed is None else nullcontext(listed[1]) as names:
                listing = _listing_of(names, folder, top)
    except OSError as error:
        return [NotRead(shown(folder.relative), _why(error))], []
    found: list[Found] = list(listing.told)
    if listing.result is not None:
        found.append(_result_of(folder, top, listing, mtime_ns, asked))
    elif reason := listing.looks.why_no_result(folder.relative, folder.depth):
        found.append(NotRead(shown(folder.relative), reason))
    return found, listing.looks.inner


def _plain_listing(folder: Folder) -> _Listing | None:
    """The listing of a root that holds nothing but files and folders and no result; None leaves it to others.

    Only roots: they hold tens of thousands of names, most of the folders below hold a result.
    """
    calls = folder_calls.load() if folder.depth == 0 else None
    listed = calls.listed(folder.path) if calls is not None else None
    if listed is None:
        return None
    names, kinds = listed
    if kinds.translate(None, USUAL_KINDS) or RESULT in names:
        return None
    files = []
    folders = names
    if folder_calls.IS_FILE in kinds:
        folders = [name for name, kind in zip(names, kinds, strict=True) if kind == folder_calls.IS_FOLDER]
        files = [name for name, kind in zip(names, kinds, strict=True) if kind == folder_calls.IS_FILE]
    told = sorted(_archive(_join(folder.relative, name)) for name in files if name.endswith(ARCHIVES))
    return _Listing(None, looks_of(names, folders), told)


def _archive(relative: str) -> NotRead:
    return NotRead(shown(relative), "an archive: packed trials are not read")


def _listing_of(entries: Iterable[os.DirEntry[str]], folder: Folder, top: str) -> _Listing:
    folders: list[str] = []
    told: list[NotRead] = []
    names: list[str] = []
    result = None
    for entry in entries:
        name = entry.name
        names.append(name)
        if name == RESULT:
            result = entry
        elif entry.is_symlink():
            told += _link(entry, folder, top)
        elif _is_folder(entry):
            folders.append(name)
        elif name.endswith(ARCHIVES):
            told.append(_archive(_join(folder.relative, name)))
    told.sort()
    return _Listing(result, looks_of(names, folders), told)


def _next_folder(branch: list[_Open], known: Container[str]) -> Generator[Found, None, Folder | None]:
    """The next folder to look into, telling the known trials on the way; closes branches that are done."""
    while branch:
        above, names, states = branch[-1]
        before = f"{above.relative}/" if above.relative else ""
        for name in names:
            relative, is_eval = before + name, above.is_eval or name == EVAL_SESSIONS
            path = f"{above.path}/{name}"
            state = states.get(name) or (state_of_trial(path) if relative in known else None)
            if state is not None:
                size, mtime_ns, inode, folder_mtime_ns = state
                yield TrialFile(f"{path}/{RESULT}", shown(relative), size, mtime_ns, inode, is_eval, folder_mtime_ns)
            else:
                return Folder(path, relative, above.depth + 1, is_eval)
        branch.pop()
    return None


def _result_of(
    folder: Folder, top: str, listing: _Listing, mtime_ns: int | None, asked: Container[str] | None
) -> Found:
    entry, leaf_mtime_ns = listing.result, None if listing.looks.inner or listing.told else mtime_ns
    path, name = f"{folder.path}/{RESULT}", shown(folder.relative)
    is_link = entry is not None and entry.is_symlink()
    if asked is not None and name not in asked and entry is not None and _is_file(entry):
        return TrialFile(path, name, None, None, None, folder.is_eval, leaf_mtime_ns)
    relative = _join(folder.relative, RESULT)
    try:
        if is_link and not _lies_in(os.path.realpath(path), top):
            return NotRead(shown(relative), "a link that leads out of the trial root; not followed")
        info = os.stat(path)  # noqa: PTH116
    except OSError as error:
        return NotRead(shown(relative), "a link to nothing" if is_link else _why(error))
    if not stat.S_ISREG(info.st_mode):
        return NotRead(shown(relative), "not a regular file")
    return TrialFile(path, name, info.st_size, info.st_mtime_ns, info.st_ino, folder.is_eval, leaf_mtime_ns)


def _link(entry: os.DirEntry[str], folder: Folder, top: str) -> Iterator[NotRead]:
    """A link to a folder, or to nothing, is told and not followed; links to files are of no interest."""
    relative = shown(_join(folder.relative, entry.name))
    try:
        target = os.path.realpath(entry.path)
        if not stat.S_ISDIR(os.stat(entry.path).st_mode):  # noqa: PTH116
            return
    except OSError as error:
        yield NotRead(relative, LINK_ERRORS.get(error.errno or 0, f"a link that cannot be followed ({_why(error)})"))
        return
    if _lies_in(folder.path, target):
        yield NotRead(relative, "a link to a folder above it: a loop; not followed")
    elif _lies_in(target, top):
        yield NotRead(relative, "a link to another folder of the same root, which is read there")
    else:
        yield NotRead(relative, "a link that leads out of the trial root; not followed")


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def shown(relative: str) -> str:
    """A relative path as text; bytes of a name that are not UTF-8 are written as hexadecimal numbers."""
    if relative.isascii():
        return relative or "."
    return os.fsencode(relative).decode("utf-8", "backslashreplace")


def all_shown(before: str, names: Sequence[str]) -> list[str]:
    """What is `shown` of each name with the same path before it."""
    if before.isascii() and "".join(names).isascii():
        return [before + name for name in names] if before else list(names)
    return [shown(before + name) for name in names]


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return getattr(error, "strerror", None) or str(error)
