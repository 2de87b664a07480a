"""Tables from one stage of a report to the next."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from rl_pipeline.commands.stage_tables import read_tables, write_tables

TABLES = {"one": pa.table({"a": [1, 2], "b": ["x", None]}), "two": pa.table({"a": [0.5]})}


def test_tables_come_back(tmp_path: Path):
    write_tables(TABLES, tmp_path / "tables")

    assert read_tables(tmp_path / "tables") == TABLES
