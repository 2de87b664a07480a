"""Folders to columns: each is listed, and its trial read, in one go.

A visit goes one folder deep: the folders in which further trials may lie are named, to be visited by whoever is free.
What is to be visited, and what was found, can be told to another process.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from rl_pipeline.dialects.harbor_secrets import suspects
from rl_pipeline.reader import folder_calls
from rl_pipeline.reader.folder_calls import NOT_READ, UNUSUAL, WHOLE, Readings, Rules, end_to_end
from rl_pipeline.reader.trial_folders import (
    ARCHIVES,
    DEEPEST,
    EVAL_SESSIONS,
    PARTS_OF_A_TRIAL,
    SIGN_OF_A_JOB,
    Folder,
    NotRead,
    TrialFile,
    all_shown,
    holds_plain_trial,
    look_into,
    shown,
)
from rl_pipeline.reader.trial_states import RESULT, mtime_ns_of
from rl_pipeline.redaction import redact
from rl_pipeline.trial_files.reading import COLUMNS, Columns, FilesRead, read_columns

TRIAL = COLUMNS.index("trial")
USUAL = Rules(RESULT.encode(), SIGN_OF_A_JOB.encode(), end_to_end(sorted(PARTS_OF_A_TRIAL)), end_to_end(ARCHIVES))
REDACTED = "["  # stands in every name from which something was taken


class Branch(NamedTuple):
    """Some folders directly in one folder."""

    above: Folder
    names: list[str]


class Task(NamedTuple):
    """What is visited in one go: folders, or files that were found before."""

    top: str  # path of the root
    branches: Sequence[Branch]
    files: Sequence[TrialFile] = ()


class Visited(NamedTuple):
    """What was found in some folders; the first four have a value for each file, in one order."""

    columns: Columns  # as of `read_columns`
    folders: list[str]
    is_eval: list[bool]
    leaf_mtime_ns: list[int | None]  # as of `TrialFile`
    unfit: list[str]  # those of the folders whose name holds a credential
    not_read: list[NotRead]
    inner: list[Branch]


def visit(task: Task) -> Visited:
    """Look into folders and read their trials, or read what was found before."""
    if task.files:
        return read(task.files)
    top, branches, _ = task
    files = FilesRead()
    found = Visited([], [], [], [], [], [], [])
    calls = folder_calls.load()
    for branch in branches:
        above, names = branch
        ahead = calls.read(above.path, names, USUAL) if calls is not None and above.depth < DEEPEST else None
        if ahead is not None and ahead.are_whole and EVAL_SESSIONS not in names:
            files.add_read(ahead)
            _add_trials(found, above, names)
            found.leaf_mtime_ns.extend(ahead.folder_mtime_ns)
        else:
            _visit_each(branch, top, ahead, found, files)
    return _with_columns(found, files.columns())


def _add_trials(found: Visited, above: Folder, names: Sequence[str]) -> None:
    """Folders of trials with nothing else to say of them; none is `EVAL_SESSIONS`."""
    found.folders.extend(all_shown(f"{above.relative}/" if above.relative else "", names))
    found.is_eval.extend([above.is_eval] * len(names))


def _visit_each(branch: Branch, top: str, ahead: Readings | None, found: Visited, files: FilesRead) -> None:
    """Visit the folders one by one; `ahead`: what was read at once in those that are quite usual, if anything."""
    above, names = branch
    before = f"{above.relative}/" if above.relative else ""
    for place, name in enumerate(names):
        path = f"{above.path}/{name}"
        how = UNUSUAL if ahead is None else ahead.how[place]
        if how == UNUSUAL:
            listed = _listed(path) if above.depth < DEEPEST else None
            if listed is None or not holds_plain_trial(listed[1]):
                for file in _look_closely(above.inner(name), top, listed, found):
                    files.add(file)
                continue
            how, mtime_ns = NOT_READ, listed[0]
        else:
            mtime_ns = None if ahead is None else ahead.folder_mtime_ns[place]
        if ahead is not None and how == WHOLE:
            files.add_read(ahead.one(place))
        else:
            files.add(f"{path}/{RESULT}")
        found.folders.append(shown(before + name))
        found.is_eval.append(above.is_eval_below(name))
        found.leaf_mtime_ns.append(mtime_ns)


def _listed(path: str) -> tuple[int | None, list[os.DirEntry[str]]] | None:
    """The time of a folder, and what is in it."""
    mtime_ns = mtime_ns_of(path)
    try:
        with os.scandir(path) as entries:
            return mtime_ns, list(entries)
    except OSError:
        return None


def _look_closely(
    folder: Folder, top: str, listed: tuple[int | None, list[os.DirEntry[str]]] | None, so_far: Visited
) -> list[str]:
    """Add to what was found; the files to be read."""
    found, below = look_into(folder, top, (), listed)
    files = [one for one in found if isinstance(one, TrialFile)]
    for file in files:
        so_far.folders.append(file.folder)
        so_far.is_eval.append(file.is_eval)
        so_far.leaf_mtime_ns.append(file.leaf_mtime_ns)
    so_far.not_read.extend(one for one in found if isinstance(one, NotRead))
    if below:
        so_far.inner.append(Branch(folder, below))
    return [file.path for file in files]


def read(files: Sequence[TrialFile], columns: Columns | None = None) -> Visited:
    """The same of files that were found; their columns, when they were read elsewhere."""
    paths, folders, _, _, _, is_eval, leaf_mtime_ns = map(list, zip(*files, strict=True)) if files else ([],) * 7
    found = Visited([], folders, is_eval, leaf_mtime_ns, [], [], [])
    return _with_columns(found, read_columns(paths) if columns is None else columns)


def _with_columns(found: Visited, columns: Columns) -> Visited:
    """The names of folders are looked at here, but for those that are names of trials, which were looked at."""
    if found.folders == columns[TRIAL] and REDACTED not in "".join(found.folders):
        return found._replace(columns=columns)
    seen = set(columns[TRIAL])
    names = [name for name in found.folders if name not in seen or REDACTED in name]
    unfit = [name for name in suspects(names) if redact(name).text != name]
    return found._replace(columns=columns, unfit=unfit)


# What one process tells another. Names of files need not be text, so they go as bytes, with NUL between.
_BranchTold = tuple[bytes, bytes, int, bool, bytes]
_FileTold = tuple[bytes, str, bool, int | None]
_VisitedTold = tuple[
    Columns, list[str], list[bool], list[int | None], list[str], list[tuple[str, str]], list[_BranchTold]
]
ENCODE = msgspec.msgpack.Encoder().encode
QUESTION = msgspec.msgpack.Decoder(tuple[bytes, list[_BranchTold], list[_FileTold]])
ANSWER = msgspec.msgpack.Decoder(_VisitedTold)


def question(task: Task) -> bytes:
    """What is to be visited, for another process."""
    files = [(os.fsencode(one.path), one.folder, one.is_eval, one.leaf_mtime_ns) for one in task.files]
    return ENCODE((os.fsencode(task.top), [_told(branch) for branch in task.branches], files))


def answer(message: bytes) -> bytes:
    """What was found, for the process that asked the question."""
    top, branches, told = QUESTION.decode(message)
    files = [
        TrialFile(os.fsdecode(path), folder, None, None, None, is_eval, leaf_mtime_ns)
        for path, folder, is_eval, leaf_mtime_ns in told
    ]
    found = visit(Task(os.fsdecode(top), [_branch(told) for told in branches], files))
    return ENCODE((*found[:-1], [_told(branch) for branch in found.inner]))


def visited(message: bytes) -> Visited:
    """What another process found.

    Raises:
        msgspec.MsgspecError: it is no answer.
    """
    columns, folders, is_eval, leaf_mtime_ns, unfit, not_read, inner = ANSWER.decode(message)
    branches = [_branch(told) for told in inner]
    return Visited(columns, folders, is_eval, leaf_mtime_ns, unfit, [NotRead(*one) for one in not_read], branches)


def _told(branch: Branch) -> _BranchTold:
    above, names = branch
    names_told = os.fsencode("\0".join(names))
    return os.fsencode(above.path), os.fsencode(above.relative), above.depth, above.is_eval, names_told


def _branch(told: _BranchTold) -> Branch:
    path, relative, depth, is_eval, names = told
    above = Folder(os.fsdecode(path), os.fsdecode(relative), depth, is_eval)
    return Branch(above, os.fsdecode(names).split("\0"))
