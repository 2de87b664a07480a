"""Hypothesis strategies built from the schema: any row that a table could hold.

A new column or table needs nothing here; a new type of column does, and says so with a KeyError.
"""

from __future__ import annotations

from dataclasses import MISSING
from datetime import datetime
from typing import Any, get_type_hints

from hypothesis import strategies as st

from rl_pipeline.schema import columns_of

INTEGERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
NUMBERS = st.floats(allow_nan=False)
TEXTS = st.text(max_size=12)

VALUES: dict[Any, st.SearchStrategy[Any]] = {
    int: INTEGERS,
    int | None: st.none() | INTEGERS,
    float: NUMBERS,
    float | None: st.none() | NUMBERS,
    str: TEXTS,
    str | None: st.none() | TEXTS,
    bool: st.booleans(),
    datetime | None: st.none() | st.datetimes(),
    dict[str, int]: st.dictionaries(TEXTS, INTEGERS, max_size=3),
    dict[str, float | None]: st.dictionaries(TEXTS, st.none() | NUMBERS, max_size=3),
}


def rows(row_class: type[Any]) -> st.SearchStrategy[Any]:
    """Rows of a table with any values its types allow."""
    hints = get_type_hints(row_class)
    return st.builds(row_class, **{column.name: _values(hints, column) for column in columns_of(row_class)})


def _values(hints: dict[str, Any], column: Any) -> st.SearchStrategy[Any]:
    values = VALUES[hints[column.name]]
    return st.none() | values if column.default is None and column.default is not MISSING else values
