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

import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline import __version__
from rl_pipeline.dialects.harbor_trial import ParsedTrial, parse_trial
from rl_pipeline.reader.trial_folders import RESULT, NotRead, TrialFile, find_trials
from rl_pipeline.schema import SkippedTrial, Trial
from rl_pipeline.tables.columns import arrow_schema, column_array
from rl_pipeline.tables.frames import to_arrow
from rl_pipeline.tables.trial_entries import ENTRY_SCHEMA, EntryIndex, EntryParts

CHUNK_FILES = 128  # files that one worker takes at a time
BATCH_FILES = 8192  # files between two parts of the ledger: what a killed run has to read again at most
LARGEST_FILE = 256 * 2**20
BIG_FILE = 16 * 2**20  # of these, only one is in memory at a time

READ_BYTES = 2**20
ONE_BIG_FILE = threading.Lock()
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # never wait for a pipe's writer

Progress = Callable[[int], None]


@dataclass(slots=True)
class _Place:
    """Where the files of one set of entries lie now."""

    root: list[int] = field(default_factory=list)
    is_eval: list[bool] = field(default_factory=list)

    def add(self, root: int, file: TrialFile) -> None:
        self.root.append(root)
        self.is_eval.append(file.is_eval)


def read_trials(
    roots: Sequence[Path],
    ledger: str | None = None,
    *,
    workers: int = 2,
    on_progress: Progress | None = None,
) -> tuple[pa.Table, pa.Table]:
    """The tables `trials` and `skipped_trials` of everything below the roots.

    Args:
        roots: trial roots; one that lies in another is left out.
        ledger: URL of the ledger's folder; None reads everything and remembers nothing.
        workers: threads that open and parse files.
        on_progress: told how many files were handled since the last call.
    """
    reading = _Reading(EntryParts(ledger, reading_version()), workers, on_progress or (lambda _: None))
    skipped: list[NotRead] = []
    try:
        for number, root in enumerate(distinct_roots(roots)):
            for found in find_trials(root, known=reading.index):
                if isinstance(found, NotRead):
                    skipped.append(found)
                else:
                    reading.take(number, found)
        entries = reading.finish()
    finally:
        reading.close()
    return _tables(entries, skipped)


def distinct_roots(roots: Iterable[Path]) -> list[Path]:
    """The roots without those that are, or lie in, an earlier or wider one; order kept."""
    real = list(dict.fromkeys(os.path.realpath(root) for root in roots))
    return [Path(root) for root in real if not any(root.startswith(f"{other.rstrip('/')}/") for other in real)]


@cache
def reading_version() -> str:
    """A digest of the code that reads trials, so that changed code reads everything anew."""
    package = Path(__file__).parent
    digest = hashlib.blake2b(__version__.encode(), digest_size=8)
    for path in (*sorted(package.glob("dialects/*.py")), package / "redaction.py", Path(__file__)):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


class _Outcome(NamedTuple):
    """What became of one file; a reason of the moment is not lasting."""

    trial: ParsedTrial | None
    reason: str | None
    is_lasting: bool = True


class _Reading:
    """One pass over the files: what the ledger knows is looked up, what it does not is read."""

    def __init__(self, parts: EntryParts, workers: int, on_progress: Progress) -> None:
        self._parts, self._on_progress, self._workers = parts, on_progress, max(1, workers)
        self._known = parts.load()
        self.index = EntryIndex(self._known)
        self._known_rows: list[int] = []
        self._known_place, self._new_place = _Place(), _Place()
        self._chunk: list[TrialFile] = []
        self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="trials")
        self._running: deque[Future[tuple[pa.Table, pa.Table]]] = deque()
        self._new: list[pa.Table] = []
        self._lasting: list[pa.Table] = []
        self._unsaved: list[pa.Table] = []

    def take(self, root: int, file: TrialFile) -> None:
        """Look the file up, or put it in line to be read."""
        row = self.index.find(file.folder, file.size, file.mtime_ns, file.inode)
        if row is not None:
            self._known_rows.append(row)
            self._known_place.add(root, file)
            return
        self._new_place.add(root, file)
        self._chunk.append(file)
        if len(self._chunk) >= CHUNK_FILES:
            self._send()

    def finish(self) -> pa.Table:
        """Read what is still in line; all entries, with `root` and `is_eval` of each."""
        self._send()
        while self._running:
            self._receive()
        self._save()
        self._parts.sweep()
        known = _rows(self._known, np.array(self._known_rows, dtype=np.int64))
        self._parts.merge_if_many(lambda: pa.concat_tables([known, *self._lasting]))
        self._on_progress(known.num_rows)
        new = pa.concat_tables([ENTRY_SCHEMA.empty_table(), *self._new])
        return pa.concat_tables([_placed(known, self._known_place), _placed(new, self._new_place)])

    def close(self) -> None:
        """Let go of the workers; what is still in line is not read."""
        self._pool.shutdown(cancel_futures=True)

    def _send(self) -> None:
        chunk, self._chunk = self._chunk, []
        if chunk:
            self._running.append(self._pool.submit(read_files, chunk))
        while len(self._running) > 2 * self._workers:
            self._receive()

    def _receive(self) -> None:
        entries, lasting = self._running.popleft().result()
        self._new.append(entries)
        self._lasting.append(lasting)
        self._unsaved.append(lasting)
        self._on_progress(entries.num_rows)
        if len(self._unsaved) * CHUNK_FILES >= BATCH_FILES:
            self._save()

    def _save(self) -> None:
        unsaved, self._unsaved = self._unsaved, []
        if unsaved:
            self._parts.add(pa.concat_tables(unsaved))


