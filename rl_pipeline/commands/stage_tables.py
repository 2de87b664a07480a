"""Tables on their way from one stage of a report to the next: Arrow files that are mapped into memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa


def write_tables(tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Tables as Arrow files, for another process of this run; those that are there already stay."""
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        with pa.OSFile(os.fsencode(folder / name), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)


def read_tables(folder: Path) -> dict[str, pa.Table]:
    """The tables in a folder, mapped into memory."""
    return {
        path.name: pa.ipc.open_file(pa.memory_map(os.fsencode(path))).read_all() for path in sorted(folder.iterdir())
    }
