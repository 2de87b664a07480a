"""All trials below some roots, each `result.json` opened once in its life.

In: roots, and where the ledger lies. Out: the tables `trials` and `skipped_trials`, sorted by path;
the same whether the ledger knew everything or nothing.

Walking is cheap and always done; opening and parsing is not, so it is done for files whose size,
time or inode the ledger does not know. Files flow through in batches, so memory holds the rows and
one batch, never the documents. A file that disappeared leaves the result; a file that could not be
read for a reason of the moment (permission, I/O) is tried again every time.

Copies: of trials with one id (or, without ids, with one name, the same times and size) the first by
path counts; the others are told in `skipped_trials`.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline.addresses import is_elsewhere
from rl_pipeline.code_version import code_version
from rl_pipeline.dialects.stored_values import stored_names
from rl_pipeline.reader.trial_folders import RESULT, NotRead, TrialFile
from rl_pipeline.redaction import may_hold_any, redact
from rl_pipeline.schema import SkippedTrial, Trial
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.row_tables import to_arrow
from rl_pipeline.tables.trial_entries import ENTRY_SCHEMA, EntryIndex, EntryParts, entry_table
from rl_pipeline.trial_files.crew import Crew
from rl_pipeline.trial_files.elsewhere import Walk, columns_of, trials_below
from rl_pipeline.trial_files.reading import COLUMNS, Columns, read_columns

CHUNK_FILES = 256  # files that one worker takes at a time
CHUNK_TEXT = 32_000  # characters of their paths
BATCH_FILES = 8192  # files between two parts of the ledger: what a killed run has to read again at most
# What decides the facts of a trial.
CODE = (
    "dialects/harbor_*.py", "dialects/parsed_trial.py", "dialects/token_ids.py", "dialects/iso_time.py",
    "dialects/exception_classes.py", "dialects/stored_values.py", "redaction.py", "trial_files/reading.py",
)  # fmt: skip
TOGETHER = 256  # paths that are looked at in one go
PATH_LIMIT = 8192  # characters of a path; no file system has longer ones
PASSING = -1  # in place of a size: why the file was not read is a reason of the moment
ALONE_S = 0.15  # reading that is done here before other processes are worth their start

Progress = Callable[[int], None]


@dataclass(slots=True)
class _Place:
    """Where the files of one set of entries lie now."""

    root: list[int] = field(default_factory=list)
    is_eval: list[bool] = field(default_factory=list)

    def add(self, root: int, is_eval: bool) -> None:
        self.root.append(root)
        self.is_eval.append(is_eval)


def read_trials(
    roots: Sequence[Path],
    ledger: str | None = None,
    *,
    workers: int = 2,
    on_progress: Progress | None = None,
    walk: Walk = trials_below,
) -> tuple[pa.Table, pa.Table]:
    """The tables `trials` and `skipped_trials` of everything below the roots.

    Args:
        roots: trial roots; one that lies in another is left out.
        ledger: URL of the ledger's folder; None reads everything and remembers nothing.
        workers: processes that open and parse files when there are many.
        on_progress: told how many files were handled since the last call.
        walk: finds trials below a root; what was found before may be given instead.
    """
    reading = _Reading(EntryParts(ledger, reading_version()), workers, on_progress or (lambda _: None))
    skipped: list[NotRead] = []
    try:
        for number, root in enumerate(distinct_roots(roots)):
            known, is_as_it_was = reading.index, partial(reading.is_as_it_was, number)
            for found in walk(root, known=known, is_as_it_was=is_as_it_was, asked=known.folders):
                if isinstance(found, NotRead):
                    skipped.append(found)
                else:
                    reading.take(number, found)
            reading.end_root()
        entries = reading.finish()
    finally:
        reading.close()
    return _tables(entries, skipped)


def distinct_roots(roots: Iterable[Path]) -> list[Path]:
    """The roots without those that are, or lie in, an earlier or wider one; order kept."""
    real = list(dict.fromkeys(str(root) if is_elsewhere(root) else os.path.realpath(root) for root in roots))
    return [Path(root) for root in real if not any(root.startswith(f"{other.rstrip('/')}/") for other in real)]


def reading_version() -> str:
    """A digest of the code that reads trials, so that changed code reads everything anew."""
    return code_version(*CODE)


class _Reading:
    """One pass over the files: what the ledger knows is looked up, what it does not is read."""

    def __init__(self, parts: EntryParts, workers: int, on_progress: Progress) -> None:
        self._parts, self._on_progress = parts, on_progress
        self._readers = _Readers(workers)
        self._known = parts.load()
        self.index = EntryIndex(self._known)
        self._known_rows: list[int] = []
        self._known_place, self._new_place = _Place(), _Place()
        self._chunk: list[TrialFile] = []
        self._chunk_text = 0
        self._new: list[pa.Table] = []
        self._unsaved: list[pa.Table] = []

    def is_as_it_was(self, root: int, folder: str, is_eval: bool, info: os.stat_result) -> bool:
        """Whether the ledger knows a file in this state; it is taken from there."""
        row = self.index.find(folder, info.st_size, info.st_mtime_ns, _signed(info.st_ino))
        if row is None:
            return False
        self._known_rows.append(row)
        self._known_place.add(root, is_eval)
        return True

    def take(self, root: int, file: TrialFile) -> None:
        """Look the file up, or put it in line to be read."""
        row = self.index.find(file.folder, file.size, file.mtime_ns, _signed(file.inode))
        if row is not None:
            self._known_rows.append(row)
            self._known_place.add(root, file.is_eval)
            return
        self._new_place.add(root, file.is_eval)
        self._chunk.append(file)
        self._chunk_text += len(file.path)
        if len(self._chunk) >= CHUNK_FILES or self._chunk_text >= CHUNK_TEXT:
            self._send()

    def end_root(self) -> None:
        """What is in line is of one root: files of one place are read together."""
        self._send()

    def finish(self) -> pa.Table:
        """Read what is still in line; all entries, with `root` and `is_eval` of each."""
        self._send()
        for entries in self._readers.rest():
            self._keep(entries)
        self._save()
        self._parts.sweep()
        known = _rows(self._known, np.array(self._known_rows, dtype=np.int64))
        new = pa.concat_tables([ENTRY_SCHEMA.empty_table(), *self._new])
        self._parts.merge_if_many(lambda: pa.concat_tables([known, _lasting(new)]))
        self._on_progress(known.num_rows)
        return pa.concat_tables([_placed(known, self._known_place), _placed(new, self._new_place)])

    def close(self) -> None:
        """Let go of the workers; what is still in line is not read."""
        self._readers.close()

    def _send(self) -> None:
        chunk, self._chunk, self._chunk_text = self._chunk, [], 0
        if chunk:
            for entries in self._readers.read(chunk):
                self._keep(entries)

    def _keep(self, entries: pa.Table) -> None:
        self._new.append(entries)
        self._unsaved.append(entries)
        self._on_progress(entries.num_rows)
        if sum(table.num_rows for table in self._unsaved) >= BATCH_FILES:
            self._save()

    def _save(self) -> None:
        unsaved, self._unsaved = self._unsaved, []
        if unsaved and self._parts.are_kept:
            self._parts.add(_lasting(pa.concat_tables(unsaved)))


class _Readers:
    """Reads chunks of files, in order: the first ones here, many by other processes."""

    def __init__(self, workers: int) -> None:
        self._workers = max(1, workers)
        self._crew: Crew | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._running: deque[Future[pa.Table]] = deque()
        self._alone_s = 0.0

    def read(self, files: Sequence[TrialFile]) -> Iterator[pa.Table]:
        """Take the files; gives entries of these or earlier ones, as they become ready."""
        if files and is_elsewhere(files[0].path):
            yield _entries(files, columns_of(files))
            return
        if self._workers == 1 or self._alone_s < ALONE_S:
            began = time.perf_counter()
            yield _entries(files, read_columns([file.path for file in files]))
            self._alone_s += time.perf_counter() - began
            return
        if self._pool is None:
            self._crew = Crew(self._workers)
            self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="trials")
        self._running.append(self._pool.submit(self._read_there, files))
        while len(self._running) > 3 * self._workers:
            yield self._running.popleft().result()

    def rest(self) -> Iterator[pa.Table]:
        """The entries that are not given yet."""
        while self._running:
            yield self._running.popleft().result()

    def close(self) -> None:
        """End the processes; what they have in hand is lost."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._crew is not None:
            self._crew.close()

    def _read_there(self, files: Sequence[TrialFile]) -> pa.Table:
        paths = [file.path for file in files]
        return _entries(files, read_columns(paths) if self._crew is None else self._crew.read(paths))


