"""Columns of trials that no analysis reads, by what the code names."""

from __future__ import annotations

import ast
from pathlib import Path

import rl_pipeline
from rl_pipeline.analysis.inputs import UNREAD_OF_TRIALS
from rl_pipeline.schema import Trial
from rl_pipeline.tables.columns import arrow_schema

ANALYSIS = Path(rl_pipeline.__file__).parent / "analysis"


def test_no_analysis_names_a_column_that_may_be_missing():
    named = {
        (path.name, node.value)
        for path in ANALYSIS.rglob("*.py")
        if path.name != "inputs.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in UNREAD_OF_TRIALS
    }

    assert named == set()
    assert set(UNREAD_OF_TRIALS) < set(arrow_schema(Trial).names)
