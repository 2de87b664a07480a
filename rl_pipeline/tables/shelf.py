"""Sets of tables under a key, of which a reader sees the old set or the new one and never a mixture.

    <folder>/<key>/manifest.json                  says which version folder is current
    <folder>/<key>/<time>-<unique>/*.parquet

Where rows were only put behind those of the current set, the file has the new ones alone, and the manifest says which
files of other version folders come before it, and how many of their rows. After some such steps, or when the new rows
are many, all are written into one file again.

A writer fills a version folder of its own, then replaces the manifest in one step. Killed before
that, it leaves the old set and some litter. Version folders go away in two cases only: replaced
longer than `RETIRED_GRACE` ago and not the last one replaced (a reader may have just resolved it);
named by no manifest and older than `LITTER_GRACE` (a writer that was killed, or the loser of two
writers at once). The version is a digest of the content, so that equal sets have equal versions;
the folder's name is unique, so that two writers never touch each other's files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import IO, Any, NamedTuple
from uuid import uuid4

import pyarrow as pa

from rl_pipeline.errors import ConfigurationError, DataError, shown
from rl_pipeline.schema import TABLES_BY_NAME
from rl_pipeline.tables import manifest as manifests
from rl_pipeline.tables.columns import arrow_schema, schema_digest
from rl_pipeline.tables.manifest import Manifest, Retired, StoredTable, read_manifest
from rl_pipeline.tables.parquet import read_parquet, write_parquet
from rl_pipeline.tables.row_tables import CollectedTables
from rl_pipeline.tables.store_files import StoreFiles

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
TIME_IN_NAME = re.compile(r"[0-9]{8}T[0-9]{6}")
TIME_FORMAT = "%Y%m%dT%H%M%S"
RETIRED_GRACE = timedelta(minutes=10)
LITTER_GRACE = timedelta(hours=1)
RESOLVING_TRIES = 3
# Rows are put behind stored ones when they are few beside these, and not too often: readers open each part.
MOST_PARTS, SMALL_SHARE, LEAST_ROWS = 12, 0.2, 4096

Tables = Mapping[str, Any]  # name → pa.Table or pa.RecordBatchReader
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time that names folders and ends graces."""
    return datetime.now(timezone.utc).replace(tzinfo=None)


