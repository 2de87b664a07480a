"""Failed trials by step and exception type, from the batch lines of the log, for the chart.

A line names a trial's type once; the rarest types are put together. Very long runs are put into bins
of steps, so that the picture stays small. See `batch_errors` for what "of a step" means.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.batch_errors import FIXED, PREFIX, batch_error_values
from rl_pipeline.analysis.blocks import training_rows
from rl_pipeline.analysis.inputs import ExperimentFrames

TYPES_SHOWN = 7
OTHER_TYPES = "other types"
TOTAL, AVERAGE = f"{PREFIX}total_", f"{PREFIX}avg_"
MAX_BARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCount:
    """Failed trials of one type in the batch lines booked to one step (or bin of steps).

    Attributes:
        job: short name.
        step: global step, the first one of a bin.
        steps: rows in the bin; 1 in all but very long runs.
        exception_type: name, or "other types".
        count: failed trials.
        share: of the trials in those lines, fraction.
        is_canonical: whether the final weights descend from the step.
    """

    job: str
    step: int
    steps: int
    exception_type: str
    count: int
    share: float | None
    is_canonical: bool


def error_counts(frames: ExperimentFrames, rows: pd.DataFrame) -> tuple[ErrorCount, ...]:
    """Counts of every row of `series.all_rows`, most frequent type of the run first."""
    table, instances = _by_type(frames)
    names = [str(name) for name in table.columns]
    keys = rows[["job", "attempt", "global_step", "canonical"]]
    wide = keys.merge(table.assign(instances=instances).reset_index(), on=["job", "attempt", "global_step"], how="left")
    width = -(-len(wide) // MAX_BARS) if len(wide) else 1
    bins = wide.groupby(["job", wide["global_step"].rename("bin") // width, "canonical"], sort=False)
    summed = bins[[*names, "instances"]].sum().assign(step=bins["global_step"].min(), steps=bins.size())
    made = []
    for (job, _, canonical), cells in zip(summed.index, summed.to_dict("records"), strict=True):
        trials = float(cells["instances"])
        made += [
            ErrorCount(
                job=str(job),
                step=int(cells["step"]),
                steps=int(cells["steps"]),
                exception_type=name,
                count=int(cells[name]),
                share=float(cells[name]) / trials if trials > 0 else None,
                is_canonical=bool(canonical),
            )
            for name in names
        ]
    return tuple(made)


def _by_type(frames: ExperimentFrames) -> tuple[pd.DataFrame, pd.Series[float]]:
    """Failed trials by (job, attempt, step) × type, and the trials in the lines."""
    rows = training_rows(frames.step_metrics, [str(job) for job in frames.jobs["job"]])
    values = batch_error_values(rows, frames.rollout_batches)
    keys = rows.keys.rename(columns={"step": "global_step"})[["job", "attempt", "global_step"]]
    values = values.set_axis(pd.MultiIndex.from_frame(keys))
    fixed = {PREFIX + name for name in FIXED}
    types = [str(name) for name in values.columns if str(name).startswith(TOTAL) and name not in fixed]
    totals = values[types].fillna(0.0)
    totals.columns = pd.Index([name[len(TOTAL) :] for name in types], dtype="object")
    ordered = sorted(totals.columns, key=lambda name: (-totals[name].sum(), name))
    shown, rest = ordered[:TYPES_SHOWN], ordered[TYPES_SHOWN:]
    table = totals[shown].copy()
    if rest:
        table[OTHER_TYPES] = totals[rest].sum(axis=1)
    empty = pd.Series(0.0, index=values.index, dtype="float64")
    return table, values.get(f"{TOTAL}instances", empty)
