"""Tables to the files beside the report, in the process that read them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from rl_pipeline.commands.stage_tables import read_tables
from rl_pipeline.tables.exports import write_table_exports


def export(tables: Path, folder: Path) -> None:
    """Write the files.

    Args:
        tables: folder of the tables of an experiment.
        folder: receives the files.
    """
    pa.default_memory_pool().release_unused()  # what reading needed: the analysis has begun
    write_table_exports(read_tables(tables), folder)