def _entries(files: Sequence[TrialFile], columns: Columns) -> pa.Table:
    """Entries of files that were read; a size of -1 marks one that is to be tried again every time."""
    told = dict(zip(COLUMNS, columns, strict=True))
    is_lasting = told.pop("is_lasting")
    told["size"] = [size if lasts else PASSING for size, lasts in zip(told["size"], is_lasting, strict=True)]
    told["inode"] = [_signed(inode) for inode in told["inode"]]
    told["mtime_ns"] = [time_ns or 0 for time_ns in told["mtime_ns"]]
    told["folder"] = [file.folder for file in files]
    told["is_leaf"] = [file.is_leaf for file in files]
    return entry_table(told)


def _lasting(entries: pa.Table) -> pa.Table:
    """The entries that may be remembered: no reasons of the moment, no folders whose name holds a credential."""
    folders: list[str] = entries["folder"].to_pylist()
    keeps = pa.array([name == shown for name, shown in zip(folders, _shown(folders), strict=True)], pa.bool_())
    keeps = pc.and_(keeps, pc.not_equal(entries["size"], PASSING))
    return entries if pc.all(keeps).as_py() else entries.filter(keeps)


def _placed(entries: pa.Table, place: _Place) -> pa.Table:
    entries = entries.append_column("root", pa.array(place.root, pa.int64()))
    return entries.append_column("is_eval", pa.array(place.is_eval, pa.bool_()))


