"""What a rule hands back, and how rows are named in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

Tables = Mapping[str, pa.Table]
Flags = np.ndarray[Any, Any]  # shape (rows,), bool

PLACES = 8
PLACE_COLUMNS = ("line", "path", "block", "metric")


class Found(NamedTuple):
    """Rows of one table that break a rule."""

    table: str
    broken: int  # rows, values or blocks
    what: str
    places: tuple[str, ...] = ()


def found_where(table_name: str, table: pa.Table, flags: Flags, what: str, *shown: str) -> Found:
    """The rows with a flag, named by their place and the given columns.

    Args:
        table_name: the table.
        table: its rows.
        flags: shape (rows,), whether the row breaks the rule.
        what: what is wrong with them.
        shown: columns whose values are told too.
    """
    rows = np.flatnonzero(flags)
    columns = [name for name in (*PLACE_COLUMNS, *shown) if name in table.schema.names]
    some = table.select(columns).take(pa.array(rows[:PLACES], pa.int64())).to_pylist()
    return Found(table_name, len(rows), what, tuple(_place(row) for row in some))


def _place(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if value is not None)


def flags_of(mask: Any, rows: int) -> Flags:  # noqa: ANN401 - pyarrow has no types
    """An Arrow truth column as flags; what cannot be told (null) is no flag."""
    if rows == 0:
        return np.zeros(0, dtype=bool)
    flags: Flags = mask.fill_null(False).to_numpy()
    return flags.astype(bool)


def both(tables: Tables, names: Sequence[str]) -> bool:
    """Whether all these tables are there."""
    return all(name in tables for name in names)
