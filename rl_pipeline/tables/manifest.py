"""The small file that says which set of tables of a key is current, and what it was made from.

Reading one has four outcomes: none there · damaged (not what this program writes) · written by a
newer program (an error a person must see, or an old program would overwrite new tables) · readable,
where tables of older columns are called outdated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from rl_pipeline.errors import DataError, shown
from rl_pipeline.schema import SCHEMA_VERSION, TABLES_BY_NAME
from rl_pipeline.tables.columns import arrow_schema, schema_digest

FORMAT = 2  # 1 knew no parts
NAME = "manifest.json"
FOLDER = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{12}")
TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPart:
    """The first rows of the Parquet file of a table in another version folder."""

    folder: str
    rows: int
    digest: str  # of the whole file


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """One table of a set: perhaps parts that other sets have written, and one Parquet file with the rest."""

    rows: int  # of all
    bytes: int  # of the file
    digest: str  # of the file
    columns: str  # digest of names and types
    before: tuple[StoredPart, ...] = ()

    def first(self, rows: int, folder: str) -> tuple[StoredPart, ...] | None:
        """Parts that hold so many of the first rows, the last of them in `folder`; None when there are not so many."""
        own = StoredPart(folder=folder, rows=self.rows - sum(part.rows for part in self.before), digest=self.digest)
        found: list[StoredPart] = []
        for part in (*self.before, own):
            if rows > 0:
                found.append(replace(part, rows=min(rows, part.rows)))
                rows -= part.rows
        return tuple(found) if rows <= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A version folder that was current until `at` (UTC, ISO 8601)."""

    folder: str
    at: str
    needs: tuple[str, ...] = ()  # other folders with parts of its tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Which folder holds the current tables, and everything told about them."""

    version: str
    folder: str
    tables: Mapping[str, StoredTable]
    provenance: Mapping[str, Any]
    summary: Mapping[str, Any]
    retired: tuple[Retired, ...]
    beside: Mapping[str, str] = field(default_factory=dict)  # digests of other files of the set, by name
    schema_version: int = SCHEMA_VERSION
    format: int = FORMAT

    @property
    def needs(self) -> tuple[str, ...]:
        """Other version folders with parts of its tables."""
        return tuple(sorted({part.folder for stored in self.tables.values() for part in stored.before}))

    def is_outdated(self) -> bool:
        """Whether a known table has other columns than this program's."""
        return self.schema_version != SCHEMA_VERSION or any(
            stored.columns != schema_digest([arrow_schema(TABLES_BY_NAME[name])])
            for name, stored in self.tables.items()
            if name in TABLES_BY_NAME
        )

    def to_bytes(self) -> bytes:
        """The file's content; halves of characters, as paths may hold, are written as JSON escapes them."""
        text = json.dumps(asdict(self), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        return text.encode("utf-8", "backslashreplace")


def read_manifest(content: bytes, where: str) -> Manifest:
    """The manifest in these bytes.

    Raises:
        DataError: it is damaged (`manifest-damaged`) or written by a newer program (`tables-newer`).
    """
    try:
        told = json.loads(content)
        if told["format"] > FORMAT or told["schema_version"] > SCHEMA_VERSION:
            raise _newer(told, where)
        return _checked(told)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DataError(
            "The list of stored tables is damaged",
            where=f"{where} ({type(error).__name__}: {error})",
            expected="the JSON that this program writes",
            do="run the job again: its tables are then written anew",
            slug="manifest-damaged",
        ) from error


def _checked(told: Mapping[str, Any]) -> Manifest:
    parts = [part for stored in told["tables"].values() for part in stored.get("before", ())]
    needed = [name for old in told["retired"] for name in old.get("needs", ())]
    names = [told["folder"], *needed, *(named["folder"] for named in (*told["retired"], *parts))]
    files = [*told["tables"], *told.get("beside", {})]
    if not all(FOLDER.fullmatch(name) for name in names) or not all(map(TABLE_NAME.fullmatch, files)):
        raise ValueError("a name that this program would not give")
    retired = tuple(Retired(**{**old, "needs": tuple(old.get("needs", ()))}) for old in told["retired"])
    for old in retired:
        datetime.fromisoformat(old.at)
    tables = {name: _stored_table(stored) for name, stored in told["tables"].items()}
    return Manifest(**{**told, "tables": tables, "retired": retired})


def _stored_table(told: Mapping[str, Any]) -> StoredTable:
    before = tuple(StoredPart(**part) for part in told.get("before", ()))
    if not all(isinstance(part.rows, int) and part.rows > 0 for part in before):
        raise ValueError("a part without rows")
    return StoredTable(**{**told, "before": before})


def _newer(told: Mapping[str, Any], where: str) -> DataError:
    return DataError(
        "These tables were written by a newer version of this program",
        where=f"{where}: schema version {shown(told['schema_version'])}, format {shown(told['format'])}",
        expected=f"schema version {SCHEMA_VERSION}, format {FORMAT}, or older",
        do="update this program, or give it a store of its own with RL_PIPELINE_STORE",
        slug="tables-newer",
    )
