"""Tables to the files beside the report, in a process that knows nothing else and is small."""

from __future__ import annotations

from pathlib import Path

from rl_pipeline.commands.stage_tables import read_tables
from rl_pipeline.tables.exports import write_table_exports


def prepare() -> None:
    """Nothing: what calling this needs, the files need too, and it is imported now."""


def export(tables: Path, folder: Path) -> None:
    """Write the files.

    Args:
        tables: folder of the tables of an experiment.
        folder: receives the files.
    """
    write_table_exports(read_tables(tables), folder)
