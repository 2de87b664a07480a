"""Tables from one stage of a report to the next."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from rl_pipeline.commands.stage_tables import read_tables, write_tables

TABLES = {"one": pa.table({"a": [1, 2], "b": ["x", None]}), "two": pa.table({"a": [0.5]})}


def test_tables_come_back(tmp_path: Path):
    write_tables(TABLES, tmp_path / "tables")

    assert read_tables(tmp_path / "tables") == TABLES


def test_columns_can_be_left_out(tmp_path: Path):
    write_tables(TABLES, tmp_path / "tables")

    some = read_tables(tmp_path / "tables", without={"one": ["b"], "three": ["c"]})

    assert some == {"one": TABLES["one"].select(["a"]), "two": TABLES["two"]}


def test_a_column_that_is_not_there_cannot_be_left_out(tmp_path: Path):
    write_tables(TABLES, tmp_path / "tables")

    with pytest.raises(KeyError):
        read_tables(tmp_path / "tables", without={"two": ["b"]})
