"""What is known of trial files: one entry per `result.json` and state of it, kept in small parts (Arrow files).

    <ledger>/<version>/part-<digest of its content>.arrow

An entry says which file in which state it is about (folder, size, time, inode, and the time of a
folder in which nothing else was found), and either the trial's columns or the reason why the file
is none. Parts are only ever added: a part's name is its content, entries of several parts simply
add up, and which of them count is decided by looking at the files. So several runs at once cannot
disturb each other; at worst a file is read twice. Parts are merged when there are many. Another
version of the reading code has a folder of its own.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timezone
from functools import cached_property
from itertools import compress, repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3

from rl_pipeline.schema import Trial
from rl_pipeline.tables.columns import arrow_schema, column_array, schema_digest
from rl_pipeline.tables.store_files import StoreFiles

# Columns that are told by where the file lies now, or by which jobs there are now: never remembered.
UNREMEMBERED = ("path", "is_eval", "job", "job_confidence")
TRIAL_FIELDS = [field.with_nullable(True) for field in arrow_schema(Trial) if field.name not in UNREMEMBERED]
STATE_FIELDS = [
    pa.field("folder", pa.string(), nullable=False),
    pa.field("size", pa.int64(), nullable=False),
    pa.field("mtime_ns", pa.int64(), nullable=False),
    pa.field("inode", pa.int64(), nullable=False),
    pa.field("leaf_mtime_ns", pa.int64()),
    pa.field("reason", pa.string()),  # null: it is a trial
]
ENTRY_SCHEMA = pa.schema([*STATE_FIELDS, *TRIAL_FIELDS])
NO_LEAF = -(2**63)  # no file system has such a time
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MANY_PARTS = 16
MANY_ASKED = 4  # of that many entries one is asked for: then all are looked up in one go
THREADS = 2
FORMAT = "arrow lz4"
PART = re.compile(r"part-[0-9a-f]{32}\.arrow")
VERSION_FOLDER = re.compile(r"[0-9a-f]{16}")


def entry_table(told: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Entries from their columns; a time may stand there as ISO text, or say that it is in UTC."""
    arrays = [_array(told[field.name], field) for field in ENTRY_SCHEMA]
    return pa.Table.from_arrays(arrays, schema=ENTRY_SCHEMA)


def _array(values: Sequence[Any], field: pa.Field) -> pa.Array:
    if not pa.types.is_timestamp(field.type):
        return _plain_array(values, field)
    try:
        # Spans of time become an array in a third of the time that moments with a zone take.
        spans = [None if value is None else value - EPOCH for value in values]
        return pa.array(spans, pa.duration(field.type.unit)).cast(pa.int64()).cast(field.type)
    except TypeError:
        values = [datetime.fromisoformat(value) if isinstance(value, str) else value for value in values]
        return column_array(values, field)[0]


