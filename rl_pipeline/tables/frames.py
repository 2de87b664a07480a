"""Arrow tables and pandas frames of the same tables, each way; rows to Arrow is `row_tables`, which needs no pandas.

    rows ── to_arrow ──► pa.Table ── to_frame ──► DataFrame
      ▲ ─── to_rows ───── │  ▲ ──── from_frame ──── │

A frame has one convention whatever the version of pandas: integers that may be null are `Int64`,
others `int64`; text is `object` holding str or None; maps are dicts or None; times are
`datetime64[us]` without zone; an empty table keeps all columns and types. Null and NaN of a float
column are one thing in a frame (NaN), two in Arrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.row_tables import RowSink, python_values, to_arrow, to_rows

__all__ = ["RowSink", "arrow_schema", "from_frame", "to_arrow", "to_frame", "to_rows"]


def to_frame(table: pa.Table) -> pd.DataFrame:
    """The table as a pandas frame of the convention above."""
    series = {field.name: _series(table.column(field.name), field) for field in table.schema}
    # Names as objects: pandas 3 would take them for Arrow strings, which cost a conversion at every look-up.
    names = pd.Index(table.schema.names, dtype=object)
    return pd.DataFrame(series, columns=names, index=pd.RangeIndex(table.num_rows))


def _series(column: pa.ChunkedArray, field: pa.Field) -> pd.Series[Any]:
    if pa.types.is_string(field.type):
        return pd.Series(_shared_text(column), dtype=object)
    if pa.types.is_map(field.type):
        values = np.empty(len(column), dtype=object)
        values[:] = python_values(column, field)
        return pd.Series(values, dtype=object)
    if pa.types.is_integer(field.type) and field.nullable:
        numbers = column.fill_null(0).to_numpy()
        return pd.Series(pd.arrays.IntegerArray(numbers.copy(), column.is_null().to_numpy()))
    if pa.types.is_timestamp(field.type):
        return pd.Series(column.to_numpy().astype("datetime64[us]"))
    return pd.Series(column.to_numpy())


def _shared_text(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Text as an object array in which equal texts are one object, so that names cost no memory."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    words = np.empty(len(encoded.dictionary) + 1, dtype=object)
    words[:-1] = encoded.dictionary.to_pylist()
    words[-1] = None
    shared: np.ndarray[Any, Any] = words[encoded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)]
    return shared


def from_frame(frame: pd.DataFrame, row_class: type[Any]) -> pa.Table:
    """The frame as an Arrow table of the table's schema; other columns are left out.

    Integer columns that pandas made floats on the way (a merge, a concatenation) become integers again.
    """
    schema = arrow_schema(row_class)
    return pa.Table.from_arrays([_frame_column(frame[field.name], field) for field in schema], schema=schema)


def _frame_column(series: pd.Series[Any], field: pa.Field) -> pa.Array:
    if pa.types.is_map(field.type):
        maps: Sequence[Mapping[str, Any] | None] = [value if isinstance(value, dict) else None for value in series]
        return pa.array([None if value is None else list(value.items()) for value in maps], field.type)
    if pa.types.is_timestamp(field.type):
        return pa.array(series.to_numpy(dtype="datetime64[us]"), field.type)
    array = pa.array(series, type=field.type, from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