class Shelf:
    """All sets of tables of one kind, by key."""

    def __init__(self, files: StoreFiles, folder: str, *, clock: Clock = utc_now) -> None:
        self._files, self._folder, self._clock = files, folder, clock

    def write(
        self,
        key: str,
        tables: Tables,
        provenance: Mapping[str, Any],
        summary: Mapping[str, Any],
        beside: Mapping[str, bytes] | None = None,
    ) -> str:
        """Make a set of tables the current one of its key, all at once; gives its version.

        Args:
            key: partition key.
            tables: Arrow tables or streams of batches, by name; a name of `schema` must have its columns.
            provenance: what the tables were made from; anything JSON can hold.
            summary: a few facts that can be had of all keys without opening a table.
            beside: bytes that go with the set and say nothing that the tables do not, by name.

        Raises:
            ConfigurationError: the key is none, or the store cannot be written.
            DataError: a table has other columns than the schema, or nothing where a value must stand.
        """
        place, now = self._place(key), self._clock()
        folder = f"{now.strftime(TIME_FORMAT)}-{uuid4().hex[:12]}"
        current = self._current(key)
        try:
            stored = {
                name: self._append_table(f"{place}/{folder}", name, tables, current)
                or self._write_table(f"{place}/{folder}", name, table)
                for name, table in _streams(tables)
            }
            others = (beside or {}).items()
            digests = {name: self._write_beside(f"{place}/{folder}", name, content) for name, content in others}
        except BaseException:
            self._files.remove(f"{place}/{folder}")
            raise
        before, current = current, self._current(key)
        if any(table.before for table in stored.values()) and current != before:
            self._files.remove(f"{place}/{folder}")  # what comes first may go away with the set that was replaced
            return self.write(key, dict(tables), provenance, summary, beside)
        version = _version(stored, provenance, summary)
        new = Manifest(
            version=version, folder=folder, tables=stored, provenance=dict(provenance), summary=dict(summary),
            retired=_retired(current, now), beside=digests,
        )  # fmt: skip
        self._files.replace(f"{place}/{manifests.NAME}", new.to_bytes())
        self._sweep(place, new, now)
        return version

    def read(self, key: str) -> dict[str, pa.Table]:
        """All tables of the current set.

        Raises:
            DataError: there is none, it is damaged, or of another version of the schema.
        """
        return self._read(key, None, None)

    def read_table(self, key: str, table: str, columns: list[str] | None = None) -> pa.Table:
        """One table of the current set, or some of its columns; raises as `read` does."""
        return self._read(key, table, columns)[table]

    def earlier(self, key: str, name: str) -> tuple[bytes, Callable[[str], pa.Table], str] | None:
        """Bytes written beside the current set, its tables, also when another set takes its place, and its name.

        None when the set has no such bytes, or they or its tables are not what was written, or of another version.
        """
        place, current = self._place(key), self._current(key)
        if current is None or current.is_outdated() or name not in current.beside:
            return None
        content = self._files.read(f"{place}/{current.folder}/{name}.bin")
        if content is None or _digest(content) != current.beside[name]:
            return None
        parts = [part for name, stored in current.tables.items() if stored.rows for part in _parts(current, name)]
        if not all(_is_intact(self._files.read(f"{place}/{part.path}"), part.digest) for part in parts):
            return None
        return content, lambda table: self._tables_of(current, place, [table], None)[table], current.folder

    def provenance(self, key: str) -> dict[str, Any] | None:
        """What the current set was made from; None when there is none that can be used.

        Raises:
            DataError: it was written by a newer version of this program.
        """
        current = self._current(key)
        return None if current is None or current.is_outdated() else dict(current.provenance)

    def keys(self) -> list[str]:
        """Keys that have a set of tables, sorted."""
        return list(self._manifests())

    def summaries(self) -> dict[str, dict[str, Any]]:
        """The summaries of all keys with usable tables, sorted by key; opens no table."""
        found = {}
        for key, content in self._manifests().items():
            current = self._usable(content, key)
            if current is not None and not current.is_outdated():
                found[key] = dict(current.summary)
        return found

    def _place(self, key: str) -> str:
        if not KEY.fullmatch(key):
            raise ConfigurationError(
                "A partition key has characters that cannot be a folder's name",
                where=shown(key),
                expected=f"a key that matches {KEY.pattern}",
                do="register the logs with `rl-pipeline discover --register`, which makes such keys",
                slug="bad-partition-key",
            )
        return f"{self._folder}/{key}"

    def _manifests(self) -> dict[str, bytes]:
        keys = [name for name in self._files.names(self._folder) if KEY.fullmatch(name)]
        contents = self._files.read_many([f"{self._folder}/{key}/{manifests.NAME}" for key in keys])
        return {key: contents[name] for key in keys if (name := f"{self._folder}/{key}/{manifests.NAME}") in contents}

    def _current(self, key: str) -> Manifest | None:
        content = self._files.read(f"{self._place(key)}/{manifests.NAME}")
        return None if content is None else self._usable(content, key)

    def _usable(self, content: bytes, key: str) -> Manifest | None:
        """The manifest, or None when it is damaged: its tables are then made anew."""
        try:
            return read_manifest(content, f"{self._files.url}: {self._folder}/{key}")
        except DataError as error:
            if error.slug == "tables-newer":
                raise
            return None

    def _write_table(self, folder: str, name: str, table: Any) -> StoredTable:  # noqa: ANN401 - pyarrow has no types
        if not manifests.TABLE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a table")
        schema = _schema_to_write(name, table)
        with self._files.writing(f"{folder}/{name}.parquet") as file:
            digesting = _Digesting(file)
            rows = write_parquet(digesting, table, schema)
        columns = schema_digest([schema])
        return StoredTable(rows=rows, bytes=digesting.size, digest=digesting.hexdigest(), columns=columns)

    def _append_table(self, folder: str, name: str, tables: Tables, current: Manifest | None) -> StoredTable | None:
        """Write only the rows that come behind those of the current set; None when all are to be written."""
        if current is None or not isinstance(tables, CollectedTables) or tables.base != current.folder:
            return None
        behind, stored = tables.behind(name), current.tables.get(name)
        if behind is None or stored is None:
            return None
        first, new, rows = behind
        before = stored.first(first, current.folder)
        if not before or len(before) > MOST_PARTS or new > SMALL_SHARE * first or first < LEAST_ROWS:
            return None
        written = self._write_table(folder, name, rows)
        return replace(written, rows=first + new, before=before)

    def _write_beside(self, folder: str, name: str, content: bytes) -> str:
        if not manifests.TABLE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name")
        with self._files.writing(f"{folder}/{name}.bin") as file:
            file.write(content)
        return _digest(content)

    def _sweep(self, place: str, current: Manifest, now: datetime) -> None:
        """Delete version folders that nobody can be reading or writing any more."""
        kept = {current.folder, *current.needs, manifests.NAME}
        kept |= {folder for old in current.retired for folder in (old.folder, *old.needs)}
        for name in self._files.names(place):
            named_at = TIME_IN_NAME.search(name)
            if name in kept or named_at is None:
                continue
            with suppress(ValueError):  # digits that are no time: not ours
                if now - datetime.strptime(named_at[0], TIME_FORMAT) > LITTER_GRACE:
                    self._files.remove(f"{place}/{name}")

    def _read(self, key: str, table: str | None, columns: list[str] | None) -> dict[str, pa.Table]:
        """Resolve the manifest and read; once more when the set was replaced and swept meanwhile."""
        place = self._place(key)
        for _ in range(RESOLVING_TRIES):
            current = self._readable(key, place)
            wanted = list(current.tables) if table is None else [table]
            if table is not None and table not in current.tables:
                raise self._absent(f"{key}/{table}")
            with suppress(_DamagedError):
                return self._tables_of(current, place, wanted, columns)
        raise self._damaged(current, place)

    def _tables_of(self, current: Manifest, place: str, wanted: list[str], columns: list[str] | None) -> dict[str, Any]:
        """Tables of one set.

        Raises:
            DataError: a file is gone, or not what was written.
        """
        parts = {name: _parts(current, name) for name in wanted}
        contents = self._files.read_many([f"{place}/{part.path}" for found in parts.values() for part in found])
        tables = {}
        for name, found in parts.items():
            held = []
            for part in found:
                content = contents.get(f"{place}/{part.path}")
                if content is None or _digest(content) != part.digest:
                    raise self._damaged(current, place)
                held.append(read_parquet(content, columns).slice(0, part.rows))
            tables[name] = held[0] if len(held) == 1 else pa.concat_tables(held).combine_chunks()
        return tables

    def _damaged(self, current: Manifest, place: str) -> DataError:
        return _DamagedError(
            "Stored tables are damaged",
            where=f"{self._files.url}: {place}/{current.folder}",
            expected="the files that were written, unchanged",
            do="run the job again: its tables are then written anew",
            slug="tables-damaged",
        )

    def _readable(self, key: str, place: str) -> Manifest:
        content = self._files.read(f"{place}/{manifests.NAME}")
        if content is None:
            raise self._absent(key)
        current = read_manifest(content, f"{self._files.url}: {place}")
        if current.is_outdated():
            raise DataError(
                "Stored tables have the columns of another version of this program",
                where=f"{self._files.url}: {place}",
                expected="tables written by this version",
                do="run the job again: its log is then parsed anew",
                slug="tables-outdated",
            )
        return current

    def _absent(self, what: str) -> DataError:
        return DataError(
            "There are no stored tables",
            where=f"{self._files.url}: {self._folder}/{what}",
            expected="tables written by an earlier step",
            do="materialize the assets that this one stands on",
            slug="tables-missing",
        )