def _plain_array(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """Readers of trials give values of the right types, so these are not looked at one by one as in `column_array`."""
    first = values[0] if values else None
    are_equal = (first is None or isinstance(first, str)) and values.count(first) == len(values)
    if are_equal and first is None:
        return pa.nulls(len(values), field.type)
    if not pa.types.is_map(field.type):
        with suppress(pa.ArrowException, OverflowError, UnicodeEncodeError):
            return pa.repeat(pa.scalar(first, field.type), len(values)) if are_equal else pa.array(values, field.type)
    return column_array(values, field)[0]


class EntryIndex:
    """Finds the entry of a file in a given state; holds no Python object per entry but its folder's name.

    Not even that where nobody asks but for many folders at once.
    """

    def __init__(self, entries: pa.Table) -> None:
        self._size, self._mtime_ns, self._inode = (_integers(entries, name) for name in ("size", "mtime_ns", "inode"))
        self._leaf_mtime_ns = array("q", pc.fill_null(entries["leaf_mtime_ns"], NO_LEAF).to_numpy().tobytes())
        self._is_leaf = pc.and_(pc.is_valid(entries["leaf_mtime_ns"]), pc.is_null(entries["reason"])).to_numpy()
        self._folders = entries["folder"]
        self._absent: set[str] = set()  # folders that were looked up in vain

    @cached_property
    def _newest(self) -> dict[str, int]:
        return dict(zip(self._folders.to_pylist(), range(len(self._folders)), strict=True))

    @cached_property
    def _older(self) -> array[int]:
        """The row of the entry before it of the same folder; -1 where there is none."""
        older = array("q", [-1]) * len(self._folders)
        if len(self._newest) == len(older):
            return older
        last: dict[str, int] = {}
        for row, folder in enumerate(self._folders.to_pylist()):
            older[row] = last.get(folder, -1)
            last[folder] = row
        return older

    @property
    def folders(self) -> Container[str]:
        """The folders of which there is an entry, of any state of their file."""
        return _Folders(self)

    def holds_any_of(self, folder: object) -> bool:
        """Whether there is an entry of the folder, of any state of its file."""
        return folder not in self._absent and folder in self._newest

    def __contains__(self, folder: object) -> bool:
        """Whether the folder was found to be a trial with no other trial below it."""
        row = self._newest.get(folder, -1) if isinstance(folder, str) else -1
        return row >= 0 and bool(self._is_leaf[row])

    def newest_rows(self, folders: Sequence[str]) -> np.ndarray[Any, Any]:
        """The row of the newest entry of each folder; -1 where there is none, or the folder is no trial as of `in`."""
        if not len(self._is_leaf):
            return np.full(len(folders), -1, np.int64)
        if len(folders) * MANY_ASKED >= len(self._is_leaf):
            rows = self._rows_at_once(folders)
        else:
            rows = np.array(list(map(self._newest.get, folders, repeat(-1))), np.int64)
        return np.where((rows >= 0) & self._is_leaf[rows], rows, -1)

    def _rows_at_once(self, folders: Sequence[str]) -> np.ndarray[Any, Any]:
        """The row of the newest entry of each folder, else -1; costs the same however few folders are asked for."""
        last = len(self._folders) - 1
        newest_first = self._folders.take(pa.array(np.arange(last, -1, -1)))
        found = pc.index_in(pa.array(folders, pa.string()), value_set=newest_first)
        rows: np.ndarray[Any, Any] = last - pc.fill_null(found.cast(pa.int64()), last + 1).to_numpy()
        self._absent.update(compress(folders, (rows < 0).tolist()))
        return rows

    def are_in_state(
        self, rows: np.ndarray[Any, Any], size: np.ndarray[Any, Any], mtime_ns: np.ndarray[Any, Any],
        inode: np.ndarray[Any, Any], leaf_mtime_ns: np.ndarray[Any, Any],
    ) -> np.ndarray[Any, Any]:  # fmt: skip
        """Whether each of some entries is of that state of its file and its folder."""
        known = (self._size, self._mtime_ns, self._inode, self._leaf_mtime_ns)
        now = (size, mtime_ns, inode, leaf_mtime_ns)
        same = [np.frombuffer(one, np.int64)[rows] == other for one, other in zip(known, now, strict=True)]
        are: np.ndarray[Any, Any] = np.logical_and.reduce(same)
        return are

    def find(
        self, folder: str, size: int | None, mtime_ns: int | None, inode: int | None, leaf_mtime_ns: int | None
    ) -> int | None:
        """The row of the entry, or None when the file was not read in this state of it and of its folder."""
        row, leaf = self._newest.get(folder, -1), NO_LEAF if leaf_mtime_ns is None else leaf_mtime_ns
        while row >= 0:
            known = (self._size[row], self._mtime_ns[row], self._inode[row], self._leaf_mtime_ns[row])
            if known == (size, mtime_ns, inode, leaf):
                return row
            row = self._older[row]
        return None


class _Folders:
    """Folders of which there is an entry; nothing is made before one is asked for."""

    def __init__(self, index: EntryIndex) -> None:
        self._index = index

    def __contains__(self, folder: object) -> bool:
        return self._index.holds_any_of(folder)


class EntryParts:
    """The parts of one ledger, of one version of the reading code.

    Args:
        url: the ledger's folder; None keeps nothing.
        version: name of the version of the reading code, a slug.
    """

    def __init__(self, url: str | None, version: str) -> None:
        self._files = None if url is None else StoreFiles(url)
        digest = hashlib.blake2b(f"{version} {FORMAT} {schema_digest([ENTRY_SCHEMA])}".encode(), digest_size=8)
        self._folder = digest.hexdigest()
        self._loaded: list[str] = []

    @property
    def are_kept(self) -> bool:
        """Whether anything is remembered."""
        return self._files is not None

    def load(self) -> pa.Table:
        """All entries, in a fixed order. Parts that are damaged or gone are as if they had never been."""
        if self._files is None:
            return ENTRY_SCHEMA.empty_table()
        names = [name for name in self._files.names(self._folder) if PART.fullmatch(name)]
        contents = self._read([f"{self._folder}/{name}" for name in names])
        self._loaded = sorted(contents)
        with ThreadPoolExecutor(THREADS) as threads:  # digests and unpacking leave Python's lock free
            tables = list(threads.map(_table_of, self._loaded, [contents[path] for path in self._loaded]))
        return pa.concat_tables([ENTRY_SCHEMA.empty_table(), *(table for table in tables if table is not None)])

    def _read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """The parts that can be read; one that cannot costs only time."""
        if self._files is None:
            return {}
        with suppress(OSError):
            return self._files.read_many(paths)
        contents: dict[str, bytes] = {}
        for path in paths:
            with suppress(OSError):
                contents.update(self._files.read_many([path]))
        return contents

    def add(self, entries: pa.Table) -> None:
        """Remember entries."""
        if self._files is None or not entries.num_rows:
            return
        content = pa.BufferOutputStream()
        with pa.ipc.new_file(content, ENTRY_SCHEMA, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(entries.combine_chunks())
        part = content.getvalue().to_pybytes()
        path = f"{self._folder}/part-{_digest(part)}.arrow"
        self._files.replace(path, part)
        self._loaded.append(path)

    def merge_if_many(self, live: Callable[[], pa.Table]) -> None:
        """Put one part in the place of many; only parts that were loaded or added here are deleted.

        Args:
            live: gives the entries that still count.
        """
        if self._files is None or len(self._loaded) <= MANY_PARTS:
            return
        merged = self._loaded
        self._loaded = []
        self.add(live())
        self._forget(set(merged) - set(self._loaded))

    def sweep(self) -> None:
        """Delete what other versions of the reading code have remembered."""
        names = self._files.names("") if self._files is not None else []
        self._forget(name for name in names if name != self._folder and VERSION_FOLDER.fullmatch(name))

    def _forget(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if self._files is not None:
                self._files.remove(name)


def _table_of(path: str, content: bytes) -> pa.Table | None:
    """The entries of a part; None when it is not what its name says."""
    if _digest(content) not in path:
        return None
    try:
        table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
    except (pa.ArrowException, OSError):
        return None
    return table if table.schema.equals(ENTRY_SCHEMA) else None


def _digest(content: bytes) -> str:
    return str(blake3(content).hexdigest(length=16))


def _integers(entries: pa.Table, name: str) -> array[int]:
    return array("q", entries[name].to_numpy().tobytes())
