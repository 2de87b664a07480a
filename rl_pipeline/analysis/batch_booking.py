"""Batch lines booked to the steps they were printed in.

A line is booked to the last `Step N:` text before it, and before the first such text to step 1: so a
resumed job's first lines belong to no step of its own and stay unbooked, as do lines of steps without a
block. Generation runs ahead of training, so the step of a line is approximate in asynchronous runs; sums
over the run are not affected.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.remembering import remembered

FIRST_STEP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedBatches:
    """Batch lines: those with a step (column `global_step`), and the others."""

    booked: pd.DataFrame
    unbooked: pd.DataFrame


@remembered
def book_batches(batches: pd.DataFrame, rows: pd.DataFrame) -> BookedBatches:
    """Training lines (`populations.training_batches`) by whether their step is among the rows of `all_rows`."""
    own = batches.assign(global_step=batches["since_step_marker"].fillna(FIRST_STEP).astype("int64"))
    known = pd.Series(False, index=own.index, dtype=bool)
    for job, steps in rows.groupby("job", sort=False)["global_step"]:
        known |= (own["job"] == job) & own["global_step"].isin(steps)
    return BookedBatches(booked=own[known], unbooked=own[~known])
