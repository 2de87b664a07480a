"""The parts of each step that do not overlap, for the picture of where step time goes.

Which timers lie directly inside the step is decided once for the whole run by `time_accounting`; here
they are laid out step by step. What no timer explains is `unattributed`.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.series import STEP_SECONDS
from rl_pipeline.analysis.time_accounting import step_time

UNATTRIBUTED = "unattributed"
MAX_BARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPart:
    """One part of one step.

    Attributes:
        job: short name.
        step: global step, the first one of a bin.
        steps: rows in the bin; 1 in all but very long runs.
        part: timer name, or unattributed.
        seconds: its length, in a bin the mean per step.
        is_canonical: whether the final weights descend from the step.
    """

    job: str
    step: int
    steps: int
    part: str
    seconds: float
    is_canonical: bool


def step_parts(rows: pd.DataFrame) -> tuple[StepPart, ...]:
    """Parts of every row of `series.all_rows` that has a step time, largest part of the run first."""
    names = [span.name for span in step_time(rows).parts]
    if STEP_SECONDS not in rows:
        return ()
    timed = rows[rows[STEP_SECONDS] > 0]
    parts = pd.DataFrame({name: timed[f"timing/{name}"].fillna(0.0) for name in names}, index=timed.index)
    parts[UNATTRIBUTED] = (timed[STEP_SECONDS] - parts.sum(axis=1)).clip(lower=0.0)
    width = -(-len(timed) // MAX_BARS) if len(timed) else 1
    keys = [timed["job"], timed["global_step"].rename("bin") // width, timed["canonical"]]
    steps = timed["global_step"].groupby(keys, sort=False)
    means = parts.groupby(keys, sort=False).mean()
    made = []
    for (job, _, canonical), cells, first, rows_in in zip(
        means.index, means.to_dict("records"), steps.min(), steps.size(), strict=True
    ):
        made += [
            StepPart(
                job=str(job),
                step=int(first),
                steps=int(rows_in),
                part=name,
                seconds=float(cells[name]),
                is_canonical=bool(canonical),
            )
            for name in (*names, UNATTRIBUTED)
            if cells[name] > 0
        ]
    return tuple(made)