class _DamagedError(DataError):
    """Files of a set are gone, or not what was written."""


class _Digesting:
    """A file that counts and digests what goes through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest, self.size, self.closed = file, hashlib.blake2b(digest_size=16), 0, False

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Nothing to do: the file is closed by its owner."""

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


class _Part(NamedTuple):
    """A file with rows of a table: its path below the key, how many of them count, and its digest."""

    path: str
    rows: int
    digest: str


def _parts(current: Manifest, name: str) -> list[_Part]:
    """The files of a table, in the order of their rows."""
    stored = current.tables[name]
    own = _Part(
        f"{current.folder}/{name}.parquet", stored.rows - sum(part.rows for part in stored.before), stored.digest
    )
    return [*(_Part(f"{part.folder}/{name}.parquet", part.rows, part.digest) for part in stored.before), own]


def _is_intact(content: bytes | None, digest: str) -> bool:
    return content is not None and _digest(content) == digest


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _streams(tables: Tables) -> list[tuple[str, Any]]:
    """Tables by name, sorted; those that stand compressed in memory as streams."""
    return sorted((tables.streams() if isinstance(tables, CollectedTables) else tables).items())


def _retired(current: Manifest | None, now: datetime) -> tuple[Retired, ...]:
    """Folders to keep for readers: the last one replaced, and those replaced within the grace."""
    if current is None:
        return ()
    recent = [old for old in current.retired if now - datetime.fromisoformat(old.at) <= RETIRED_GRACE]
    return (Retired(folder=current.folder, at=now.isoformat(), needs=current.needs), *recent)


def _version(stored: Mapping[str, StoredTable], provenance: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    told = {name: [table.digest, [[part.digest, part.rows] for part in table.before]] for name, table in stored.items()}
    content = json.dumps([told, dict(provenance), dict(summary)], sort_keys=True)
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def _schema_to_write(name: str, table: Any) -> pa.Schema:  # noqa: ANN401
    """The schema of a table of ours, or that of any other table as it is."""
    if name not in TABLES_BY_NAME:
        return table.schema
    expected = arrow_schema(TABLES_BY_NAME[name])
    differing = list(_differences(table.schema, expected))
    if not differing and isinstance(table, pa.Table):
        differing = [
            f"{field.name} is empty" for field in expected if not field.nullable and table[field.name].null_count
        ]
    if differing:
        raise DataError(
            f"The table {name} is not what its schema promises",
            where="; ".join(differing[:5]),
            expected="the columns, types and filled columns of schema.py",
            do="build it with tables.frames.to_arrow or from_frame",
            slug="table-schema",
        )
    return expected


def _differences(found: pa.Schema, expected: pa.Schema) -> Iterator[str]:
    if found.names != expected.names:
        yield f"columns {', '.join(found.names)} instead of {', '.join(expected.names)}"
        return
    for one, other in zip(found, expected, strict=True):
        if one.type != other.type:
            yield f"{one.name} is {one.type}, not {other.type}"
