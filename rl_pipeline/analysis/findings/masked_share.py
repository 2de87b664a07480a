"""Masked share of the trained steps, where batch lines tell it; else the unscored share of trial files.

Batch lines before the first step marker belong to step 1, so those of a resumed job belong to no step and are
left out here; the share over all lines of the logs is `populations.masked`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.lineage import SAMPLES
from rl_pipeline.analysis.populations import MaskedShare, training_batches, training_trials
from rl_pipeline.analysis.series import first_logged, values_of
from rl_pipeline.schema import UNSCORED

FIRST_STEP = 1


def masked_by_step(batches: pd.DataFrame, rows: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Masked and all trials in the batch lines of each (job, step) with a metric block, in the order of the log."""
    table = _by_step(batches, rows)
    return table["masked"].to_numpy(dtype=np.float64), table["total"].to_numpy(dtype=np.float64)


def masked_share_of_steps(
    batches: pd.DataFrame, trials: pd.DataFrame, rows: pd.DataFrame, logged: MaskedShare
) -> MaskedShare:
    """The share that entered the mean rewards; `logged` is the share over all batch lines."""
    table = _by_step(batches, rows)
    masked, instances = int(table["masked"].sum()), int(table["total"].sum())
    if instances > 0:
        shares = (table["masked"] / table["samples"].fillna(table["total"])).astype("float64")
        return replace(
            logged,
            masked=masked,
            instances=instances,
            share=masked / instances,
            step_min=int(table["masked"].min()),
            step_max=int(table["masked"].max()),
            step_share_min=float(shares.min()),
            step_share_max=float(shares.max()),
            steps=len(table),
        )
    own = training_trials(trials)
    if logged.share is not None or own.empty:
        return logged
    unscored = int((own["outcome"] == UNSCORED).sum())
    return replace(logged, masked=unscored, instances=len(own), share=unscored / len(own), reason=None)


def _by_step(batches: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Columns job, global_step, samples, masked, total."""
    own = training_batches(batches)
    own = own[own["masked"].notna()]
    steps = own["since_step_marker"].fillna(FIRST_STEP).astype("int64")
    sums = own.assign(global_step=steps).groupby(["job", "global_step"], sort=False)[["masked", "total"]].sum()
    name = first_logged(rows, SAMPLES)
    known = rows[["job", "global_step"]].assign(samples=values_of(rows, name) if name else np.nan)
    known = known.drop_duplicates(["job", "global_step"], keep="last")
    return known.merge(sums.reset_index(), on=["job", "global_step"], how="inner")
