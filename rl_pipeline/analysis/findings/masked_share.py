"""Masked share of the samples where batch lines tell it; else the unscored share of trial files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from rl_pipeline.analysis.batch_booking import book_batches
from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.populations import MaskedShare, training_batches, training_trials
from rl_pipeline.analysis.trial_outcomes import has_outcome
from rl_pipeline.schema import UNSCORED


def masked_by_step(batches: pd.DataFrame, rows: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Masked and all trials in the batch lines of each (job, step) with a metric block, in the order of the log."""
    own = training_batches(batches)
    booked = book_batches(own[own["masked"].notna()], rows).booked
    sums = booked.groupby(["job", "global_step"], sort=False)[["masked", "total"]].sum()
    return sums["masked"].to_numpy(dtype=np.float64), sums["total"].to_numpy(dtype=np.float64)


def masked_or_unscored(trials: pd.DataFrame, logged: MaskedShare) -> MaskedShare:
    """The logged share, or unscored ÷ training trials where no batch line prints masked trials."""
    own = training_trials(trials)
    if logged.share is not None or own.empty:
        return logged
    unscored = int(has_outcome(own, UNSCORED).sum())
    return replace(logged, masked=unscored, instances=len(own), share=unscored / len(own), reason=None)
