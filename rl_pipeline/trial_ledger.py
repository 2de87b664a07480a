"""All trials below some roots, each `result.json` opened once in its life.

In: roots, and where the ledger lies. Out: the tables `trials` and `skipped_trials`, sorted by path;
the same whether the ledger knew everything or nothing.

Walking is cheap and always done; opening and parsing is not, so it is done for files whose size,
time or inode the ledger does not know. A known trial's folder is not even listed: when something
came into it, its time is another one. Folders that it does not know are listed and read in one go,
by several processes when there are many (`trial_files/survey.py`). Files flow through in batches, so
memory holds the rows and one batch, never the documents. A file that disappeared leaves the result;
a file that could not be read for a reason of the moment (permission, I/O) is tried again every time.

Copies: of trials with one id (or, without ids, with one name, the same times and size) the first by
path counts; the others are told in `skipped_trials`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline.addresses import is_elsewhere
from rl_pipeline.code_version import code_version
from rl_pipeline.cycles import rare_looks_for_cycles
from rl_pipeline.dialects.stored_values import LARGEST_INTEGER, stored_names
from rl_pipeline.reader import folder_calls
from rl_pipeline.reader.trial_folders import (
    EVAL_SESSIONS,
    Folder,
    Found,
    NotRead,
    TrialFile,
    all_shown,
    folders_in,
    look_into,
    shown,
    top_folder,
)
from rl_pipeline.reader.trial_states import RESULT, state_of_trial
from rl_pipeline.redaction import may_hold_any, redact
from rl_pipeline.schema import SkippedTrial, Trial
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.row_tables import to_arrow
from rl_pipeline.tables.trial_copies import first_of_copies, rows_of
from rl_pipeline.tables.trial_entries import ENTRY_SCHEMA, EntryIndex, EntryParts, entry_table
from rl_pipeline.trial_files.elsewhere import columns_of, distinct_roots, trials_below
from rl_pipeline.trial_files.reading import COLUMNS
from rl_pipeline.trial_files.seen import Seen, States
from rl_pipeline.trial_files.survey import CHUNK_FILES, Survey, ToDo
from rl_pipeline.trial_files.visiting import Branch, Visited, read

TABLE_FILES = 4096  # files whose facts become columns together
BATCH_FILES = 8192  # files between two parts of the ledger: what a killed run has to read again at most
# What decides the facts of a trial.
CODE = (
    "dialects/harbor_*.py", "dialects/parsed_trial.py", "dialects/token_ids.py", "dialects/iso_time.py",
    "dialects/exception_classes.py", "dialects/stored_values.py", "redaction.py", "reader/trial_*.py",
    "reader/folder_calls/*.py", "reader/folder_calls/*.c", "reader/text_marks/*.py", "reader/text_marks/*.c",
    "trial_files/reading.py", "trial_files/visiting.py", "tables/trial_entries.py",
)  # fmt: skip
TOGETHER = 256  # paths that are looked at in one go
PATH_LIMIT = 8192  # characters of a path; no file system has longer ones
PASSING = -1  # in place of a size: why the file was not read is a reason of the moment

Progress = Callable[[int], None]


@dataclass(slots=True)
class _Place:
    """Where the files of one set of entries lie now."""

    root: list[int] = field(default_factory=list)
    is_eval: list[bool] = field(default_factory=list)


def read_trials(
    roots: Sequence[Path],
    ledger: str | None = None,
    *,
    workers: int = 2,
    on_progress: Progress | None = None,
    seen: Seen | None = None,
) -> tuple[pa.Table, pa.Table]:
    """The tables `trials` and `skipped_trials` of everything below the roots.

    Args:
        roots: trial roots; one that lies in another is left out.
        ledger: URL of the ledger's folder; None reads everything and remembers nothing.
        workers: processes that list folders, open and parse files when there are many, this one included.
        on_progress: told how many files were handled since the last call.
        seen: is told which files there were, and in which state they were read.
    """
    with rare_looks_for_cycles():
        reading = _Reading(EntryParts(ledger, reading_version()), workers, on_progress or (lambda _: None))
        roots = distinct_roots(roots)
        try:
            for number, root in enumerate(roots):
                reading.read_root(number, root)
            entries = _in_order(reading.finish())
        finally:
            reading.close()
    if seen is not None:
        _tell(seen, roots, entries, reading)
    return _tables(entries, reading.skipped, are_fit=not reading.unfit)


def reading_version() -> str:
    """A digest of the code that reads trials, so that changed code reads everything anew."""
    return code_version(*CODE)


class _Reading:
    """One pass over the files: what the ledger knows is looked up, what it does not is read."""

    def __init__(self, parts: EntryParts, workers: int, on_progress: Progress) -> None:
        self.skipped: list[NotRead] = []
        self.unfit: set[str] = set()  # folders whose name holds a credential
        self._parts, self._on_progress = parts, on_progress
        self._survey = Survey(workers)
        self._known = parts.load()
        self._index = EntryIndex(self._known)
        self._known_rows: list[int] = []
        self._known_place, self._new_place = _Place(), _Place()
        self._line: list[TrialFile] = []
        self._read: list[Visited] = []
        self._new: list[pa.Table] = []
        self._unsaved: list[pa.Table] = []

    def read_root(self, number: int, root: Path) -> None:
        """Take everything below a root."""
        if is_elsewhere(root):
            for found in trials_below(root, known=self._index, asked=self._index.folders):
                self._take(number, found)
        elif isinstance(top := top_folder(root), NotRead):
            self.skipped.append(top)
        else:
            if not self._known.num_rows:
                self._survey.start_ahead(folders_in(top))
            todo = ToDo()
            self._look_into(number, top, top.path, todo)
            for visited in self._survey.visits(top.path, todo):
                self._keep(number, visited)
                for branch in visited.inner:
                    self._sort_out(number, branch, top.path, todo)
        self._read_line(number)  # files of one place are read together
        for visited in self._survey.rest():
            self._keep(number, visited)

    def finish(self) -> pa.Table:
        """All entries, with `root` and `is_eval` of each."""
        self._make_entries()
        self._save()
        self._parts.sweep()
        known = rows_of(self._known, np.array(self._known_rows, dtype=np.int64))
        new = pa.concat_tables([ENTRY_SCHEMA.empty_table(), *self._new])
        self._parts.merge_if_many(lambda: pa.concat_tables([known, _lasting(new, self.unfit)]))
        self._on_progress(known.num_rows)
        return pa.concat_tables([_placed(known, self._known_place), _placed(new, self._new_place)])

    def close(self) -> None:
        """Let go of the workers; what is still in line is not read."""
        self._survey.close()

    def _sort_out(self, root: int, branch: Branch, top: str, todo: ToDo) -> None:
        """Take the trials that are as the ledger knows them; put the other folders in line."""
        above, names = branch
        if not self._known.num_rows:
            todo.add(Branch(above, sorted(names)))
            return
        before = f"{above.relative}/" if above.relative else ""
        unknown: list[str] = []
        for name in sorted(self._take_unchanged(root, above, names)):
            folder = shown(before + name)
            if folder not in self._index.folders:
                unknown.append(name)
            elif folder in self._index and (state := state_of_trial(f"{above.path}/{name}")) is not None:
                size, mtime_ns, inode, folder_mtime_ns = state
                row = self._index.find(folder, size, mtime_ns, _signed(inode), folder_mtime_ns)
                if row is None:
                    unknown.append(name)
                else:
                    self._take_known(root, row, above.is_eval_below(name))
            else:
                self._look_into(root, above.inner(name), top, todo)
        todo.add(Branch(above, unknown))

    def _take_unchanged(self, root: int, above: Folder, names: list[str]) -> list[str]:
        """Take the trials of a large folder that are as their newest entry says; the names of the others."""
        calls = folder_calls.load() if len(names) >= TOGETHER else None
        before = f"{above.relative}/" if above.relative else ""
        rows = self._index.newest_rows(all_shown(before, names) if calls is not None else ())
        asked = np.flatnonzero(rows >= 0)
        told = list(compress(names, (rows >= 0).tolist()))
        states = calls.states(above.path, told, RESULT) if calls is not None and told else None
        if states is None:
            return names
        is_file = np.concatenate([np.frombuffer(some.is_file, bool) for some in states])
        now = np.hstack([np.frombuffer(some.columns, np.int64).reshape(4, -1) for some in states])
        is_same = is_file & self._index.are_in_state(rows[asked], *now)
        places = asked[is_same]
        places = places[np.argsort(rows[places])]  # rows that follow each other are taken without a copy
        taken = places.tolist()
        self._known_rows += rows[places].tolist()
        self._known_place.root += [root] * len(taken)
        is_eval = [above.is_eval] * len(taken)
        if not above.is_eval and EVAL_SESSIONS in names:
            is_eval = [above.is_eval_below(names[place]) for place in taken]
        self._known_place.is_eval += is_eval
        is_left = np.ones(len(names), bool)
        is_left[places] = False
        return list(compress(names, is_left.tolist()))

    def _look_into(self, root: int, folder: Folder, top: str, todo: ToDo) -> None:
        """List a folder here, and look its file up."""
        found, inner = look_into(folder, top, self._index.folders)
        for one in found:
            self._take(root, one)
        self._sort_out(root, Branch(folder, inner), top, todo)

    def _take(self, root: int, found: Found) -> None:
        """Look a file up, or put it in line to be read."""
        if isinstance(found, NotRead):
            self.skipped.append(found)
            return
        state = (found.size, found.mtime_ns, _signed(found.inode))
        row = self._index.find(found.folder, *state, found.leaf_mtime_ns)
        if row is not None:
            self._take_known(root, row, found.is_eval)
            return
        self._line.append(found)
        if len(self._line) >= CHUNK_FILES:
            self._read_line(root)

    def _take_known(self, root: int, row: int, is_eval: bool) -> None:
        self._known_rows.append(row)
        self._known_place.root.append(root)
        self._known_place.is_eval.append(is_eval)

    def _read_line(self, root: int) -> None:
        line, self._line = self._line, []
        if not line:
            return
        if is_elsewhere(line[0].path):
            self._keep(root, read(line, columns_of(line)))
            return
        for visited in self._survey.reads(line):
            self._keep(root, visited)

    def _keep(self, root: int, visited: Visited) -> None:
        self.skipped += visited.not_read
        self.unfit.update(visited.unfit)
        self._new_place.root += [root] * len(visited.folders)
        self._new_place.is_eval += visited.is_eval
        self._read.append(visited._replace(not_read=[], inner=[], unfit=[]))
        self._on_progress(len(visited.folders))
        if sum(len(one.folders) for one in self._read) >= TABLE_FILES:
            self._make_entries()

    def _make_entries(self) -> None:
        visits, self._read = self._read, []
        if visits:
            entries = _entries(visits)
            self._new.append(entries)
            self._unsaved.append(entries)
        if sum(table.num_rows for table in self._unsaved) >= BATCH_FILES:
            self._save()

    def _save(self) -> None:
        unsaved, self._unsaved = self._unsaved, []
        if unsaved and self._parts.are_kept:
            self._parts.add(_lasting(pa.concat_tables(unsaved), self.unfit))


def _entries(visits: Sequence[Visited]) -> pa.Table:
    """Entries of files that were read; a size of -1 marks one that is to be tried again every time."""
    columns = [_end_to_end(parts) for parts in zip(*(one.columns for one in visits), strict=True)]
    told = dict(zip(COLUMNS, columns, strict=True))
    is_lasting = told.pop("is_lasting")
    if not all(is_lasting):
        told["size"] = [size if lasts else PASSING for size, lasts in zip(told["size"], is_lasting, strict=True)]
    if None in told["inode"] or max(told["inode"], default=0) > LARGEST_INTEGER:
        told["inode"] = [_signed(inode) for inode in told["inode"]]
    if None in told["mtime_ns"]:
        told["mtime_ns"] = [time_ns or 0 for time_ns in told["mtime_ns"]]
    told["folder"] = _end_to_end(one.folders for one in visits)
    told["leaf_mtime_ns"] = _end_to_end(one.leaf_mtime_ns for one in visits)
    return entry_table(told)


def _end_to_end(lists: Iterable[list[Any]]) -> list[Any]:
    values: list[Any] = []
    for some in lists:
        values += some
    return values


def _tell(seen: Seen, roots: Sequence[Path], entries: pa.Table, reading: _Reading) -> None:
    """Which files there were."""
    for number, root in enumerate(roots):
        mine = entries.filter(pc.equal(entries["root"], number)) if len(roots) > 1 else entries
        seen.add(root, _states(mine))
        is_leaf = pc.and_(pc.is_valid(mine["leaf_mtime_ns"]), pc.is_null(mine["reason"]))
        seen.leaves[root] = _texts(mine["folder"].filter(is_leaf), but=reading.unfit)
    seen.add_not_read(reading.skipped)


def _states(entries: pa.Table) -> Iterator[States]:
    """Their files in the order of the entries, some at a time."""
    for some in entries.select(States._fields).to_batches(TABLE_FILES):
        yield States(*(column.to_pylist() for column in some.columns))


def _texts(column: pa.ChunkedArray, *, but: Collection[str]) -> Iterator[str]:
    """The texts but some; they are never there all at once."""
    for first in range(0, len(column), TABLE_FILES):
        yield from (text for text in column[first : first + TABLE_FILES].to_pylist() if text not in but)


def _lasting(entries: pa.Table, unfit: Collection[str]) -> pa.Table:
    """The entries that may be remembered: no reasons of the moment, no folders whose name holds a credential."""
    keeps = pc.not_equal(entries["size"], PASSING)
    if unfit:
        holds_none = pc.invert(pc.is_in(entries["folder"], value_set=pa.array(sorted(unfit), pa.string())))
        keeps = pc.and_(keeps, holds_none)
    return entries if pc.all(keeps).as_py() else entries.filter(keeps)


def _placed(entries: pa.Table, place: _Place) -> pa.Table:
    entries = entries.append_column("root", pa.array(place.root, pa.int64()))
    return entries.append_column("is_eval", pa.array(place.is_eval, pa.bool_()))


def _in_order(entries: pa.Table) -> pa.Table:
    """By folder, then by root."""
    order = pc.sort_indices(entries, [("folder", "ascending"), ("root", "ascending")])
    return rows_of(entries, order.to_numpy())


def _tables(entries: pa.Table, skipped: Sequence[NotRead], *, are_fit: bool) -> tuple[pa.Table, pa.Table]:
    """The two tables of entries in order; `are_fit`: the names of the folders hold no credential."""
    is_trial = pc.is_null(entries["reason"]).to_numpy()
    told, candidates = rows_of(entries, np.flatnonzero(~is_trial)), rows_of(entries, np.flatnonzero(is_trial))
    first = first_of_copies(candidates)
    is_copy = first != np.arange(len(first))
    reasons = list(zip(told["folder"].to_pylist(), told["reason"].to_pylist(), strict=True))
    copies = zip(
        candidates["folder"].filter(pa.array(is_copy)).to_pylist(),
        candidates["folder"].take(pa.array(first[is_copy])).to_pylist(),
        strict=True,
    )
    reasons += [(folder, f"duplicate of {_result_path(original)}") for folder, original in copies]
    rows = [SkippedTrial(path=_result_path(folder), reason=reason) for folder, reason in reasons]
    rows += [SkippedTrial(path=item.path, reason=item.reason) for item in skipped]
    shown = zip(_shown([row.path for row in rows]), _shown([row.reason for row in rows], told_twice=True), strict=True)
    rows = [SkippedTrial(path=path, reason=reason) for path, reason in shown]
    return _trial_table(rows_of(candidates, np.flatnonzero(~is_copy)), are_fit=are_fit), to_arrow(
        sorted(rows, key=attrgetter("path", "reason")), SkippedTrial
    )


def _trial_table(entries: pa.Table, *, are_fit: bool) -> pa.Table:
    schema = arrow_schema(Trial)
    named = entries.rename_columns(["path" if name == "folder" else name for name in entries.schema.names])
    if not are_fit:
        paths = pa.array(stored_names(named["path"].to_pylist(), PATH_LIMIT), pa.string())
        named = named.set_column(named.schema.get_field_index("path"), "path", paths)
    present = set(named.schema.names)
    columns = [
        named[column.name] if column.name in present else pa.nulls(named.num_rows, column.type) for column in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema).combine_chunks()


def _shown(texts: list[str], *, told_twice: bool = False) -> list[str]:
    """Paths as a table holds them: names of folders are anyone's text, too. Nearly always all are fit to be shown."""
    if not any(_holds_any(texts[start : start + TOGETHER]) for start in range(0, len(texts), TOGETHER)):
        return texts
    return [redact(text).text for text in texts] if told_twice else list(stored_names(texts, PATH_LIMIT))


def _holds_any(texts: list[str]) -> bool:
    """Whether a text holds a credential; short marks stand in random names, too, so some are looked at one by one."""
    return may_hold_any("\n".join(texts)) and any(redact(text).text != text for text in texts)


def _result_path(folder: str) -> str:
    return RESULT if folder == "." else f"{folder}/{RESULT}"


def _signed(inode: int | None) -> int:
    """An inode number, unsigned in the file system, as a table can hold it."""
    return 0 if inode is None else inode - 2**64 if inode >= 2**63 else inode
