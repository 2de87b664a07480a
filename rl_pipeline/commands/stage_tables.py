"""Tables on their way from one stage of a report to the next: Arrow files that are mapped into memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa


def write_tables(tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Tables as Arrow files, for another process of this run; those that are there already stay."""
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)


def read_tables(folder: Path, *, without: Mapping[str, Sequence[str]] | None = None) -> dict[str, pa.Table]:
    """The tables in a folder, mapped into memory.

    Args:
        folder: of `write_tables`.
        without: columns to leave out, by table; they are not even looked at.
    """
    tables = {path.name: pa.ipc.open_file(pa.memory_map(str(path))).read_all() for path in sorted(folder.iterdir())}
    return {name: table.drop_columns(list((without or {}).get(name, ()))) for name, table in tables.items()}