def _tables(entries: pa.Table, skipped: Sequence[NotRead]) -> tuple[pa.Table, pa.Table]:
    entries = _rows(entries, pc.sort_indices(entries, [("folder", "ascending"), ("root", "ascending")]).to_numpy())
    is_trial = pc.is_null(entries["reason"]).to_numpy()
    told, candidates = _rows(entries, np.flatnonzero(~is_trial)), _rows(entries, np.flatnonzero(is_trial))
    first = _first_of_copies(candidates)
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
    return _trial_table(_rows(candidates, np.flatnonzero(~is_copy))), to_arrow(
        sorted(rows, key=attrgetter("path", "reason")), SkippedTrial
    )


def _rows(table: pa.Table, numbers: np.ndarray[Any, Any]) -> pa.Table:
    """The rows of these numbers; the table itself, not a copy, when that is all of them in order."""
    if len(numbers) == table.num_rows and np.array_equal(numbers, np.arange(table.num_rows)):
        return table
    return table.take(pa.array(numbers, pa.int64()))


def _trial_table(entries: pa.Table) -> pa.Table:
    schema = arrow_schema(Trial)
    named = entries.rename_columns(["path" if name == "folder" else name for name in entries.schema.names])
    place = named.schema.get_field_index("path")
    named = named.set_column(place, "path", pa.array(_shown(named["path"].to_pylist()), pa.string()))
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


def _first_of_copies(trials: pa.Table) -> np.ndarray[Any, Any]:
    """For each trial the row of the first one it is a copy of, its own if there is none before it."""
    first = np.arange(trials.num_rows)
    names = _codes(trials["trial"])
    alike = np.flatnonzero(np.bincount(names)[names] > 1) if len(names) else names
    if len(alike):
        some = _rows(trials, alike)
        started, finished, size = (some[name].cast(pa.string()) for name in ("started_at", "finished_at", "size"))
        which = pc.coalesce(some["trial_id"], _joined(finished, size))
        keys = _codes(_joined(some["trial"], started, which))
        _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
        first[alike] = alike[firsts[groups]]
    return first


def _codes(texts: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """A number for each text, the same for equal ones."""
    encoded = texts.combine_chunks().dictionary_encode()
    codes: np.ndarray[Any, Any] = encoded.indices.to_numpy()
    return codes


def _joined(*texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(*texts, "\0", null_handling="replace", null_replacement="")


def _result_path(folder: str) -> str:
    return RESULT if folder == "." else f"{folder}/{RESULT}"


def _signed(inode: int | None) -> int:
    """An inode number, unsigned in the file system, as a table can hold it."""
    return 0 if inode is None else inode - 2**64 if inode >= 2**63 else inode
