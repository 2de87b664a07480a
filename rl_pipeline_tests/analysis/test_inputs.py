"""Columns that no analysis and no page reads, by what the code names."""

from __future__ import annotations

import ast
from pathlib import Path

import rl_pipeline
from rl_pipeline.analysis.inputs import UNREAD
from rl_pipeline.schema import TABLES_BY_NAME
from rl_pipeline.tables.columns import arrow_schema

ROOMS = [Path(rl_pipeline.__file__).parent / room for room in ("analysis", "report/views", "report/charts")]
HERE = "inputs.py"


def test_nobody_names_a_column_that_may_be_missing():
    columns = {column for columns in UNREAD.values() for column in columns}
    named = {
        (path.name, node.value)
        for room in ROOMS
        for path in room.rglob("*.py")
        if path.parts[-2:] != ("analysis", HERE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in columns
    }

    assert named == set()
    assert all(set(missing) < set(arrow_schema(TABLES_BY_NAME[table]).names) for table, missing in UNREAD.items())