def read_files(files: Sequence[TrialFile]) -> tuple[pa.Table, pa.Table]:
    """Entries of some files in their order: all of them, and those that may be remembered."""
    outcomes = [_read(file) for file in files]
    entries = _entries(files, outcomes)
    if all(outcome.is_lasting for outcome in outcomes):
        return entries, entries
    return entries, entries.filter(pa.array([outcome.is_lasting for outcome in outcomes], pa.bool_()))


def _read(file: TrialFile) -> _Outcome:
    if file.size > LARGEST_FILE:
        return _Outcome(None, f"larger than {LARGEST_FILE >> 20} MiB; not read")
    with ONE_BIG_FILE if file.size > BIG_FILE else nullcontext():
        try:
            content = _content_of(file)
        except OSError as error:
            return _Outcome(None, _why(error), is_lasting=False)
        told = _parsed(content)
    return _Outcome(None, told) if isinstance(told, str) else _Outcome(told, None)


def _parsed(content: bytes) -> ParsedTrial | str:
    """What the dialect says; of ten thousands of files, one that it did not foresee must not cost the others."""
    try:
        return parse_trial(content)
    except Exception as error:
        return f"the trial reader failed on it ({type(error).__name__}); please report this file"


def _content_of(file: TrialFile) -> bytes:
    """The whole file, in one read when it is as long as it was when it was found.

    Not mapped into memory: a file that its writer cuts at that moment would kill the process.
    """
    descriptor = os.open(file.path, OPEN_FLAGS)
    try:
        pieces = [os.read(descriptor, file.size + 1)]
        length = len(pieces[0])
        while length != file.size and length <= LARGEST_FILE and (piece := os.read(descriptor, READ_BYTES)):
            pieces.append(piece)
            length += len(piece)
    finally:
        os.close(descriptor)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _why(error: OSError) -> str:
    return "no permission to read it" if isinstance(error, PermissionError) else error.strerror or str(error)


def _entries(files: Sequence[TrialFile], outcomes: Sequence[_Outcome]) -> pa.Table:
    trials = [outcome.trial for outcome in outcomes]
    states: dict[str, list[Any]] = {
        "folder": [file.folder for file in files],
        "size": [file.size for file in files],
        "mtime_ns": [file.mtime_ns for file in files],
        "inode": [_signed(file.inode) for file in files],
        "is_leaf": [file.is_leaf for file in files],
        "reason": [outcome.reason for outcome in outcomes],
    }
    told = {name: [getattr(trial, name, None) for trial in trials] for name in ENTRY_SCHEMA.names if name not in states}
    arrays = [column_array({**states, **told}[column.name], column)[0] for column in ENTRY_SCHEMA]
    return pa.Table.from_arrays(arrays, schema=ENTRY_SCHEMA)


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
    present = set(named.schema.names)
    columns = [
        named[column.name] if column.name in present else pa.nulls(named.num_rows, column.type) for column in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema).combine_chunks()


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


def _signed(inode: int) -> int:
    """An inode number, unsigned in the file system, as a table can hold it."""
    return inode - 2**64 if inode >= 2**63 else inode
