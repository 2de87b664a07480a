"""Trials that were copied to another folder: which of the entries are one trial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROWS_WORTH_A_SLICE = 64


def first_of_copies(trials: pa.Table) -> np.ndarray[Any, Any]:
    """For each trial the row of the first one it is a copy of, its own if there is none before it."""
    first = np.arange(trials.num_rows)
    names = _codes(trials["trial"])
    alike = np.flatnonzero(np.bincount(names)[names] > 1) if len(names) else names
    if len(alike):
        some = rows_of(trials, alike)
        started, finished, size = (some[name].cast(pa.string()) for name in ("started_at", "finished_at", "size"))
        which = pc.coalesce(some["trial_id"], _joined(finished, size))
        keys = _codes(_joined(some["trial"], started, which))
        _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
        first[alike] = alike[firsts[groups]]
    return first


def rows_of(table: pa.Table, numbers: np.ndarray[Any, Any]) -> pa.Table:
    """The rows of these numbers; without a copy where many of them stand one after the other."""
    begins = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    if len(begins) * ROWS_WORTH_A_SLICE > len(numbers):
        return table.take(pa.array(numbers, pa.int64()))
    lengths = np.diff(begins, append=len(numbers))
    runs = zip(numbers[begins].tolist(), lengths.tolist(), strict=True)
    return pa.concat_tables([table.slice(0, 0), *(table.slice(first, length) for first, length in runs)])


def _codes(texts: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """A number for each text, the same for equal ones."""
    encoded = texts.combine_chunks().dictionary_encode()
    codes: np.ndarray[Any, Any] = encoded.indices.to_numpy()
    return codes


def _joined(*texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(*texts, "\0", null_handling="replace", null_replacement="")
