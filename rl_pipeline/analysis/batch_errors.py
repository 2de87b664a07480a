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

import numpy as np
import pandas as pd

from rl_pipeline.analysis.blocks import TrainingRows

PREFIX = "batch_errors/"
FIXED = ("total_batches", "total_instances", "total_successful", "total_failed", "total_masked")
FIRST_STEP = 1


def batch_error_values(rows: TrainingRows, rollout_batches: pd.DataFrame) -> pd.DataFrame:
    """Columns `batch_errors/*` for the rows of `rows`.

    Counts per row; `avg_<type>` is exceptions per batch. A type is only present in rows where it
    occurs, NaN elsewhere (so a mean over the column is conditional on occurrence).
    """
    training = rollout_batches[rollout_batches["mode"].ne("eval").fillna(True)]
    booked = training.assign(
        step=training["since_step_marker"].fillna(FIRST_STEP).astype("int64"), attempt=_attempts_of(rows, training)
    )
    groups = dict(iter(booked.groupby(["job", "attempt", "step"], sort=False)))
    records = []
    for key in rows.keys[["job", "attempt", "step"]].itertuples(index=False, name=None):
        records.append(_totals(groups[key]) if key in groups else {})
    columns = list(dict.fromkeys(name for record in records for name in record))
    return pd.DataFrame(records, index=rows.keys.index, columns=columns, dtype="float64")


def _attempts_of(rows: TrainingRows, batches: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Attempt of each batch: the number of attempts of its job that began before its line."""
    attempts = np.zeros(len(batches), dtype="int64")
    again = rows.keys[rows.keys["attempt"] > 0].drop_duplicates(["job", "attempt"])
    for job, line in again[["job", "line"]].itertuples(index=False, name=None):
        before = rows.keys[(rows.keys["job"] == job) & (rows.keys["line"] < line)]
        # The batches of the first repeated step stand between the block before it and its own.
        start = before["line"].max() if len(before) else 0
        attempts += ((batches["job"] == job) & (batches["line"] > start)).to_numpy(dtype="int64")
    return attempts


def _totals(batches: pd.DataFrame) -> dict[str, float]:
    """The published totals of the batches of one step."""
    sums = (
        len(batches),
        batches["total"].sum(),
        batches["successful"].sum(),
        batches["failed_groups"].sum(),
        batches["masked"].sum(min_count=1),
    )
    record = {PREFIX + name: float(value) for name, value in zip(FIXED, sums, strict=True) if pd.notna(value)}
    exceptions: Counter[str] = Counter()
    for counts in batches["exceptions"]:
        exceptions.update(counts or {})
    for name, count in exceptions.items():
        if count:
            record[f"{PREFIX}avg_{name}"] = count / len(batches)
            record[f"{PREFIX}total_{name}"] = float(count)
    return record
