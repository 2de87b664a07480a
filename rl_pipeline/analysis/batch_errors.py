"""Rollout batches booked to training steps, under the published names `batch_errors/*`.

A batch is booked to the step whose `Step N:` text was the last one before it; batches before the
first such text belong to step 1, so a resumed job books them nowhere. That is the published rule,
kept so that numbers can be compared. It is not when the rollouts were *used*: in asynchronous runs
generation runs ahead of training, so errors appear up to the staleness limit too early.
Evaluation batches are left out where the log tells them apart. A line that Ray folded counts once:
what the hidden lines said is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from rl_pipeline.analysis.blocks import TrainingRows
from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.remembering import remembered
from rl_pipeline.analysis.row_groups import row_groups

PREFIX = "batch_errors/"
FIXED = ("total_batches", "total_instances", "total_successful", "total_failed", "total_masked")
# Columns of a batch line behind `FIXED`, but for the number of lines.
COUNTS = ("total", "successful", "failed_groups", "masked")
KEYS = ["job", "attempt", "step"]
FIRST_STEP = 1


def batch_error_values(rows: TrainingRows, rollout_batches: pd.DataFrame) -> pd.DataFrame:
    """Columns `batch_errors/*` for the rows of `rows`.

    Counts per row; `avg_<type>` is exceptions per batch. A type is only present in rows where it
    occurs, NaN elsewhere (so a mean over the column is conditional on occurrence).
    """
    return _values(rows.keys, rollout_batches)


@remembered
def _values(keys: pd.DataFrame, rollout_batches: pd.DataFrame) -> pd.DataFrame:
    training = rollout_batches[rollout_batches["mode"].ne("eval").fillna(True)]
    booked = training.assign(
        step=training["since_step_marker"].fillna(FIRST_STEP).astype("int64"), attempt=_attempts_of(keys, training)
    )
    counts = {name: booked[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in COUNTS}
    exceptions = booked["exceptions"].to_numpy()
    own_keys = list(booked[KEYS].itertuples(index=False, name=None))
    totals = {
        own_keys[places[0]]: _totals({name: values[places] for name, values in counts.items()}, exceptions[places])
        for places in row_groups(booked, KEYS, sort=False)
    }
    records = [totals.get(key, {}) for key in keys[KEYS].itertuples(index=False, name=None)]
    columns = list(dict.fromkeys(name for record in records for name in record))
    return pd.DataFrame(records, index=keys.index, columns=columns, dtype="float64")


def _attempts_of(keys: pd.DataFrame, batches: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Attempt of each batch: the number of attempts of its job that began before its line."""
    attempts = np.zeros(len(batches), dtype="int64")
    again = keys[keys["attempt"] > 0].drop_duplicates(["job", "attempt"])
    for job, line in again[["job", "line"]].itertuples(index=False, name=None):
        before = keys[(keys["job"] == job) & (keys["line"] < line)]
        # The batches of the first repeated step stand between the block before it and its own.
        start = before["line"].max() if len(before) else 0
        attempts += ((batches["job"] == job) & (batches["line"] > start)).to_numpy(dtype="int64")
    return attempts


def _totals(counts: Mapping[str, FloatArray], breakdowns: Iterable[Mapping[str, int] | None]) -> dict[str, float]:
    """The published totals of the batches of one step: their `COUNTS` as arrays, NaN where one is not printed."""
    batches, masked = counts["total"].size, counts["masked"][~np.isnan(counts["masked"])]
    sums = (batches, *(counts[name].sum() for name in COUNTS[:-1]), masked.sum() if masked.size else None)
    record = {PREFIX + name: float(value) for name, value in zip(FIXED, sums, strict=True) if value is not None}
    exceptions: Counter[str] = Counter()
    for breakdown in breakdowns:
        exceptions.update(breakdown or {})
    for name, count in exceptions.items():
        if count:
            record[f"{PREFIX}avg_{name}"] = count / batches
            record[f"{PREFIX}total_{name}"] = float(count)
    return record
